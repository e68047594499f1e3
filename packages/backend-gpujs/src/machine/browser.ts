/** Browsers, where WebGPU is a part of the platform, and nothing is installed. */

/** True in a browser. Node.js, Deno and Bun have a `process`. */
export const isBrowser = typeof process === "undefined";

/** Returns whether the browser finds an adapter of WebGPU. */
export async function browserHasGpu(): Promise<boolean> {
  // The types of Node.js lack it.
  const { gpu }: { readonly gpu?: { requestAdapter(): Promise<unknown> } } = Reflect.get(globalThis, "navigator");
  // It is null where the driver or a setting forbids it.
  return (await gpu?.requestAdapter()) != null;
}
