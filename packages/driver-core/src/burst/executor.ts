/** Executions of a burst: each ends within a limit, and a driver's answer is read as the result that a packet can carry. */
import {
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  MeasureTiming,
  type PreparedModel,
  type Request,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { isRecord } from "./calls.ts";
import { type Limits, milliseconds } from "./limits.ts";
import type { BurstRequest } from "./request-codec.ts";
import { type BurstResultPacket, burstStatus } from "./result-codec.ts";
import type { SlotCache } from "./slot-cache.ts";

/** See the file's head. */
export interface BurstExecutor {
  /** Executes a request. `dequeued`: when it left its queue, on the clock of the burst. Throws if the driver throws. */
  execute(request: Request, measure: MeasureTiming, dequeued: bigint): Promise<ExecutionResult>;
  /** Executes a request whose memories are given by slots. */
  executeSlots(request: BurstRequest, dequeued: bigint): Promise<ExecutionResult>;
  /** The result of a request that is not executed, which is logged. Default: GENERAL_FAILURE. */
  refuse(message: string, status?: ErrorStatus): ExecutionResult & { readonly message: string };
}

export function createExecutor(
  preparedModel: Pick<PreparedModel, "execute">,
  cache: Pick<SlotCache, "resolve">,
  { watchdog, request: limit }: Limits,
  now: () => bigint,
  log: (message: string) => void,
): BurstExecutor {
  const late = (): ExecutionResult & { readonly message: string } => ({
    ...failure(ErrorStatus.MISSED_DEADLINE_TRANSIENT),
    message: `the execution did not end within ${milliseconds(limit)}`,
  });
  const refuse = (message: string, status: ErrorStatus = ErrorStatus.GENERAL_FAILURE) => {
    log(message);
    return { ...failure(status), message };
  };
  const execute: BurstExecutor["execute"] = async (request, measure, dequeued) => {
    const result = await watchdog.within(preparedModel.execute(request, { measure }), limit, late);
    // A foreign driver can answer any value.
    if (!isRecord(result) || !Array.isArray(result.outputShapes) || !isRecord(result.timing)) {
      return refuse("the driver answered no output shapes or no times");
    }
    const { status, message = `an execution ended with ${errorStatusNames.get(status)}` } = result;
    if (status !== ErrorStatus.NONE) log(message);
    const packet = packetOf(result, measure === MeasureTiming.YES ? (now() - dequeued) / 1000n : undefined);
    return status === ErrorStatus.NONE ? packet : { ...packet, message };
  };
  return {
    execute,
    async executeSlots({ inputs, outputs, slots, measure }, dequeued) {
      const found = cache.resolve(slots);
      const memories = found instanceof Promise ? await found : found;
      if (memories === undefined) return refuse(`the slots [${slots}] are not all known`, ErrorStatus.INVALID_ARGUMENT);
      const pools = memories.map((memory) => ({ kind: "memory", memory }) as const);
      return execute({ inputs, outputs, pools }, measure, dequeued);
    },
    refuse,
  };
}

/** The result packet of an execution. Its duration starts when the request leaves the queue. */
function packetOf(
  { status, outputShapes, timing }: ExecutionResult,
  microseconds: bigint | undefined,
): BurstResultPacket {
  const hasShapes = status === ErrorStatus.NONE || status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
  const isTimed = status === ErrorStatus.NONE && microseconds !== undefined;
  const timeInDriver = timing.timeInDriver === TIMING_NOT_MEASURED ? TIMING_NOT_MEASURED : (microseconds ?? 0n);
  return {
    status: burstStatus(status),
    outputShapes: hasShapes ? outputShapes : [],
    timing: isTimed ? { timeOnDevice: timing.timeOnDevice, timeInDriver } : notMeasured,
  };
}

function failure(status: ErrorStatus): ExecutionResult {
  return { status, outputShapes: [], timing: notMeasured };
}
