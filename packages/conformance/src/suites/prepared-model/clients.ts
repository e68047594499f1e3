/**
 * Prepared models of several clients of one device.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { anotherClient, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectStatus, expectThat } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";

const { NONE, INVALID_ARGUMENT, DEVICE_UNAVAILABLE } = ErrorStatus;

export const clientCases: readonly SuiteCase[] = group("clients", "1.0", {
  async "executions of several clients at once"(bench) {
    const small = await smallModel(bench);
    const benches = [bench, anotherClient(bench), anotherClient(bench)];
    const preparedModels = await Promise.all(benches.map((one) => prepare(one, small.model)));
    const run = (salt: number) =>
      runTrial(elementAt(preparedModels, salt % benches.length), trialFor(small, [sampleValues(small.type, 6, salt)]));
    await Promise.all(Array.from({ length: 18 }, (_, salt) => run(salt)));
  },
  async "a client that ends leaves the prepared models of others"(bench) {
    const small = await smallModel(bench);
    const client = anotherClient(bench);
    const [own, other] = [await prepare(bench, small.model), await prepare(client, small.model)];
    const running = runTrial(own, trialFor(small, [sampleValues(small.type, 6)]));
    await client.close();
    await running;
    await runTrial(own, trialFor(small, [sampleValues(small.type, 6, 1)]));
    const { request } = trialFor(small, [sampleValues(small.type, 6, 2)]);
    expectExecution(
      "execute of a client that ended",
      await other.execute(request),
      INVALID_ARGUMENT,
      DEVICE_UNAVAILABLE,
    );
  },
  async "a client that ended prepares nothing"(bench) {
    const { model } = await smallModel(bench);
    const client = anotherClient(bench);
    await client.close();
    const { preparedModel, ...outcome } = await client.device.prepareModel(model);
    bench.after(() => preparedModel?.close());
    expectThat(
      outcome.status !== NONE && preparedModel === null,
      () => "prepareModel of a client that ended: a prepared model",
    );
    expectStatus("prepareModel of a client that ended", outcome, DEVICE_UNAVAILABLE, INVALID_ARGUMENT);
  },
  async "the memory of a closed client is free for the next"(bench) {
    const small = await smallModel(bench);
    for (let turn = 0; turn < 10; turn++) {
      const client = anotherClient(bench);
      await runTrial(await prepare(client, small.model), trialFor(small, [sampleValues(small.type, 6, turn)]));
      await client.close();
    }
    await runTrial(await prepare(bench, small.model), trialFor(small, [sampleValues(small.type, 6)]));
  },
});
