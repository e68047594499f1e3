/**
 * Platform functions for browsers: there are no files, and no engines besides those of the bundle.
 */
import { NetworkError } from "./error.ts";
import type { LocalFile, LocalReadOptions } from "./port.ts";

/** A bundler leaves out what is for files. */
export const hasFiles = false;

const wasm = "@nnhal/backend-wasm";

/** A browser has the engines that are a part of the bundle. */
export const knownEngines: readonly string[] = [wasm];

/** Command that installs an engine: there is none here. */
export const installOf: (engine: string) => string = String;

/** There are no files: everything is fetched. */
export async function openLocal(_source: string | URL): Promise<LocalFile | undefined> {
  return undefined;
}

export const readLocal: (source: string | URL, options: LocalReadOptions) => Promise<Uint8Array | undefined> =
  async () => undefined;
export const localBeside: (source: string | URL, name: string) => Promise<string | undefined> = async () => undefined;

/** Loads the engine that belongs to this package, as a file of its own. Names of other modules mean nothing in a bundle. */
export async function loadModule(name: string): Promise<unknown> {
  if (name === wasm) return import("@nnhal/backend-wasm");
  const help = `give the module itself: () => import("${name}")`;
  throw new NetworkError("BAD_OPTION", `"${name}" cannot be loaded by its name in a browser; ${help}`);
}

/** There are no folders. */
export const makeCacheFolder: (folder: string) => void = () => {};

const warned = new Set<string>();

/** Tells the user something once in the life of the page. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  console.warn(message);
}
