/** Waiting: for fences of the client, for one another, for fences that never signal, and beyond a deadline. */

import { createFence } from "@nnhal/driver-core/fence";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectStatus, expectThat, mismatch } from "../check.ts";
import { trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { bytesIn, requestFor, untouched } from "../values.ts";
import { endOf, expectDone, expectLaunched, expectRefusedLaunch, prepareFenced } from "./execute.ts";

const { NONE, GENERAL_FAILURE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
const missed = [MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT] as const;
const millisecond = 1_000_000n;

/** Waits for some milliseconds. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** An execution that waits for a fence of ours. */
async function startWaiting(bench: Bench) {
  const fenced = await prepareFenced(bench);
  const source = createFence();
  const trial = fenced.trial();
  const underWay = expectLaunched(await fenced.execute(trial.request, [source.fence]));
  const syncFence = underWay.syncFence ?? mismatch("executeFenced: no fence, but there is one to wait for");
  return { ...fenced, source, trial, underWay, syncFence };
}

export const chainCases: readonly SuiteCase[] = group("waiting", "1.3", {
  async "it begins when the fence is signalled, not before"(bench) {
    const { source, trial, underWay, syncFence } = await startWaiting(bench);
    await pause(10);
    expectThat(
      syncFence.state === "ACTIVE",
      () => `executeFenced: the fence is ${syncFence.state} before its execution may begin`,
    );
    const isUntouched = bytesIn(elementAt(trial.outputs, 0)).every((byte) => byte === untouched);
    expectThat(isUntouched, () => "executeFenced: the output is written before the fence is signalled");
    source.signal();
    const info = await endOf(underWay);
    expectStatus("getExecutionInfo", info, NONE);
    trial.check("executeFenced");
  },
  async "before its end, its callback says GENERAL_FAILURE"(bench) {
    const { source, underWay } = await startWaiting(bench);
    const info = await underWay.callback.getExecutionInfo();
    expectStatus("getExecutionInfo before the end", info, GENERAL_FAILURE);
    source.signal();
    expectStatus("getExecutionInfo", await endOf(underWay), NONE);
  },
  async "of several fences it waits for all"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const sources = [createFence(), createFence(), createFence()];
    const one = trial();
    const launched = await execute(
      one.request,
      sources.map(({ fence }) => fence),
    );
    for (const { signal } of sources) {
      expectThat(
        launched.syncFence?.state === "ACTIVE",
        () => `executeFenced: the fence is ${launched.syncFence?.state} before all are signalled`,
      );
      signal();
      await pause(2);
    }
    await expectDone(launched, one);
  },
  async "a chain: each reads what the one before it writes"(bench) {
    const small = await smallModel(bench);
    const preparedModel = await prepare(bench, small.model);
    const { execute } = await prepareFenced(bench);
    const start = createFence();
    const input = sampleValues(small.type, 6);
    const first = trialFor(small, [input]);
    const second = trialFor(small, small.compute([input]));
    // The second one's input is the first one's output.
    const request = requestFor([elementAt(first.outputs, 0)], [elementAt(second.outputs, 0)]);
    const one = expectLaunched(
      (await preparedModel.executeFenced?.(first.request, [start.fence])) ?? mismatch("no fences"),
    );
    const two = expectLaunched(await execute(request, one.syncFence === null ? [] : [one.syncFence]));
    start.signal();
    expectStatus("getExecutionInfo of the first", await endOf(one), NONE);
    expectStatus("getExecutionInfo of the second", await endOf(two), NONE);
    second.check("the second execution");
  },
  async "many that wait for one fence all run"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { fence, signal } = createFence();
    const trials = Array.from({ length: 12 }, (_, salt) => trial(salt));
    const launches = await Promise.all(trials.map(({ request }) => execute(request, [fence])));
    signal();
    await Promise.all(launches.map((launched, index) => expectDone(launched, trials[index])));
  },
  async "a fence that fails later puts its fence in state ERROR"(bench) {
    const { source, underWay, trial } = await startWaiting(bench);
    source.fail();
    const { status } = await endOf(underWay);
    expectThat(status !== NONE, () => "getExecutionInfo: NONE of an execution whose fence failed");
    const isUntouched = bytesIn(elementAt(trial.outputs, 0)).every((byte) => byte === untouched);
    expectThat(isUntouched, () => "executeFenced: the output is written though a fence failed");
  },
  async "an error goes down a chain"(bench) {
    const { source, underWay, syncFence, execute, trial } = await startWaiting(bench);
    const second = expectLaunched(await execute(trial.request, [syncFence]));
    source.fail();
    for (const one of [underWay, second]) {
      const { status } = await endOf(one);
      expectThat(status !== NONE, () => "getExecutionInfo: NONE of an execution whose fence failed");
    }
  },
  async "a deadline that has passed is missed, at once or by the fence"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const launched = await execute(trial().request, [], { deadline: bench.now() });
    if (launched.status !== NONE) {
      expectRefusedLaunch("with a passed deadline", launched, ...missed);
      return;
    }
    expectStatus("getExecutionInfo", await endOf(expectLaunched(launched)), ...missed);
  },
  async "a deadline that passes while it waits is missed, though no fence is signalled"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { fence, signal } = createFence();
    const launched = await execute(trial().request, [fence], { deadline: bench.now() + 20n * millisecond });
    expectStatus("getExecutionInfo", await endOf(expectLaunched(launched)), ...missed);
    signal();
  },
  async "a duration counts from the last fence, not from the launch"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { fence, signal } = createFence();
    const one = trial();
    const launched = await execute(one.request, [fence], { duration: 10_000n * millisecond });
    await pause(5);
    signal();
    await expectDone(launched, one);
  },
  async "a duration of nothing is missed"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { fence, signal } = createFence();
    const launched = await execute(trial().request, [fence], { duration: 0n });
    signal();
    expectStatus("getExecutionInfo", await endOf(expectLaunched(launched)), ...missed);
  },
  async "deadline and duration without end are met"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const one = trial();
    const forever = (1n << 63n) - 1n;
    await expectDone(await execute(one.request, [], { deadline: forever, duration: forever }), one);
  },
  async "one that waits ends, though its prepared model is closed"(bench) {
    const { preparedModel, source, underWay, trial } = await startWaiting(bench);
    preparedModel.close();
    source.signal();
    expectStatus("getExecutionInfo", await endOf(underWay), NONE);
    trial.check("executeFenced");
  },
});
