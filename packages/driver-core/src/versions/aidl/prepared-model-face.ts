/** The face of a prepared model for clients of AIDL, with its bursts and reusable executions. */
import {
  type AidlVersion,
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type FencedExecuteOptions,
  type FencedResult,
  MeasureTiming,
  type Memory,
  type Outcome,
  type Request,
  type ReusableResult,
  type SyncFence,
} from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { show } from "@nnhal/validation";
import { readFencedResult } from "../../guard/answers.ts";
import { closeSafely } from "../../guard/attempt.ts";
import { failedFenced } from "../../guard/failed.ts";
import { timedGuard } from "../../guard/guard.ts";
import { readHints } from "../../guard/hints.ts";
import { failure, invalid, messageOf } from "../../guard/refusal.ts";
import { readReusable } from "../../guard/reusable-answer.ts";
import { refuseRequest } from "../face-context.ts";
import { readExecution, refuseFences } from "../guard-prepared-model.ts";
import { execute, guard, type PreparedModelFaceContext } from "../prepared-model-face.ts";
import { exceptionOf, raise, take } from "./exceptions.ts";
import { listOf, readRequest } from "./read.ts";
import { type DeadlineConverter, readDuration, unknownTiming, writeTiming } from "./time.ts";

/** The shared part of the faces of one device. */
export interface AidlFacts {
  readonly version: AidlVersion;
  readonly interfaces: AIDL1.AidlInterface;
  readonly deadlines: DeadlineConverter;
}

/** See the file's head: the methods of AIDL 1, and those of AIDL 4 if that is the version. */
export function preparedModelFace(
  face: PreparedModelFaceContext,
  facts: AidlFacts,
): AIDL1.IPreparedModel | AIDL4.IPreparedModel {
  const { version, interfaces } = facts;
  const { settings, times } = readersOf(facts);
  const methods: AIDL1.IPreparedModel = {
    ...interfaces,
    async executeSynchronously(request, measureTiming, deadlineNs, loopTimeoutDurationNs) {
      const options = take(() => ({ ...settings(measureTiming, loopTimeoutDurationNs), ...times(deadlineNs) }));
      return resultOf(await executeNow(face, soundRequest(face, facts, request), options));
    },
    async executeFenced(request, waitFor, measureTiming, deadlineNs, loopTimeoutDurationNs, durationNs) {
      const options = take(() => ({
        ...settings(measureTiming, loopTimeoutDurationNs),
        ...times(deadlineNs, durationNs),
      }));
      return fencedResultOf(await executeFenced(face, soundRequest(face, facts, request), waitFor, options), facts);
    },
    configureExecutionBurst: async () => burstFace(face, facts).methods,
    close: () => guard(face).sound.close(),
  };
  if (version < "aidl4") return methods;
  const newer: AIDL4.IPreparedModel = {
    ...methods,
    async configureExecutionBurst() {
      const { methods, withConfig } = burstFace(face, facts);
      return { ...methods, ...withConfig };
    },
    createReusableExecution: async (request, config) => {
      const options = take(() => settingsOfConfig(settings, config));
      return executionFace(await runsOf(face, soundRequest(face, facts, request), options), facts);
    },
    async executeSynchronouslyWithConfig(request, config, deadlineNs) {
      const options = take(() => ({ ...settingsOfConfig(settings, config), ...times(deadlineNs) }));
      return resultOf(await executeNow(face, soundRequest(face, facts, request), options));
    },
    async executeFencedWithConfig(request, waitFor, config, deadlineNs, durationNs) {
      const options = take(() => ({ ...settingsOfConfig(settings, config), ...times(deadlineNs, durationNs) }));
      return fencedResultOf(await executeFenced(face, soundRequest(face, facts, request), waitFor, options), facts);
    },
  };
  return newer;
}

/** Readers of the arguments of executions. They throw for those that are not valid. */
function readersOf({ deadlines }: AidlFacts) {
  return {
    settings(measureTiming: boolean, loopTimeoutDurationNs: bigint): ExecuteOptions {
      if (typeof measureTiming !== "boolean") {
        throw new RangeError(`measureTiming: expected a boolean, got ${show(measureTiming)}`);
      }
      const loopTimeoutDuration = readDuration(loopTimeoutDurationNs, "loopTimeoutDurationNs");
      const measure = measureTiming ? MeasureTiming.YES : MeasureTiming.NO;
      return { measure, ...(loopTimeoutDuration !== undefined && { loopTimeoutDuration }) };
    },
    times(deadlineNs: bigint, durationNs = -1n): Pick<FencedExecuteOptions, "deadline" | "duration"> {
      const deadline = deadlines.read(deadlineNs);
      const duration = readDuration(durationNs, "durationNs");
      return { ...(deadline !== undefined && { deadline }), ...(duration !== undefined && { duration }) };
    },
  };
}

function settingsOfConfig(
  settings: ReturnType<typeof readersOf>["settings"],
  config: AIDL4.ExecutionConfig,
): ExecuteOptions {
  const hints = readHints(config.executionHints, config, "executionHints");
  return { ...settings(config.measureTiming, config.loopTimeoutDurationNs), ...(hints !== undefined && { hints }) };
}

/** The canonical form of a valid request. Throws the exception of one that is not valid. */
function soundRequest({ source }: PreparedModelFaceContext, { version }: AidlFacts, own: AIDL1.Request): Request {
  const request = take(() => readRequest(own));
  const refusal = refuseRequest(request, version, source);
  if (refusal !== undefined) throw exceptionOf(refusal);
  return request;
}

/** Executes a valid request. */
async function executeNow(
  face: PreparedModelFaceContext,
  request: Request,
  options: ExecuteOptions,
): Promise<ExecutionResult> {
  try {
    return await execute(face, request, options);
  } catch (error) {
    throw exceptionOf(failure(`the execution failed: ${messageOf(error)}`));
  }
}

function executeFenced(
  face: PreparedModelFaceContext,
  request: Request,
  waitFor: readonly (SyncFence | null)[],
  options: FencedExecuteOptions,
): Promise<FencedResult> {
  const { sound } = guard(face);
  if (sound.executeFenced === undefined) throw exceptionOf(failure("executeFenced: the device has no fences"));
  return sound.executeFenced(request, waitFor, options);
}

/** The result of an execution, or its exception. Outputs that do not fit are a result. */
function resultOf({ status, message, outputShapes, timing }: ExecutionResult): AIDL1.ExecutionResult {
  if (status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) {
    return { outputSufficientSize: false, outputShapes, timing: unknownTiming };
  }
  raise({ status, ...(message !== undefined && { message }) });
  return { outputSufficientSize: true, outputShapes, timing: writeTiming(timing) };
}

function fencedResultOf(
  { callback, syncFence, ...outcome }: FencedResult,
  { interfaces }: AidlFacts,
): AIDL1.FencedExecutionResult {
  if (callback === null) throw exceptionOf(outcome);
  return {
    syncFence,
    callback: {
      ...interfaces,
      async getExecutionInfo() {
        const { status, timingLaunched, timingFenced } = await callback.getExecutionInfo();
        return { status, timingLaunched: writeTiming(timingLaunched), timingFenced: writeTiming(timingFenced) };
      },
    },
  };
}

/** Lets one run at a time through. Throws the exception of a second one. */
function turnstile(what: string) {
  let underWay = false;
  return {
    enter() {
      if (underWay) throw exceptionOf(failure(`${what}: an execution is under way`));
      underWay = true;
    },
    leave() {
      underWay = false;
    },
  };
}

/** A burst, by version: the methods of AIDL 1, and the one of AIDL 4. It keeps the memories that its client names. */
function burstFace(
  face: PreparedModelFaceContext,
  facts: AidlFacts,
): {
  readonly methods: AIDL1.IBurst;
  readonly withConfig: Pick<AIDL4.IBurst, "executeSynchronouslyWithConfig">;
} {
  const kept = new Map<bigint, Memory>();
  const { settings, times } = readersOf(facts);
  const turns = turnstile("the burst");
  const run = async (own: AIDL1.Request, tokens: readonly bigint[], read: () => ExecuteOptions) => {
    const options = take(read);
    const request = soundRequest(face, facts, own);
    const names = take(() => listOf(tokens, "memoryIdentifierTokens", readMemoryName));
    if (names.length !== request.pools.length) {
      const pools = request.pools.length;
      throw exceptionOf(
        invalid(`memoryIdentifierTokens: expected one for each of ${pools} pools, got ${names.length}`),
      );
    }
    turns.enter();
    try {
      return resultOf(await executeNow(face, withKept(request, names, kept), options));
    } finally {
      turns.leave();
    }
  };
  const methods: AIDL1.IBurst = {
    ...facts.interfaces,
    executeSynchronously: (request, tokens, measureTiming, deadlineNs, loopTimeoutDurationNs) =>
      run(request, tokens, () => ({ ...settings(measureTiming, loopTimeoutDurationNs), ...times(deadlineNs) })),
    releaseMemoryResource(token) {
      kept.delete(take(() => readMemoryName(token, "memoryIdentifierToken")));
    },
    close: () => kept.clear(),
  };
  const withConfig: Pick<AIDL4.IBurst, "executeSynchronouslyWithConfig"> = {
    executeSynchronouslyWithConfig: (request, tokens, config, deadlineNs) =>
      run(request, tokens, () => ({ ...settingsOfConfig(settings, config), ...times(deadlineNs) })),
  };
  return { methods, withConfig };
}

const noName = -1n;

/** A client's name for a memory. Throws a RangeError for one below -1. */
function readMemoryName(token: bigint, path: string): bigint {
  if (typeof token === "bigint" && token >= noName) return token;
  throw new RangeError(`${path}: expected a bigint >= -1, got ${show(token)}`);
}

/** A request with the memories that the burst has kept in place of those of the same names, which are kept if they are new. */
function withKept(request: Request, names: readonly bigint[], kept: Map<bigint, Memory>): Request {
  const pools = request.pools.map((pool, index) => {
    const name = names[index] ?? noName;
    if (pool.kind !== "memory" || name === noName) return pool;
    const memory = kept.get(name) ?? pool.memory;
    kept.set(name, memory);
    return { kind: "memory", memory } as const;
  });
  return { ...request, pools };
}

/** The runs of a request that was set up. */
interface Runs {
  execute(times: Pick<ExecuteOptions, "deadline">): Promise<ExecutionResult>;
  executeFenced(
    waitFor: readonly (SyncFence | null)[],
    times: Pick<FencedExecuteOptions, "deadline" | "duration">,
  ): Promise<FencedResult>;
  close(): void;
}

/** Sets a valid request up. Of a device that sets none up, each run executes the request anew. */
async function runsOf(face: PreparedModelFaceContext, request: Request, options: ExecuteOptions): Promise<Runs> {
  const { preparedModel, log } = face;
  if (preparedModel.createReusableExecution === undefined) {
    return {
      execute: (times) => executeNow(face, request, { ...options, ...times }),
      executeFenced: (waitFor, times) => executeFenced(face, request, waitFor, { ...options, ...times }),
      close() {},
    };
  }
  const { context, reader } = guard(face);
  const waiting = timedGuard(context.name, context.limits);
  const create = async () => readReusable(await preparedModel.createReusableExecution?.(request, options));
  const fail = (failed: Outcome): ReusableResult => ({ ...failed, execution: null });
  const { execution, ...outcome } = await waiting.call("createReusableExecution", create, fail, {
    drop: ({ execution: late }) => late?.close?.(),
  });
  if (execution === null) throw exceptionOf(outcome);
  const expected = reader.expect(request);
  return {
    execute: (times) =>
      readExecution(async () => execution.execute(times), reader, expected, { ...options, ...times }, context),
    executeFenced(waitFor, times) {
      const refusal = refuseFences(waitFor);
      if (refusal !== undefined) throw exceptionOf(refusal);
      const read = async () => readFencedResult(await execution.executeFenced(waitFor, times), waiting);
      return waiting.call("executeFenced", read, failedFenced, { deadline: context.waitUntil(times.deadline) });
    },
    close: () => closeSafely(execution, log),
  };
}

/** An execution that can be repeated. */
function executionFace(runs: Runs, facts: AidlFacts): AIDL4.IExecution {
  const { times } = readersOf(facts);
  const turns = turnstile("the execution");
  return {
    ...facts.interfaces,
    async executeSynchronously(deadlineNs) {
      const time = take(() => times(deadlineNs));
      turns.enter();
      try {
        return resultOf(await runs.execute(time));
      } finally {
        turns.leave();
      }
    },
    async executeFenced(waitFor, deadlineNs, durationNs) {
      const time = take(() => times(deadlineNs, durationNs));
      turns.enter();
      let fence: SyncFence | null = null;
      try {
        const result = fencedResultOf(await runs.executeFenced(waitFor, time), facts);
        fence = result.syncFence;
        return result;
      } finally {
        if (fence === null) turns.leave();
        else void fence.wait().then(turns.leave, turns.leave);
      }
    },
    close: () => runs.close(),
  };
}
