/**
 * Launches of preparations, by the methods of every HAL version: arguments are checked first, and the callback is called
 * exactly once, by the method of the launch's version.
 */
import { ErrorStatus } from "@nnhal/types";
import { type Bench, smallModel } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import {
  expectRefused,
  type LaunchOptions,
  launchPrepare,
  onlyCall,
  type PrepareMethod,
  prepareMethods,
} from "../prepare-launches.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { cyclicModel } from "./support.ts";

async function refuses(bench: Bench, method: PrepareMethod, options: LaunchOptions): Promise<void> {
  const { model } = await smallModel(bench);
  const call = await expectRefused(bench, method.name, launchPrepare(bench, method, model, options), method.notify);
  expectThat(call.preparedModel === null, () => `${method.name}: a prepared model beside the error`);
}

/** Numbers that are not an ExecutionPreference or a Priority, as a hostile peer sends them. */
function wrong(option: "preference" | "priority", value: number): LaunchOptions {
  return Object.fromEntries([[option, value]]);
}

export const launchCases: readonly SuiteCase[] = prepareMethods.flatMap((method) => [
  ...group("launch", method.since, {
    async [`${method.name} is NONE, and its callback gets the prepared model once`](bench) {
      const { name, notify } = method;
      const launched = launchPrepare(bench, method, (await smallModel(bench)).model);
      expectStatus(name, launched.outcome, ErrorStatus.NONE);
      const { status, preparedModel } = await onlyCall(bench, name, launched, notify);
      expectStatus(`${name}'s callback`, { status }, ErrorStatus.NONE);
      expectThat(preparedModel !== null, () => `${name}: the callback hears NONE and gets no prepared model`);
    },
    async [`${method.name} of a model with a cycle is refused, and its callback hears the same`](bench) {
      const { name, notify } = method;
      const call = await expectRefused(bench, name, launchPrepare(bench, method, await cyclicModel(bench)), notify);
      expectThat(call.preparedModel === null, () => `${name}: a prepared model beside the error`);
    },
    async [`${method.name} without a callback is INVALID_ARGUMENT`](bench) {
      const outcome = method.call(bench, (await smallModel(bench)).model, null);
      expectStatus(`${method.name} without a callback`, outcome, ErrorStatus.INVALID_ARGUMENT);
    },
  }),
  ...(method.since < "1.1"
    ? []
    : group("launch", method.since, {
        [`${method.name} with preference -1`]: (bench) => refuses(bench, method, wrong("preference", -1)),
        [`${method.name} with preference 3`]: (bench) => refuses(bench, method, wrong("preference", 3)),
      })),
  ...(method.since < "1.3"
    ? []
    : group("launch", method.since, {
        [`${method.name} with priority -1`]: (bench) => refuses(bench, method, wrong("priority", -1)),
        [`${method.name} with priority 3`]: (bench) => refuses(bench, method, wrong("priority", 3)),
      })),
]);
