/** Buffers for prepared models that are closed: their roles are gone. */

import { ErrorStatus } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, sizeOf } from "../values.ts";
import { allocate, expectCopy, expectRefusedBuffer, fill, role } from "./buffers.ts";

/** A prepared model that is closed, and one that is not. A buffer can be had for both while both are open. */
async function closedAndOpen(bench: Bench) {
  const small = await smallModel(bench);
  const [closed, open] = [await prepare(bench, small.model), await prepare(bench, small.model)];
  await allocate(bench, { models: [closed, open], inputs: [role(0), role(0, 1)] });
  closed.close();
  return { small, closed, open };
}

export const lifeCases: readonly SuiteCase[] = group("life", "1.3", {
  async "allocating for a closed prepared model is refused"(bench) {
    const { closed } = await closedAndOpen(bench);
    await expectRefusedBuffer(bench, "for a closed prepared model, as its input", {
      models: [closed],
      inputs: [role(0)],
    });
    await expectRefusedBuffer(bench, "for a closed prepared model, as its output", {
      models: [closed],
      outputs: [role(0)],
    });
  },
  async "allocating for two prepared models of which one is closed is refused"(bench) {
    const { closed, open } = await closedAndOpen(bench);
    const inputs = [role(0), role(0, 1)];
    await expectRefusedBuffer(bench, "for a closed prepared model and an open one", { models: [closed, open], inputs });
    await expectRefusedBuffer(bench, "for an open prepared model and a closed one", { models: [open, closed], inputs });
    await allocate(bench, { models: [open], inputs: [role(0)] });
  },
  async "a buffer outlives the prepared model that it was allocated for"(bench) {
    const small = await smallModel(bench);
    const preparedModel = await prepare(bench, small.model);
    const { buffer } = await allocate(bench, { models: [preparedModel], inputs: [role(0)] });
    preparedModel.close();
    await fill(buffer, memoryWith(small.type, sampleValues(small.type, 6)));
    await expectCopy("copyTo", buffer.copyTo(emptyMemory(sizeOf(small.type, [6]))), ErrorStatus.NONE);
  },
});
