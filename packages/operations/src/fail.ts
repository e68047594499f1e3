/**
 * Errors of shape inference and kernels. They throw an OperationError, which the caller turns into a status and a
 * message that names the operation and its location in the model.
 */

const isInstance = Function.prototype[Symbol.hasInstance];

/** A model or request that an operation cannot compute. The message names the rule and the actual value. */
export class OperationError extends Error {
  override readonly name = "OperationError";

  /** Also true for an error from another copy of this package, which an extension may depend on. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a subclass inherits this function and needs the ordinary check.
    if (this !== OperationError) return isInstance.call(this, value);
    return value instanceof Error && value.name === "OperationError";
  }
}

/** Throws an OperationError unless the condition holds. The message states the rule and the actual value. */
export function ensure(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new OperationError(message());
}
