/** Closing a prepared model: current executions end, later ones are refused, and others are not touched. */

import { ErrorStatus } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { openBurst } from "../burst/open.ts";
import { expectExecution, expectStatus, expectThat } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";

async function prepareSmallModel(bench: Bench) {
  const small = await smallModel(bench);
  const preparedModel = await prepare(bench, small.model);
  return { small, preparedModel, trial: trialFor(small, [sampleValues(small.type, 6)]) };
}

export const lifeCases: readonly SuiteCase[] = [
  ...group("life", "1.0", {
    async "executing a closed prepared model is INVALID_ARGUMENT"(bench) {
      const { preparedModel, trial } = await prepareSmallModel(bench);
      preparedModel.close();
      expectExecution("execute after close", await preparedModel.execute(trial.request), ErrorStatus.INVALID_ARGUMENT);
    },
    async "closing it twice is closing it once"(bench) {
      const { small, preparedModel } = await prepareSmallModel(bench);
      const other = await prepare(bench, small.model);
      preparedModel.close();
      preparedModel.close();
      await runTrial(other, trialFor(small, [sampleValues(small.type, 6)]));
    },
    async "executions that are under way when it is closed end"(bench) {
      const { small, preparedModel } = await prepareSmallModel(bench);
      const runs = [0, 1, 2, 3].map((salt) =>
        runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6, salt)])),
      );
      preparedModel.close();
      await Promise.all(runs);
    },
    async "of two prepared from one model, closing one leaves the other"(bench) {
      const { small, preparedModel, trial } = await prepareSmallModel(bench);
      const other = await prepare(bench, small.model);
      preparedModel.close();
      await runTrial(other, trial);
    },
    async "after many are prepared and closed, one more is"(bench) {
      const small = await smallModel(bench);
      for (let turn = 0; turn < 25; turn++) {
        const { preparedModel, ...outcome } = await bench.device.prepareModel(small.model);
        expectStatus("prepareModel", outcome, ErrorStatus.NONE);
        preparedModel?.close();
      }
      await runTrial(await prepare(bench, small.model), trialFor(small, [sampleValues(small.type, 6)]));
    },
  }),
  ...group("life", "1.2", {
    async "a burst of a closed prepared model is refused"(bench) {
      const { preparedModel } = await prepareSmallModel(bench);
      preparedModel.close();
      const { burst, ...outcome } = await openBurst(bench, preparedModel);
      expectStatus("configureExecutionBurst after close", outcome, ErrorStatus.INVALID_ARGUMENT);
      expectThat(burst === null, () => "configureExecutionBurst after close: a burst beside the error");
    },
  }),
  ...group("life", "1.3", {
    async "executing a closed prepared model behind fences is INVALID_ARGUMENT"(bench) {
      const { preparedModel, trial } = await prepareSmallModel(bench);
      preparedModel.close();
      const result = await preparedModel.executeFenced?.(trial.request, []);
      if (result === undefined) endAsUnsupported("fenced executions");
      expectStatus("executeFenced after close", result, ErrorStatus.INVALID_ARGUMENT);
      const isBare = result.syncFence === null && result.callback === null;
      expectThat(isBare, () => "executeFenced after close: a fence or callback beside the error");
    },
  }),
];
