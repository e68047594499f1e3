/**
 * How shape inference and kernels refuse: they throw an OperationError, which the caller turns into a
 * status and a message that names the operation and its place in the model.
 */

/** A model or request that an operation cannot compute. The message names the rule and the actual value. */
export class OperationError extends Error {
  override readonly name = "OperationError";
}

/** Whether an error is an OperationError, also one of another copy of this package, which the package of an extension may bring. */
export function isOperationError(error: unknown): error is OperationError {
  return error instanceof Error && error.name === "OperationError";
}

/** Throws an OperationError unless the condition holds. The message says the rule and the actual value. */
export function ensure(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new OperationError(message());
}
