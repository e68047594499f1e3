/**
 * The error that carries a result code of the NNAPI.
 */
import { convertErrorStatusToResultCode, ResultCode } from "@nnhal/utils";

export { convertErrorStatusToResultCode, ResultCode };

/** A place of a model, such as `main.operations[3]`, and why a call failed there. */
export interface FailedPlace {
  readonly path: string;
  readonly message: string;
}

/** The failure of a call. `code`: the NNAPI's result code. `message`: what was attempted and why it failed. */
export class NeuralNetworksError extends Error {
  override readonly name = "NeuralNetworksError";
  readonly code: ResultCode;
  /** The places of the model that the message is about; empty if it is about others. */
  readonly places: readonly FailedPlace[];

  constructor(code: ResultCode, message: string, places: readonly FailedPlace[] = []) {
    super(message);
    this.code = code;
    this.places = places;
  }
}

/** Throws a NeuralNetworksError with a code unless the condition holds. */
export function expect(condition: boolean, code: ResultCode, message: () => string): asserts condition {
  if (!condition) throw new NeuralNetworksError(code, message());
}
