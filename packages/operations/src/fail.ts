/**
 * How shape inference and kernels refuse: they throw an OperationError, which the caller turns into a
 * status and a message that names the operation and its place in the model.
 */

const isInstance = Function.prototype[Symbol.hasInstance];

/** A model or request that an operation cannot compute. The message names the rule and the actual value. */
export class OperationError extends Error {
  override readonly name = "OperationError";

  /** Also of another copy of this package: an extension that was made with another version may bring one. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // A class that extends this one inherits the function, and is one of its own.
    if (this !== OperationError) return isInstance.call(this, value);
    return value instanceof Error && value.name === "OperationError";
  }
}

/** Throws an OperationError unless the condition holds. The message says the rule and the actual value. */
export function ensure(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new OperationError(message());
}
