/** Reads facts that runtimes with permissions, such as Deno, may refuse. */

/**
 * Returns the result of `read`; undefined if the runtime refuses it, because memory sizes and the environment are
 * optional.
 */
export function ifPermitted<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
