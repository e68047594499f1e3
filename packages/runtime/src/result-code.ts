/**
 * The error that carries a result code of the NNAPI.
 */
import { convertErrorStatusToResultCode, ResultCode } from "@nnhal/utils";

export { convertErrorStatusToResultCode, ResultCode };

/** The failure of a call. `code`: the NNAPI's result code. `message`: what was attempted and why it failed. */
export class NeuralNetworksError extends Error {
  override readonly name = "NeuralNetworksError";
  readonly code: ResultCode;

  constructor(code: ResultCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Throws a NeuralNetworksError with a code unless the condition holds. */
export function expect(condition: boolean, code: ResultCode, message: () => string): asserts condition {
  if (!condition) throw new NeuralNetworksError(code, message());
}
