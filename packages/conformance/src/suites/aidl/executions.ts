/** Executions through AIDL, in every way that it has: results, times, padding, wrong requests, wrong settings, fences. */
import { createFence } from "@nnhal/driver-core/fence";
import { ErrorStatus } from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { needMethod } from "../bench.ts";
import { expectSame, expectThat, mismatch } from "../check.ts";
import { createFailedFence } from "../fenced/launch.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { ask, askFor, expectRefusal, isNewerModel } from "./driver.ts";
import { prepareSmall, withArgument, withLocation } from "./trial.ts";
import { aidlWays, expectUnfinished, finishFenced, infoOf, type Settings, waysOf } from "./ways.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
const { MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

/** Layouts of arguments, as VTS has them and at the bounds. */
const layouts = [{}, { offset: 64 }, { padding: 64 }, { offset: 64, padding: 40 }, { offset: 4, padding: 1 }];

const resultCases = aidlWays.flatMap(({ name, since, isFenced, run }) =>
  casesOf(
    "results",
    since,
    [name],
    () => `${name} computes, wherever its arguments lie`,
    async (bench) => {
      if (isFenced) await needMethod(bench, "executeFenced");
      const { model, trial } = await prepareSmall(bench);
      for (const layout of layouts) {
        for (const measure of [false, true]) {
          const one = trial(layout);
          one.fill(measure ? 1 : 2);
          const { offset = 0, padding = 0 } = layout;
          const what = `${name} at ${offset} with padding ${padding}`;
          const answer = await run(bench, model, one.request, { measure });
          if (answer.value === undefined)
            mismatch(`${what}: expected NONE, got ${"message" in answer ? answer.message : ""}`);
          expectThat(answer.value.isSufficient, () => `${what}: outputSufficientSize is false`);
          one.check(what);
        }
      }
    },
  ),
);

const sizeCases = aidlWays.flatMap(({ name, since, isFenced, run }) =>
  casesOf(
    "sizes",
    since,
    [name],
    () => `${name} with an output that is a byte too short`,
    async (bench) => {
      if (isFenced) await needMethod(bench, "executeFenced");
      const { model, trial } = await prepareSmall(bench, { outputDimensions: [0, 3] });
      const fitting = trial({ padding: 8 });
      const { request } = trial({ padding: 8, short: 1 });
      const answer = await run(bench, model, request);
      if (isFenced) {
        expectRefusal(`${name} with an open output`, await run(bench, model, fitting.request), INVALID_ARGUMENT);
        return expectRefusal(`${name} with an open output`, answer, INVALID_ARGUMENT);
      }
      const { value } = answer;
      if (value === undefined) mismatch(`${name}: expected a result whose output does not fit, got an exception`);
      expectThat(!value.isSufficient, () => `${name}: expected outputSufficientSize false, got true`);
      expectSame(`${name}: dimensions`, value.shapes[0]?.dimensions ?? [], [2, 3]);
      const other = await run(bench, model, fitting.request);
      expectThat(other.value?.isSufficient === true, () => `${name}: the output does not fit, though it has all bytes`);
      expectSame(`${name}: dimensions`, other.value?.shapes[0]?.dimensions ?? [2, 3], [2, 3]);
      fitting.check(name);
    },
  ),
);

/** Requests that break a rule, with the rule in words. */
const wrongRequests: readonly (readonly [what: string, change: (right: AIDL1.Request) => AIDL1.Request])[] = [
  ["no input", (right) => ({ ...right, inputs: [] })],
  ["no output", (right) => ({ ...right, outputs: [] })],
  ["an input twice", (right) => ({ ...right, inputs: [...right.inputs, ...right.inputs] })],
  ["no pools", (right) => ({ ...right, pools: [] })],
  ["a negative token", (right) => ({ ...right, pools: [{ token: -1 }, ...right.pools.slice(1)] })],
  [
    "token 0",
    (right) => ({ ...withLocation(right, "inputs", { length: 0 }), pools: [{ token: 0 }, ...right.pools.slice(1)] }),
  ],
  ...(["inputs", "outputs"] as const).flatMap(
    (side): (readonly [string, (right: AIDL1.Request) => AIDL1.Request])[] => [
      [`${side}: a pool that is not there`, (right) => withLocation(right, side, { poolIndex: 2 })],
      [`${side}: a negative pool`, (right) => withLocation(right, side, { poolIndex: -1 })],
      [`${side}: a negative offset`, (right) => withLocation(right, side, { offset: -1 })],
      [`${side}: a negative length`, (right) => withLocation(right, side, { length: -1 })],
      [`${side}: a negative padding`, (right) => withLocation(right, side, { padding: -1 })],
      [`${side}: a length of 33 bits`, (right) => withLocation(right, side, { length: 2 ** 32 })],
      [`${side}: an offset beyond the pool`, (right) => withLocation(right, side, { offset: 65 })],
      [`${side}: a padding beyond the pool`, (right) => withLocation(right, side, { padding: 65 })],
      [`${side}: no bytes`, (right) => withLocation(right, side, { length: 0 })],
      [`${side}: a byte too many`, (right) => withArgument(right, side, (one) => lengthen(one, 1))],
      [`${side}: a byte too few`, (right) => withArgument(right, side, (one) => lengthen(one, -1))],
      [`${side}: a negative extent`, (right) => withArgument(right, side, (one) => ({ ...one, dimensions: [-2, -3] }))],
      [`${side}: another extent`, (right) => withArgument(right, side, (one) => ({ ...one, dimensions: [3, 2] }))],
      [`${side}: another rank`, (right) => withArgument(right, side, (one) => ({ ...one, dimensions: [6] }))],
      [
        `${side}: an omitted argument with padding`,
        (right) =>
          withArgument(right, side, () => ({
            ...{ hasNoValue: true, dimensions: [] },
            location: { poolIndex: 0, offset: 0, length: 0, padding: 1 },
          })),
      ],
    ],
  ),
];

/** An argument whose length takes bytes from its padding. */
function lengthen(argument: AIDL1.RequestArgument, bytes: number): AIDL1.RequestArgument {
  const { location } = argument;
  const { length, padding } = location;
  return { ...argument, location: { ...location, length: length + bytes, padding: padding - bytes } };
}

const requestCases = casesOf(
  "requests",
  "aidl1",
  wrongRequests,
  ([what]) => `${what} is INVALID_ARGUMENT in every way to execute`,
  async (bench, [what, change]) => {
    const { model, trial } = await prepareSmall(bench);
    const one = trial({ padding: 64 });
    const wrong = change(one.request);
    for (const { name, run } of await waysOf(bench)) {
      const measure = name.length % 2 === 0;
      expectRefusal(`${name}, ${what}`, await run(bench, model, wrong, { measure }), INVALID_ARGUMENT);
    }
    // The model takes a right one still.
    const [first] = await waysOf(bench);
    const answer = await first?.run(bench, model, one.request);
    expectThat(answer?.status === NONE, () => `executeSynchronously after ${what}: it fails too`);
    one.check("after a wrong request");
  },
);

/** Times below none, and whether only fenced executions have them. */
const wrongTimes: readonly (readonly [what: string, settings: Settings, isForFenced?: boolean])[] = [
  ["a deadline of -2", { deadlineNs: -2n }],
  ["a deadline of -2^63", { deadlineNs: -(2n ** 63n) }],
  ["a loop timeout of -2", { loopTimeoutNs: -2n }],
  ["a duration of -2", { durationNs: -2n }, true],
];

const timeCases = [
  ...casesOf(
    "times",
    "aidl1",
    wrongTimes,
    ([what]) => `${what} is INVALID_ARGUMENT`,
    async (bench, row) => {
      const [what, settings, isForFenced = false] = row;
      const { model, trial } = await prepareSmall(bench);
      for (const { name, isFenced, run } of await waysOf(bench)) {
        if (isForFenced && !isFenced) continue;
        expectRefusal(`${name}, ${what}`, await run(bench, model, trial().request, settings), INVALID_ARGUMENT);
      }
    },
  ),
  ...group("times", "aidl1", {
    async "a deadline that has passed is a missed one, and none is -1 or far away"(bench) {
      const { model, trial } = await prepareSmall(bench);
      for (const { name, isFenced, run } of await waysOf(bench)) {
        const late = await run(bench, model, trial().request, { deadlineNs: 0n });
        expectRefusal(`${name} after its deadline`, late, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT);
        const far = 2n ** 63n - 1n;
        const settings = { deadlineNs: far, loopTimeoutNs: 0n, ...(isFenced && { durationNs: far }) };
        const one = trial();
        const answer = await run(bench, model, one.request, settings);
        expectThat(answer.status === NONE, () => `${name} with times of 2^63 - 1: it fails`);
        one.check(`${name} with times of 2^63 - 1`);
      }
    },
  }),
];

const fenceCases = group("fences", "aidl1", {
  async "a fence that has failed is INVALID_ARGUMENT, or GENERAL_FAILURE"(bench) {
    await needMethod(bench, "executeFenced");
    // The text says INVALID_ARGUMENT; Android's sample drivers answer GENERAL_FAILURE.
    await needMethod(bench, "executeFenced");
    const { model, trial } = await prepareSmall(bench);
    for (const { name, isFenced, run } of await waysOf(bench)) {
      if (!isFenced) continue;
      const { fence, signal } = createFence();
      signal();
      for (const waitFor of [[createFailedFence()], [fence, createFailedFence()]]) {
        const answer = await run(bench, model, trial().request, { waitFor });
        expectRefusal(`${name} with a failed fence`, answer, INVALID_ARGUMENT, GENERAL_FAILURE);
      }
      const one = trial();
      expectThat(
        (await run(bench, model, one.request)).status === NONE,
        () => `${name} after a failed fence: it fails`,
      );
      one.check(`${name} after a failed fence`);
    }
  },
  async "a null fence is INVALID_ARGUMENT"(bench) {
    await needMethod(bench, "executeFenced");
    const { model, trial } = await prepareSmall(bench);
    for (const { name, isFenced, run } of await waysOf(bench)) {
      if (!isFenced) continue;
      const answer = await run(bench, model, trial().request, { waitFor: [null] });
      expectRefusal(`${name} with a null fence`, answer, INVALID_ARGUMENT);
    }
  },
  async "the callback says GENERAL_FAILURE until the fence is signalled"(bench) {
    await needMethod(bench, "executeFenced");
    const { model, trial } = await prepareSmall(bench);
    const one = trial();
    const { fence, signal } = createFence();
    const launched = await ask(bench, "IPreparedModel.executeFenced", () =>
      model.executeFenced(one.request, [fence], true, -1n, -1n, -1n),
    );
    const { syncFence, callback } = launched.value ?? mismatch("IPreparedModel.executeFenced: it fails");
    expectThat(syncFence?.state === "ACTIVE", () => "IPreparedModel.executeFenced: it has not waited for its fence");
    await expectUnfinished(bench, callback);
    signal();
    await bench.watch.within("IPreparedModel.executeFenced: its fence", async () => syncFence.wait());
    const { status } = await infoOf(bench, callback);
    expectThat(status === NONE, () => "IPreparedModel.executeFenced: it fails after its fence was signalled");
    one.check("executeFenced");
  },
  async "a fence that fails later fails what waits for it"(bench) {
    await needMethod(bench, "executeFenced");
    const { model, trial } = await prepareSmall(bench);
    const { fence, fail } = createFence();
    const answer = await finishFenced(bench, "IPreparedModel.executeFenced", {}, async () => {
      const launched = await model.executeFenced(trial().request, [fence], false, -1n, -1n, -1n);
      fail();
      return launched;
    });
    expectThat(answer.status !== NONE, () => "IPreparedModel.executeFenced: it succeeds though its fence has failed");
  },
});

const turnCases = group("turns", "aidl4", {
  async "a reusable execution runs once at a time, whatever the kinds of its runs"(bench) {
    await needMethod(bench, "executeFenced");
    const { model, trial } = await prepareSmall(bench);
    const one = trial({ offset: 64, padding: 64 });
    if (!isNewerModel(model)) mismatch("the prepared model has no createReusableExecution");
    const config = { measureTiming: false, loopTimeoutDurationNs: -1n, executionHints: [], extensionNameToPrefix: [] };
    const execution = await askFor(bench, "IPreparedModel.createReusableExecution", () =>
      model.createReusableExecution(one.request, config),
    );
    const { fence, signal } = createFence();
    const { syncFence } = await askFor(bench, "IExecution.executeFenced", () =>
      execution.executeFenced([fence], -1n, -1n),
    );
    const busy = await ask(bench, "IExecution.executeSynchronously", () => execution.executeSynchronously(-1n));
    expectRefusal("IExecution.executeSynchronously beside a run", busy, GENERAL_FAILURE);
    const second = await ask(bench, "IExecution.executeFenced", () => execution.executeFenced([], -1n, -1n));
    expectRefusal("IExecution.executeFenced beside a run", second, GENERAL_FAILURE);
    signal();
    await bench.watch.within("IExecution.executeFenced: its fence", async () => syncFence?.wait());
    one.check("IExecution.executeFenced");
    for (const salt of [1, 2, 3]) {
      one.fill(salt);
      const answer = await ask(bench, "IExecution.executeSynchronously", () => execution.executeSynchronously(-1n));
      expectThat(answer.status === NONE, () => "IExecution.executeSynchronously after a run: it fails");
      one.check(`IExecution.executeSynchronously on values ${salt}`);
    }
    execution.close?.();
  },
});

export const executionCases: readonly SuiteCase[] = [
  ...resultCases,
  ...sizeCases,
  ...requestCases,
  ...timeCases,
  ...fenceCases,
  ...turnCases,
];
