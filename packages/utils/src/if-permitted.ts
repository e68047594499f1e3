/** What runtimes with permissions, such as Deno, may refuse to tell. */

/** What is read; undefined if the runtime refuses it: memory sizes and the environment are optional. */
export function ifPermitted<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
