/**
 * Result codes of the NNAPI and the error that carries one.
 */
import { ErrorStatus } from "@nnhal/types";

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

/** A call that did not succeed. `code` is the NNAPI's, `message` says what was attempted and why it failed. */
export class NeuralNetworksError extends Error {
  override readonly name = "NeuralNetworksError";
  readonly code: ResultCode;

  constructor(code: ResultCode, message: string) {
    super(message);
    this.code = code;
  }
}

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

/** The NNAPI's result code for a driver's status (Utils convertErrorStatusToResultCode). */
export function convertErrorStatusToResultCode(status: ErrorStatus): ResultCode {
  return resultCodes[status];
}

/** Throws a NeuralNetworksError with a code unless the condition holds. */
export function expect(condition: boolean, code: ResultCode, message: () => string): asserts condition {
  if (!condition) throw new NeuralNetworksError(code, message());
}
