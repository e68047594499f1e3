/**
 * Memory that a device keeps of executions and prepared models that are over: the process must not grow with their number. A
 * device in another process is not measured.
 */
import { ErrorStatus } from "@nnhal/types";
import { heldBytes, mostCollections } from "../../held-bytes.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";

/** Elements of a side of a matrix: 256 KiB in float32. */
const side = 256;
/** Number of repetitions before the memory is measured, so that caches are full. */
const before = 8;
const measured = 48;

/** Does something many times, and ends the case if the process holds more afterwards than is allowed. */
async function expectNothingKept({ allowances, tell }: Bench, what: string, work: () => Promise<void>): Promise<void> {
  for (let turn = 0; turn < before; turn++) await work();
  await heldBytes();
  const held = await heldBytes();
  for (let turn = 0; turn < measured; turn++) await work();
  let kept = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < mostCollections && kept > allowances.leak; turn++) {
    kept = Math.max(0, (await heldBytes()) - held);
  }
  const says = `the device kept ${Math.ceil(kept / 2 ** 20)} MiB of ${measured} ${what}`;
  tell(says);
  expectThat(kept <= allowances.leak, () => `${says}, at most ${Math.floor(allowances.leak / 2 ** 20)} MiB allowed`);
}

export const leakCases: readonly SuiteCase[] = group("leaks", "1.0", {
  async "many executions leave nothing behind"(bench) {
    const small = await smallModel(bench, { dimensions: [side, side] });
    const preparedModel = await prepare(bench, small.model);
    const trial = trialFor(small, [sampleValues(small.type, side * side)]);
    await runTrial(preparedModel, trial);
    await expectNothingKept(bench, "executions", async () => {
      expectStatus("execute", await preparedModel.execute(trial.request), ErrorStatus.NONE);
    });
  },
  async "many prepared models that are closed leave nothing behind"(bench) {
    const small = await smallModel(bench, { dimensions: [side, side] });
    await expectNothingKept(bench, "prepared models", async () => {
      const { preparedModel, ...outcome } = await bench.device.prepareModel(small.model);
      expectStatus("prepareModel", outcome, ErrorStatus.NONE);
      preparedModel?.close();
    });
  },
});
