/**
 * Statuses of the HAL and result codes of the NNAPI, and the results that an execution may return with each status.
 */
import { ErrorStatus, errorStatusNames, type OutputShape, TIMING_NOT_MEASURED, type Timing } from "@nnhal/types";

/** Outcomes of an NNAPI call (NeuralNetworks.h, ResultCode). */
export const ResultCode = {
  NO_ERROR: 0,
  OUT_OF_MEMORY: 1,
  INCOMPLETE: 2,
  UNEXPECTED_NULL: 3,
  BAD_DATA: 4,
  OP_FAILED: 5,
  BAD_STATE: 6,
  UNMAPPABLE: 7,
  OUTPUT_INSUFFICIENT_SIZE: 8,
  UNAVAILABLE_DEVICE: 9,
  MISSED_DEADLINE_TRANSIENT: 10,
  MISSED_DEADLINE_PERSISTENT: 11,
  RESOURCE_EXHAUSTED_TRANSIENT: 12,
  RESOURCE_EXHAUSTED_PERSISTENT: 13,
  DEAD_OBJECT: 14,
} as const;
export type ResultCode = (typeof ResultCode)[keyof typeof ResultCode];

const resultCodes: Readonly<Record<ErrorStatus, ResultCode>> = {
  [ErrorStatus.NONE]: ResultCode.NO_ERROR,
  [ErrorStatus.DEVICE_UNAVAILABLE]: ResultCode.UNAVAILABLE_DEVICE,
  [ErrorStatus.GENERAL_FAILURE]: ResultCode.OP_FAILED,
  [ErrorStatus.OUTPUT_INSUFFICIENT_SIZE]: ResultCode.OUTPUT_INSUFFICIENT_SIZE,
  [ErrorStatus.INVALID_ARGUMENT]: ResultCode.BAD_DATA,
  [ErrorStatus.MISSED_DEADLINE_TRANSIENT]: ResultCode.MISSED_DEADLINE_TRANSIENT,
  [ErrorStatus.MISSED_DEADLINE_PERSISTENT]: ResultCode.MISSED_DEADLINE_PERSISTENT,
  [ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT]: ResultCode.RESOURCE_EXHAUSTED_TRANSIENT,
  [ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT]: ResultCode.RESOURCE_EXHAUSTED_PERSISTENT,
};

const errorStatuses: Readonly<Record<ResultCode, ErrorStatus>> = {
  [ResultCode.NO_ERROR]: ErrorStatus.NONE,
  [ResultCode.OUT_OF_MEMORY]: ErrorStatus.GENERAL_FAILURE,
  [ResultCode.INCOMPLETE]: ErrorStatus.GENERAL_FAILURE,
  [ResultCode.UNEXPECTED_NULL]: ErrorStatus.INVALID_ARGUMENT,
  [ResultCode.BAD_DATA]: ErrorStatus.INVALID_ARGUMENT,
  [ResultCode.OP_FAILED]: ErrorStatus.GENERAL_FAILURE,
  [ResultCode.BAD_STATE]: ErrorStatus.GENERAL_FAILURE,
  [ResultCode.UNMAPPABLE]: ErrorStatus.GENERAL_FAILURE,
  [ResultCode.OUTPUT_INSUFFICIENT_SIZE]: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
  [ResultCode.UNAVAILABLE_DEVICE]: ErrorStatus.DEVICE_UNAVAILABLE,
  [ResultCode.MISSED_DEADLINE_TRANSIENT]: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
  [ResultCode.MISSED_DEADLINE_PERSISTENT]: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
  [ResultCode.RESOURCE_EXHAUSTED_TRANSIENT]: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT,
  [ResultCode.RESOURCE_EXHAUSTED_PERSISTENT]: ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT,
  [ResultCode.DEAD_OBJECT]: ErrorStatus.GENERAL_FAILURE,
};

/** The NNAPI's result code for a driver's status; OP_FAILED for an unknown number. */
export function convertErrorStatusToResultCode(status: ErrorStatus): ResultCode {
  return resultCodes[status] ?? ResultCode.OP_FAILED;
}

/** The status for a result code of the NNAPI; GENERAL_FAILURE for an unknown number. */
export function convertResultCodeToErrorStatus(resultCode: ResultCode): ErrorStatus {
  return errorStatuses[resultCode] ?? ErrorStatus.GENERAL_FAILURE;
}

/** Returns whether an unchecked value is an ErrorStatus. */
export function isErrorStatus(value: unknown): value is ErrorStatus {
  return typeof value === "number" && errorStatusNames.has(value);
}

/** A Timing without measured durations. */
export const notMeasured: Timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };

/** The answer of an execution. */
export interface ExecutionAnswer {
  readonly status: ErrorStatus;
  readonly outputShapes: readonly OutputShape[];
  readonly timing: Timing;
}

/**
 * Removes the parts of an execution's answer that its status forbids (Utils getExecutionResult): shapes unless the status is NONE
 * or OUTPUT_INSUFFICIENT_SIZE, and durations unless it is NONE. OUTPUT_INSUFFICIENT_SIZE without shapes does not report the
 * needed sizes, and becomes GENERAL_FAILURE.
 */
export function getExecutionResult({ status, outputShapes, timing }: ExecutionAnswer): ExecutionAnswer {
  switch (status) {
    case ErrorStatus.NONE:
      return { status, outputShapes, timing };
    case ErrorStatus.OUTPUT_INSUFFICIENT_SIZE:
      if (outputShapes.length > 0) return { status, outputShapes, timing: notMeasured };
      return { status: ErrorStatus.GENERAL_FAILURE, outputShapes: [], timing: notMeasured };
    default:
      return { status, outputShapes: [], timing: notMeasured };
  }
}
