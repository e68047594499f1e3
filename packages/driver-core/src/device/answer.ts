/**
 * The HAL's answers to an execution: shapes only with NONE and OUTPUT_INSUFFICIENT_SIZE, timing only with NONE and if
 * measured.
 */
import type { RunResult } from "@nnhal/backend";
import { ErrorStatus, type ExecutionResult, type Request, TIMING_NOT_MEASURED, type Timing } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { CheckedAnswer } from "../guard/checked-answer.ts";

/** The answer of a run to a request. `timeInDriver`: nanoseconds, if measured. */
export function answer(
  request: Request,
  { status, message, outputShapes, timeOnDevice }: RunResult,
  timeInDriver: bigint | undefined,
): ExecutionResult {
  if (status === ErrorStatus.NONE) {
    const timing = timeInDriver === undefined ? notMeasured : timingOf(timeOnDevice, timeInDriver);
    return new CheckedAnswer(request, outputShapes, timing);
  }
  const shapes = status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE ? outputShapes : [];
  return { status, ...(message !== undefined && { message }), outputShapes: shapes, timing: notMeasured };
}

/** Nanoseconds as the HAL's microseconds. The time on the device is not longer than the time in the driver. */
export function timingOf(timeOnDevice: bigint | undefined, timeInDriver: bigint): Timing {
  const inDriver = timeInDriver / 1000n;
  if (timeOnDevice === undefined) return { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: inDriver };
  const onDevice = timeOnDevice / 1000n;
  return { timeOnDevice: onDevice < inDriver ? onDevice : inDriver, timeInDriver: inDriver };
}
