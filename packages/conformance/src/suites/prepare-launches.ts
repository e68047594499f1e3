/** Preparations as HAL methods launch them: each method of each version, and the arguments of its callback. */

import { convertToV1_0, convertToV1_1, convertToV1_2 } from "@nnhal/driver-core/versions";
import { elementAt } from "@nnhal/operations";
import {
  ErrorStatus,
  ExecutionPreference,
  type HalVersion,
  type Model,
  type Outcome,
  type PrepareOptions,
  Priority,
  type V1_0,
  type V1_3,
} from "@nnhal/types";
import { makeTimePoint } from "@nnhal/utils";
import { type Bench, driverOf } from "./bench.ts";
import { expectStatus, expectThat, statusName } from "./check.ts";

/** A call of a callback. */
export interface Call {
  /** The method that was called. */
  readonly by: "notify" | "notify_1_2" | "notify_1_3";
  readonly status: ErrorStatus;
}

/** A launch, and the calls of its callback. */
export interface Launched<Told extends Call> {
  readonly outcome: Outcome;
  /** The calls so far. */
  readonly calls: readonly Told[];
}

/** A call of a preparation's callback. */
export interface PrepareCall extends Call {
  readonly preparedModel: V1_0.IPreparedModel | null;
}

/** Options of a preparation; only those for which a method has parameters are used, and values may be wrong. */
export type LaunchOptions = Pick<PrepareOptions, "preference" | "priority" | "deadline">;

type Callback = V1_3.IPreparedModelCallback | null;

/** A method that launches a preparation. */
export interface PrepareMethod {
  readonly name: string;
  readonly since: HalVersion;
  /** The method of the callback that it has to call. */
  readonly notify: Call["by"];
  call(bench: Bench, model: Model, callback: Callback, options?: LaunchOptions): Outcome;
}

const noToken = new Uint8Array(32);
const { FAST_SINGLE_ANSWER } = ExecutionPreference;

/** The methods of all versions. */
export const prepareMethods: readonly PrepareMethod[] = [
  {
    name: "prepareModel",
    since: "1.0",
    notify: "notify",
    call: (bench, model, callback) => driverOf(bench, "1.0").prepareModel(convertToV1_0.model(model).value, callback),
  },
  {
    name: "prepareModel_1_1",
    since: "1.1",
    notify: "notify",
    call: (bench, model, callback, { preference = FAST_SINGLE_ANSWER } = {}) =>
      driverOf(bench, "1.1").prepareModel_1_1(convertToV1_1.model(model).value, preference, callback),
  },
  {
    name: "prepareModel_1_2",
    since: "1.2",
    notify: "notify_1_2",
    call: (bench, model, callback, { preference = FAST_SINGLE_ANSWER } = {}) =>
      driverOf(bench, "1.2").prepareModel_1_2(convertToV1_2.model(model).value, preference, [], [], noToken, callback),
  },
  {
    name: "prepareModel_1_3",
    since: "1.3",
    notify: "notify_1_3",
    call: (bench, model, callback, { preference = FAST_SINGLE_ANSWER, priority = Priority.MEDIUM, deadline } = {}) =>
      driverOf(bench, "1.3").prepareModel_1_3(
        model,
        preference,
        priority,
        makeTimePoint(deadline),
        [],
        [],
        noToken,
        callback,
      ),
  },
];

/** Launches a preparation. Models that come are closed when the case is over. */
export function launchPrepare(
  bench: Bench,
  method: PrepareMethod,
  model: Model,
  options?: LaunchOptions,
): Launched<PrepareCall> {
  return launchAndListen(bench, (callback) => method.call(bench, model, callback, options));
}

/** Launches a preparation with a callback that remembers its calls. */
export function launchAndListen(
  bench: Bench,
  launch: (callback: V1_3.IPreparedModelCallback) => Outcome,
): Launched<PrepareCall> {
  const calls: PrepareCall[] = [];
  const hear = (by: Call["by"]) => (status: ErrorStatus, preparedModel: V1_0.IPreparedModel | null) => {
    calls.push({ by, status, preparedModel });
    bench.after(() => preparedModel?.close?.());
  };
  const callback = { notify: hear("notify"), notify_1_2: hear("notify_1_2"), notify_1_3: hear("notify_1_3") };
  return { outcome: launch(callback), calls };
}

/** The one call of a launch's callback: waits for it, and a little longer for a second one, which must not come. */
export async function onlyCall<Told extends Call>(
  { watch }: Pick<Bench, "watch">,
  what: string,
  { calls }: Pick<Launched<Told>, "calls">,
  by: Call["by"],
): Promise<Told> {
  let isOver = false;
  try {
    await watch.within(`${what}: its callback ${by} was not called`, async () => {
      while (calls.length === 0 && !isOver) await turn();
    });
  } finally {
    isOver = true;
  }
  for (let turns = 0; turns < 5; turns++) await turn();
  expectThat(calls.length === 1, () => `${what}: the callback was called ${calls.length} times`);
  const call = elementAt(calls, 0);
  expectThat(call.by === by, () => `${what}: expected a call of the callback by ${by}, got ${call.by}`);
  return call;
}

/** Gives the device, wherever it is, some time. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Launches a preparation that must be refused: the callback receives the same as the caller, and nothing else. */
export async function expectRefused<Told extends Call>(
  bench: Pick<Bench, "watch">,
  what: string,
  launched: Launched<Told>,
  by: Call["by"],
): Promise<Told> {
  expectStatus(what, launched.outcome, ErrorStatus.INVALID_ARGUMENT);
  const call = await onlyCall(bench, what, launched, by);
  expectThat(call.status === ErrorStatus.INVALID_ARGUMENT, () => {
    return `${what}: the launch is INVALID_ARGUMENT, but the callback hears ${statusName(call.status)}`;
  });
  return call;
}

/** A model prepared by the newest method that a bench has. */
export async function prepareByLaunch(bench: Bench, model: Model): Promise<V1_0.IPreparedModel> {
  const method = prepareMethods.findLast(({ since }) => since <= bench.version) ?? elementAt(prepareMethods, 0);
  const launched = launchPrepare(bench, method, model);
  expectStatus(method.name, launched.outcome, ErrorStatus.NONE);
  const { status, preparedModel } = await onlyCall(bench, method.name, launched, method.notify);
  expectStatus(`${method.name}'s callback`, { status }, ErrorStatus.NONE);
  expectThat(preparedModel !== null, () => `${method.name}: the callback hears NONE and gets no prepared model`);
  return preparedModel;
}
