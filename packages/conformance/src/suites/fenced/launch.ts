/** Launching fenced executions: immediate checks, and the reported durations. */

import { createFence } from "@nnhal/driver-core/fence";
import { ErrorStatus, MeasureTiming, type SyncFence, TIMING_NOT_MEASURED } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { expectOrdered, expectThat, expectUnmeasured, statusName } from "../check.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { emptyMemory } from "../values.ts";
import { endOf, expectDone, expectLaunched, expectRefusedLaunch, prepareFenced } from "./execute.ts";

const { INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

/** A fence that is signalled already. */
export function createSignalledFence(): SyncFence {
  const { fence, signal } = createFence();
  signal();
  return fence;
}

/** A fence that has failed already. */
export function createFailedFence(): SyncFence {
  const { fence, fail } = createFence();
  fail();
  return fence;
}

export const launchCases: readonly SuiteCase[] = group("launch", "1.3", {
  async "with nothing to wait for it executes"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const one = trial();
    await expectDone(await execute(one.request), one);
  },
  async "a fence that is signalled is not waited for"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const one = trial();
    await expectDone(await execute(one.request, [createSignalledFence(), createSignalledFence()]), one);
  },
  async "a null fence is INVALID_ARGUMENT"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    for (const waitFor of [[null], [createSignalledFence(), null]]) {
      expectRefusedLaunch("with a null fence", await execute(trial().request, waitFor), INVALID_ARGUMENT);
    }
  },
  async "a fence that has failed is INVALID_ARGUMENT"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    for (const waitFor of [[createFailedFence()], [createSignalledFence(), createFailedFence()]]) {
      expectRefusedLaunch("with a failed fence", await execute(trial().request, waitFor), INVALID_ARGUMENT);
    }
  },
  async "a wrong request is INVALID_ARGUMENT, whatever the fences"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const wrong = { ...trial().request, inputs: [] };
    expectRefusedLaunch("of a request without inputs", await execute(wrong), INVALID_ARGUMENT);
    const { fence, signal } = createFence();
    expectRefusedLaunch("of a request without inputs", await execute(wrong, [fence]), INVALID_ARGUMENT);
    signal();
  },
  async "an output of unknown dimensions is INVALID_ARGUMENT"(bench) {
    const { execute, trial } = await prepareFenced(bench, { outputDimensions: [0, 3] });
    const { request } = trial();
    expectRefusedLaunch("with an open output", await execute(request), INVALID_ARGUMENT);
    const outputs = request.outputs.map((output) => ({ ...output, dimensions: [2, 3] }));
    await expectDone(await execute({ ...request, outputs }));
  },
  async "an output that does not fit is not OUTPUT_INSUFFICIENT_SIZE"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { request } = trial();
    const outputs = request.outputs.map((output) => ({ ...output, location: { ...output.location, length: 1 } }));
    const launched = await execute({ ...request, outputs });
    if (launched.status !== ErrorStatus.NONE) {
      expectRefusedLaunch("with a short output", launched, INVALID_ARGUMENT, GENERAL_FAILURE);
      return;
    }
    const { status } = await endOf(expectLaunched(launched));
    expectThat(
      status === GENERAL_FAILURE,
      () => `getExecutionInfo: expected GENERAL_FAILURE, got ${statusName(status)}`,
    );
  },
  async "an omitted input that may not be omitted is refused, or fails"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { request } = trial();
    const omitted = { hasNoValue: true, location: { poolIndex: 0, offset: 0, length: 0 }, dimensions: [] };
    const launched = await execute({ ...request, inputs: [omitted] });
    if (launched.status !== ErrorStatus.NONE) return;
    const { status } = await endOf(expectLaunched(launched));
    expectThat(status !== ErrorStatus.NONE, () => "getExecutionInfo: NONE of an execution without its input");
  },
  async "memory that cannot be mapped is refused, or fails"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { request } = trial();
    const memory = {
      ...emptyMemory(24),
      handle: { kind: "fileDescriptor", fd: 0x7fff_fff0, protection: 3, offset: 0 },
    } as const;
    const pools = [{ kind: "memory", memory: { ...memory, name: "mmap_fd" } } as const, ...request.pools.slice(1)];
    const launched = await execute({ ...request, pools });
    if (launched.status !== ErrorStatus.NONE) {
      expectRefusedLaunch("with memory that cannot be mapped", launched, INVALID_ARGUMENT, GENERAL_FAILURE);
      return;
    }
    const { status } = await endOf(expectLaunched(launched));
    expectThat(status !== ErrorStatus.NONE, () => "getExecutionInfo: NONE of an execution without its memory");
  },
  async "durations are reported if they are asked for: those since the fences within those since the launch"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { fence, signal } = createFence();
    const launched = await execute(trial().request, [fence], { measure: MeasureTiming.YES });
    setTimeout(signal, 5);
    const { timingLaunched, timingFenced } = await expectDone(launched);
    for (const timing of [timingLaunched, timingFenced]) expectOrdered("getExecutionInfo", timing);
    if (timingFenced.timeInDriver === TIMING_NOT_MEASURED) endAsUnsupported("fenced durations");
    expectThat(timingFenced.timeInDriver <= timingLaunched.timeInDriver, () => {
      return `getExecutionInfo: ${timingFenced.timeInDriver} microseconds since the fences are more than the ${timingLaunched.timeInDriver} since the launch`;
    });
  },
  async "durations are unknown if they are not asked for"(bench) {
    const { execute, trial } = await prepareFenced(bench);
    const { timingLaunched, timingFenced } = await expectDone(await execute(trial().request));
    for (const timing of [timingLaunched, timingFenced]) expectUnmeasured("getExecutionInfo", timing);
  },
});
