/** Launches of executions, by the methods of every HAL version; all methods give the same answer. */

import { allocateMemory } from "@nnhal/driver-core/memory";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, MeasureTiming } from "@nnhal/types";
import { type Bench, smallModel } from "../bench.ts";
import { expectExecution, expectOrdered, expectStatus, expectUnmeasured } from "../check.ts";
import { executeMethods, launchExecute, synchronousMethods } from "../execute-launches.ts";
import { expectShapes, trialFor } from "../execution.ts";
import { expectRefused, onlyCall, prepareByLaunch } from "../prepare-launches.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";

const { NONE, INVALID_ARGUMENT, OUTPUT_INSUFFICIENT_SIZE, GENERAL_FAILURE } = ErrorStatus;
const { YES, NO } = MeasureTiming;

async function prepareSmallModel(bench: Bench) {
  const small = await smallModel(bench);
  const preparedModel = await prepareByLaunch(bench, small.model);
  return { preparedModel, trial: trialFor(small, [sampleValues(small.type, 6)]) };
}

export const launchCases: readonly SuiteCase[] = [
  ...executeMethods.flatMap((method) => {
    const { name, since, notify } = method;
    return group("launch", since, {
      async [`${name} is NONE, and its callback hears once that the outputs are complete`](bench) {
        const { preparedModel, trial } = await prepareSmallModel(bench);
        const launched = launchExecute(method, preparedModel, trial.request);
        expectStatus(name, launched.outcome, NONE);
        const call = await onlyCall(bench, name, launched, notify);
        expectExecution(`${name}'s callback`, call, NONE);
        expectShapes(`${name}'s callback`, call, trial.request);
        expectUnmeasured(`${name}'s callback`, call.timing);
        trial.check(name);
      },
      async [`${name} of a wrong request is refused, and its callback hears the same`](bench) {
        const { preparedModel, trial } = await prepareSmallModel(bench);
        const launched = launchExecute(method, preparedModel, { ...trial.request, inputs: [] }, { measure: YES });
        const call = await expectRefused(bench, name, launched, notify);
        expectExecution(`${name}'s callback`, call, INVALID_ARGUMENT);
      },
      async [`${name} without a callback is INVALID_ARGUMENT`](bench) {
        const { preparedModel, trial } = await prepareSmallModel(bench);
        const outcome = method.call(preparedModel, trial.request, null);
        expectStatus(`${name} without a callback`, outcome, INVALID_ARGUMENT);
      },
      async [`${name}, several launched at once: each callback hears once`](bench) {
        const small = await smallModel(bench);
        const preparedModel = await prepareByLaunch(bench, small.model);
        const trials = [0, 1, 2, 3, 4].map((salt) => trialFor(small, [sampleValues(small.type, 6, salt)]));
        const launches = trials.map(({ request }) => launchExecute(method, preparedModel, request));
        for (const [index, launched] of launches.entries()) {
          expectExecution(`${name}'s callback`, await onlyCall(bench, name, launched, notify), NONE);
          elementAt(trials, index).check(`${name}: execution ${index}`);
        }
      },
    });
  }),
  ...executeMethods
    .filter(({ since }) => since >= "1.2")
    .flatMap((method) =>
      group("launch", method.since, {
        async [`${method.name} reports durations if they are asked for`](bench) {
          const { preparedModel, trial } = await prepareSmallModel(bench);
          const launched = launchExecute(method, preparedModel, trial.request, { measure: YES });
          const call = await onlyCall(bench, method.name, launched, method.notify);
          expectExecution(`${method.name}'s callback`, call, NONE);
          expectOrdered(`${method.name}'s callback`, call.timing);
        },
        async [`${method.name} launches if an output does not fit, and its callback is told`](bench) {
          const { preparedModel, trial } = await prepareSmallModel(bench);
          const { request } = trial;
          const outputs = request.outputs.map((output) => ({ ...output, location: { ...output.location, length: 1 } }));
          const launched = launchExecute(method, preparedModel, { ...request, outputs }, { measure: YES });
          expectStatus(method.name, launched.outcome, NONE);
          const call = await onlyCall(bench, method.name, launched, method.notify);
          expectExecution(`${method.name}'s callback`, call, OUTPUT_INSUFFICIENT_SIZE, GENERAL_FAILURE);
        },
      }),
    ),
  ...synchronousMethods.flatMap((method) =>
    group("launch", method.since, {
      async [`${method.name} answers when the outputs are complete`](bench) {
        const { preparedModel, trial } = await prepareSmallModel(bench);
        for (const measure of [NO, YES]) {
          const result = await method.call(preparedModel, trial.request, { measure });
          expectExecution(method.name, result, NONE);
          expectShapes(method.name, result, trial.request);
          if (measure === NO) expectUnmeasured(method.name, result.timing);
          else expectOrdered(method.name, result.timing);
          trial.check(method.name);
        }
      },
      async [`${method.name} of a wrong request is INVALID_ARGUMENT`](bench) {
        const { preparedModel, trial } = await prepareSmallModel(bench);
        const wrong = { ...trial.request, pools: [{ kind: "memory", memory: allocateMemory(1) } as const] };
        const result = await method.call(preparedModel, wrong, { measure: YES });
        expectExecution(method.name, result, INVALID_ARGUMENT);
      },
    }),
  ),
];
