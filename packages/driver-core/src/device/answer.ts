/**
 * The HAL's answers to an execution: shapes only with NONE and OUTPUT_INSUFFICIENT_SIZE, timing only with NONE and if
 * measured.
 */
import type { RunResult } from "@nnhal/backend";
import { ErrorStatus, type ExecutionResult, TIMING_NOT_MEASURED, type Timing } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";

/** The answer of a run. `timeInDriver`: nanoseconds, if measured. */
export function answer(
  { status, message, outputShapes, timeOnDevice }: RunResult,
  timeInDriver: bigint | undefined,
): ExecutionResult {
  const hasShapes = status === ErrorStatus.NONE || status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
  const isTimed = status === ErrorStatus.NONE && timeInDriver !== undefined;
  const timing = isTimed ? timingOf(timeOnDevice, timeInDriver) : notMeasured;
  const shapes = hasShapes ? outputShapes : [];
  return message === undefined
    ? { status, outputShapes: shapes, timing }
    : { status, message, outputShapes: shapes, timing };
}

/** Nanoseconds as the HAL's microseconds. The time on the device is not longer than the time in the driver. */
export function timingOf(timeOnDevice: bigint | undefined, timeInDriver: bigint): Timing {
  const inDriver = timeInDriver / 1000n;
  if (timeOnDevice === undefined) return { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: inDriver };
  const onDevice = timeOnDevice / 1000n;
  return { timeOnDevice: onDevice < inDriver ? onDevice : inDriver, timeInDriver: inDriver };
}
