/** Prepared models of drivers of AIDL, as canonical ones. */
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type FencedResult,
  isAidl,
  MeasureTiming,
  type Memory,
  type Model,
  type Outcome,
  type PreparedModel,
  type Request,
  type ReusableExecution,
} from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { loadOnce, notMeasured, whenCollected } from "@nnhal/utils";
import { hasFields, show, throwBroken } from "@nnhal/validation";
import { hasMethods, readFencedResult } from "../../guard/answers.ts";
import { attempt, closeSafely, refuseUnreadable } from "../../guard/attempt.ts";
import { failedBurst, failedExecution, failedFenced, failedInfo } from "../../guard/failed.ts";
import { timedGuard } from "../../guard/guard.ts";
import { writeHints } from "../../guard/hints.ts";
import { invalid } from "../../guard/refusal.ts";
import { soundStatus } from "../callback.ts";
import {
  guardPreparedModel,
  modelAnswerReader,
  readExecution,
  refuseShape,
  refuseTimes,
} from "../guard-prepared-model.ts";
import type { LiftContext } from "../lift-context.ts";
import { outcomeOf } from "./exceptions.ts";
import { type DeadlineConverter, readTiming, writeDuration } from "./time.ts";
import { conversionsToAidl, requestLosses } from "./write.ts";

const bursts = loadOnce(() => import("../../burst/server.ts"));

type Context = LiftContext<AIDL1.IPreparedModel>;

/** Makes a canonical prepared model of a driver's. `model`: its model; undefined if it came from a cache. */
export function liftAidlModel(
  own: AIDL1.IPreparedModel,
  model: Model | undefined,
  context: Context,
  deadlines: DeadlineConverter,
): PreparedModel {
  const { name, driver, limits, log } = context;
  const { version } = driver;
  if (!isAidl(version)) throw new RangeError(`lifting ${name}: expected a version of AIDL, got ${version}`);
  const to = conversionsToAidl(version);
  const newer = version >= "aidl4" && isAidl4(own) ? own : undefined;
  let closed = false;
  const refusalOf = (request: Request): Outcome | undefined => {
    if (closed) return invalid("the prepared model is closed");
    const lost = requestLosses(request, version).find(({ harmless }) => !harmless);
    // A value that AIDL has not is not valid for any device behind it.
    return lost && invalid(`execute: ${name} is of HAL ${version}: ${lost.message}`);
  };
  const dropHints = ({ hints }: ExecuteOptions) => {
    if (hints !== undefined && newer === undefined) log("execute: hints need HAL aidl4, and are left out");
  };
  const reader = modelAnswerReader(model, context.extensions);
  const guarding = { ...context, mayOmitShapes: true };
  const lifted: PreparedModel = {
    async execute(request, options = {}) {
      const refusal = refusalOf(request);
      if (refusal !== undefined) return failedExecution(refusal);
      dropHints(options);
      const { value } = to.request(request, log);
      const time = deadlines.write(options.deadline);
      return executeOrRefuse(() => {
        if (newer !== undefined && options.hints !== undefined) {
          return newer.executeSynchronouslyWithConfig(value, configOf(options), time);
        }
        const loopTimeout = writeDuration(options.loopTimeoutDuration);
        return own.executeSynchronously(value, isMeasured(options), time, loopTimeout);
      });
    },
    async executeFenced(request, waitFor, options = {}) {
      const refusal = refusalOf(request);
      if (refusal !== undefined) return failedFenced(refusal);
      dropHints(options);
      const { value } = to.request(request, log);
      const time = deadlines.write(options.deadline);
      const duration = writeDuration(options.duration);
      return launchedFenced(() => {
        if (newer !== undefined && options.hints !== undefined) {
          return newer.executeFencedWithConfig(value, waitFor, configOf(options), time, duration);
        }
        const loopTimeout = writeDuration(options.loopTimeoutDuration);
        return own.executeFenced(value, waitFor, isMeasured(options), time, loopTimeout, duration);
      });
    },
    async configureExecutionBurst(callback, requestChannel, resultChannel) {
      if (closed) return failedBurst(invalid("the prepared model is closed"));
      let burst: AIDL1.IBurst;
      try {
        burst = await own.configureExecutionBurst();
        if (!hasMethods(burst, "executeSynchronously", "releaseMemoryResource")) throwBroken(`answered ${show(burst)}`);
      } catch (error) {
        return failedBurst(outcomeOf(error));
      }
      // A bundle for a browser loads them when they are used, as a device does.
      const { configureExecutionBurst } = await bursts();
      const within = burstExecutor(burst, (request) => to.request(request, log).value, deadlines);
      const served = guardPreparedModel({ execute: within, close: () => {} }, reader, guarding);
      const result = configureExecutionBurst(served, callback, requestChannel, resultChannel, {
        now: limits.now,
        timer: limits.timer,
        log: (message) => log(`${name}: burst: ${message}`),
      });
      const close = () => closeSafely(burst, (message) => log(`${name}: ${message}`));
      if (result.context === null) close();
      else void result.context.ended.then(close);
      return result;
    },
    close() {
      if (closed) return;
      closed = true;
      return own.close?.();
    },
  };
  const sound = guardPreparedModel(lifted, reader, guarding);
  if (newer === undefined) return sound;
  return {
    ...sound,
    async createReusableExecution(request, options = {}) {
      const refusal = refuseUnreadable(
        () => refuseShape(request) ?? refuseTimes(options, "loopTimeoutDuration") ?? refusalOf(request),
      );
      if (refusal !== undefined) return { ...refusal, execution: null };
      const method = "createReusableExecution";
      const create = async () => {
        const { value } = to.request(request, log);
        const execution = await newer.createReusableExecution(value, configOf(options));
        if (!hasMethods(execution, "executeSynchronously", "executeFenced"))
          throwBroken("answered without an execution");
        const expected = reader.expect(request);
        const run = (call: () => Promise<unknown>, { deadline }: Pick<ExecuteOptions, "deadline">) =>
          readExecution(call, reader, expected, { ...options, deadline }, guarding);
        return { status: ErrorStatus.NONE, execution: liftExecution(execution, run, context, deadlines) };
      };
      const catchError = () => create().catch((error) => ({ ...outcomeOf(error), execution: null }));
      return timedGuard(name, limits).call(method, catchError, (failed) => ({ ...failed, execution: null }), {
        drop: ({ execution }) => execution?.close?.(),
      });
    },
  };
}

/** A reusable execution of a driver. `run`: waits for a run and reads its result. */
function liftExecution(
  own: AIDL4.IExecution,
  run: (call: () => Promise<unknown>, options: Pick<ExecuteOptions, "deadline">) => Promise<ExecutionResult>,
  { name, limits, waitUntil, log }: Context,
  deadlines: DeadlineConverter,
): ReusableExecution {
  const guard = timedGuard(name, limits);
  return {
    async execute(options = {}) {
      const refusal = refuseUnreadable(() => refuseTimes(options, "deadline"));
      if (refusal !== undefined) return failedExecution(refusal);
      return run(() => executeOrRefuse(() => own.executeSynchronously(deadlines.write(options.deadline))), options);
    },
    async executeFenced(waitFor, options = {}) {
      const refusal = refuseUnreadable(() => refuseTimes(options, "deadline", "duration"));
      if (refusal !== undefined) return failedFenced(refusal);
      const { deadline, duration } = options;
      const launch = () => own.executeFenced(waitFor, deadlines.write(deadline), writeDuration(duration));
      const read = async () => readFencedResult(await launchedFenced(launch), guard);
      return guard.call("executeFenced", read, failedFenced, { deadline: waitUntil(deadline) });
    },
    close: () => closeSafely(own, (message) => log(`${name}: ${message}`)),
  };
}

/**
 * Executions of a burst. The service gets a name for each memory, counted from 0, and forgets it when no one can use the memory any more
 * (as Android's client does).
 */
function burstExecutor(
  burst: AIDL1.IBurst,
  write: (request: Request) => AIDL1.Request,
  deadlines: DeadlineConverter,
): PreparedModel["execute"] {
  const names = new WeakMap<Memory, bigint>();
  let next = 0n;
  const nameOf = (memory: Memory) => {
    const known = names.get(memory);
    if (known !== undefined) return known;
    const name = next++;
    names.set(memory, name);
    whenCollected(memory, { burst, name }, release);
    return name;
  };
  return async (request, options = {}) => {
    const tokens = request.pools.map((pool) => (pool.kind === "memory" ? nameOf(pool.memory) : -1n));
    const loopTimeout = writeDuration(options.loopTimeoutDuration);
    const time = deadlines.write(options.deadline);
    return executeOrRefuse(() =>
      burst.executeSynchronously(write(request), tokens, isMeasured(options), time, loopTimeout),
    );
  };
}

function release({ burst, name }: { readonly burst: AIDL1.IBurst; readonly name: bigint }): void {
  attempt(
    "releaseMemoryResource",
    () => burst.releaseMemoryResource(name),
    () => {},
  );
}

function isMeasured({ measure = MeasureTiming.NO }: Pick<ExecuteOptions, "measure">): boolean {
  return measure === MeasureTiming.YES;
}

function configOf(options: Omit<ExecuteOptions, "deadline">): AIDL4.ExecutionConfig {
  const { pairs: executionHints, extensionNameToPrefix } = writeHints(options.hints);
  const loopTimeoutDurationNs = writeDuration(options.loopTimeoutDuration);
  return { measureTiming: isMeasured(options), loopTimeoutDurationNs, executionHints, extensionNameToPrefix };
}

/** An execution: the result, or what its exception stands for. The caller checks the shapes. */
async function executeOrRefuse(call: () => Promise<AIDL1.ExecutionResult>): Promise<ExecutionResult> {
  try {
    const result = await call();
    if (!hasFields(result)) return throwBroken(`answered ${show(result)}`);
    const { outputSufficientSize, outputShapes, timing } = result;
    if (outputSufficientSize === true) return { status: ErrorStatus.NONE, outputShapes, timing: readTiming(timing) };
    if (outputSufficientSize !== false)
      return throwBroken(`answered ${show(outputSufficientSize)} as outputSufficientSize`);
    return { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, outputShapes, timing: notMeasured };
  } catch (error) {
    return failedExecution(outcomeOf(error));
  }
}

/** The launch of a fenced execution. */
async function launchedFenced(call: () => Promise<AIDL1.FencedExecutionResult>): Promise<FencedResult> {
  try {
    const { callback, syncFence } = await call();
    if (!hasMethods(callback, "getExecutionInfo")) return throwBroken("answered without a callback");
    const info = async () => {
      try {
        const { status, timingLaunched, timingFenced } = await callback.getExecutionInfo();
        if (status !== ErrorStatus.NONE) return failedInfo({ status: soundStatus(status) });
        return { status, timingLaunched: readTiming(timingLaunched), timingFenced: readTiming(timingFenced) };
      } catch (error) {
        return failedInfo(outcomeOf(error));
      }
    };
    return { status: ErrorStatus.NONE, syncFence, callback: { getExecutionInfo: info } };
  } catch (error) {
    return failedFenced(outcomeOf(error));
  }
}

function isAidl4(own: AIDL1.IPreparedModel): own is AIDL4.IPreparedModel {
  return "createReusableExecution" in own;
}
