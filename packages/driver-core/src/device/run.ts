/**
 * Running a launched execution: its turn comes, the backend runs it, and results go to where they last.
 */
import type { RunContext, RunResult } from "@nnhal/backend";
import { ErrorStatus, type ExecuteOptions, LoopTimeoutDurationNs, MeasureTiming } from "@nnhal/types";
import type { Section } from "@nnhal/utils";
import { bindInputs, bindOutputs, growOutputs, settle, shortOutput } from "./bind.ts";
import type { DeviceContext } from "./device.ts";
import { checkInputs, isDeviceBuffer, type Launch } from "./launch.ts";
import type { ModelRecord } from "./record.ts";
import { failure, messageOf } from "./refusal.ts";

/** Runs more than once only while outputs of unknown shape outgrow their device buffers. */
const mostRuns = 4;

const late: RunResult = {
  status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
  message: "the deadline had passed before the execution",
  outputShapes: [],
};

const gone: RunResult = {
  status: ErrorStatus.DEVICE_UNAVAILABLE,
  message: "the client was closed before the execution",
  outputShapes: [],
};

/** Runs an execution when its turn comes. Never rejects. */
export async function run(
  record: ModelRecord,
  launched: Launch,
  options: ExecuteOptions,
  section: Section,
  context: DeviceContext,
): Promise<RunResult> {
  const { scheduler, client } = context;
  if (client.isClosed) return settle(launched, gone);
  retain(launched);
  try {
    if (!scheduler.tryEnter()) {
      const { priority } = record;
      const { deadline } = options;
      const work = { client, priority, ...(deadline !== undefined && { deadline }) };
      if (!(await scheduler.enter(work))) return settle(launched, client.isClosed ? gone : late);
    }
    try {
      const inputs = inputsNow(record, launched, options, context);
      if ("status" in inputs) return settle(launched, inputs);
      const runContext = contextOf(options, section, context);
      for (let runs = 1; ; runs++) {
        const outputs = bindOutputs(record, launched);
        const short = shortOutput(record, launched, outputs);
        if (short !== undefined) return settle(launched, short);
        const result = await record.executable.run(inputs, outputs, runContext);
        if (runs === mostRuns || !growOutputs(launched, result)) return settle(launched, result);
      }
    } finally {
      scheduler.leave();
    }
  } catch (error) {
    return settle(launched, { ...failure(`executing: ${messageOf(error)}`), outputShapes: [] });
  } finally {
    release(launched);
  }
}

/** The inputs as they are now, or why the execution cannot start. */
function inputsNow(
  record: ModelRecord,
  launched: Launch,
  { deadline }: ExecuteOptions,
  { now }: DeviceContext,
): ReturnType<typeof bindInputs> | RunResult {
  if (deadline !== undefined && now() >= deadline) return late;
  const refusal = launched.isPlain ? undefined : checkInputs(record, launched);
  return refusal === undefined ? bindInputs(record, launched) : { ...refusal, outputShapes: [] };
}

function contextOf(
  { deadline, measure, loopTimeoutDuration = LoopTimeoutDurationNs.DEFAULT }: ExecuteOptions,
  section: Section,
  { name, now, random, temporaryLimit, log, trace }: DeviceContext,
): RunContext {
  const { MAXIMUM } = LoopTimeoutDurationNs;
  return {
    now,
    random,
    ...(deadline !== undefined && { deadline }),
    loopTimeoutDuration: loopTimeoutDuration < MAXIMUM ? loopTimeoutDuration : MAXIMUM,
    ...(temporaryLimit !== undefined && { temporaryLimit }),
    measure: measure === MeasureTiming.YES,
    ...(trace.isOn && { section }),
    ...(log.VLOG_IS_ON("CPUEXE") && { log: (message: string) => log.VLOG("CPUEXE", `${name}: ${message}`) }),
  };
}

/** Whoever closes or loses a device buffer meanwhile does not free what the execution uses. */
function retain({ isPlain, pools }: Launch): void {
  if (isPlain) return;
  for (const pool of pools) if (isDeviceBuffer(pool)) pool.storage.retain();
}

function release({ isPlain, pools }: Launch): void {
  if (isPlain) return;
  for (const pool of pools) if (isDeviceBuffer(pool)) pool.storage.release();
}
