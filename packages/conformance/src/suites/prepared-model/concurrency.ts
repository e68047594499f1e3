/**
 * Many executions at once: each has its own result.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { prepare, smallModel } from "../bench.ts";
import { expectExecution } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";

const many = Array.from({ length: 24 }, (_, index) => index);

export const concurrencyCases: readonly SuiteCase[] = group("concurrency", "1.0", {
  async "executions of one prepared model with different values"(bench) {
    const small = await smallModel(bench);
    const preparedModel = await prepare(bench, small.model);
    await Promise.all(
      many.map((salt) => runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6, salt)]))),
    );
  },
  async "executions of one prepared model with different shapes"(bench) {
    const small = await smallModel(bench, { dimensions: [0, 3], outputDimensions: [0, 3] });
    const preparedModel = await prepare(bench, small.model);
    const run = (salt: number) => {
      const rows = 1 + (salt % 5);
      const trial = trialFor(small, [sampleValues(small.type, 3 * rows, salt)], [rows, 3]);
      const outputs = trial.request.outputs.map((output) => ({ ...output, dimensions: [rows, 3] }));
      return runTrial(preparedModel, { ...trial, request: { ...trial.request, outputs } });
    };
    await Promise.all(many.map(run));
  },
  async "executions of several prepared models"(bench) {
    const models = [
      await smallModel(bench),
      await smallModel(bench, { layout: "chain" }),
      await smallModel(bench, { dimensions: [3, 2] }),
    ];
    const preparedModels = await Promise.all(models.map(({ model }) => prepare(bench, model)));
    await Promise.all(
      many.map((salt) => {
        const small = elementAt(models, salt % models.length);
        return runTrial(
          elementAt(preparedModels, salt % models.length),
          trialFor(small, [sampleValues(small.type, 6, salt)]),
        );
      }),
    );
  },
  async "executions while another model is prepared"(bench) {
    const small = await smallModel(bench);
    const preparedModel = await prepare(bench, small.model);
    const runs = many.map((salt) => runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6, salt)])));
    const another = await smallModel(bench, { layout: "chain" });
    const [other] = await Promise.all([prepare(bench, another.model), ...runs]);
    await runTrial(other, trialFor(another, [sampleValues(another.type, 6)]));
  },
  async "right requests between wrong ones"(bench) {
    const small = await smallModel(bench);
    const preparedModel = await prepare(bench, small.model);
    await Promise.all(
      many.map(async (salt) => {
        const trial = trialFor(small, [sampleValues(small.type, 6, salt)]);
        if (salt % 2 === 0) return void (await runTrial(preparedModel, trial));
        const result = await preparedModel.execute({ ...trial.request, outputs: [] });
        expectExecution("execute without outputs", result, ErrorStatus.INVALID_ARGUMENT);
      }),
    );
  },
});
