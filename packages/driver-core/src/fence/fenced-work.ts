/** Work whose end a fence and a callback report (HAL 1.3 IPreparedModel.executeFenced). */
import { ErrorStatus, type ExecutionInfo, type FencedResult } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { failure, messageOf } from "../guard/refusal.ts";
import { createFence } from "./fence.ts";

const unknown = { timingLaunched: notMeasured, timingFenced: notMeasured };

/** Work that has started. */
export interface FencedWork {
  readonly answer: FencedResult;
  /** Resolves when the work has ended; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Starts work. Its fence is signalled if the work succeeds, and fails otherwise. Outputs are fully specified, so that
 * an output that is too small is a failure.
 */
export function startFenced(work: () => Promise<ExecutionInfo>): FencedWork {
  const { fence, signal, fail } = createFence();
  let info: ExecutionInfo = { ...failure("the execution has not ended yet"), ...unknown };
  const run = async () => {
    try {
      const ended = await work();
      const isShort = ended.status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
      info = isShort ? { ...ended, status: ErrorStatus.GENERAL_FAILURE } : ended;
    } catch (error) {
      info = { ...failure(`executing: ${messageOf(error)}`), ...unknown };
    }
    if (info.status === ErrorStatus.NONE) signal();
    else fail();
  };
  const callback = { getExecutionInfo: async () => info };
  return { answer: { status: ErrorStatus.NONE, syncFence: fence, callback }, ended: run() };
}
