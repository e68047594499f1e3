/**
 * What differs between platforms, for Node.js: files and installed engines.
 */
import { constants, realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fastEngines, isMissing } from "@nnhal/backend/engines";
import type { LocalReadOptions } from "./port.ts";

/** The engines that are used if they are installed, best first. */
export const knownEngines: readonly string[] = fastEngines.map(({ module }) => module);

/** What npm installs for an engine: its package, and those that it computes with. */
export function installOf(engine: string): string {
  const { needs = [] } = fastEngines.find(({ module }) => module === engine) ?? {};
  return [engine, ...needs].join(" ");
}

/** The opening of a pipe waits for its other end unless this is set. Windows has no such flag, and no such pipes. */
const withoutWaiting = constants.O_NONBLOCK ?? 0;

/**
 * The bytes of a file; undefined if the source is not a file. Rejects with the system's error, or with one that says that the source is not
 * a regular file, since a device or a pipe may never end, or that it has too many bytes.
 */
export async function readLocal(
  source: string | URL,
  { maxBytes, signal }: LocalReadOptions,
): Promise<Uint8Array | undefined> {
  const text = String(source);
  if (typeof source === "string" ? /^(https?|data|blob):/i.test(text) : source.protocol !== "file:") return undefined;
  const path = text.startsWith("file:") ? fileURLToPath(text) : text;
  const handle = await open(path, constants.O_RDONLY | withoutWaiting);
  try {
    const status = await handle.stat();
    if (status.isDirectory()) throw new Error("it is a folder");
    if (!status.isFile()) throw new Error("it is not a regular file, but a device, pipe or socket");
    if (status.size > maxBytes) throw new Error(`it has ${status.size} bytes, more than the ${maxBytes} of maxBytes`);
    return new Uint8Array(await handle.readFile({ signal }));
  } finally {
    await handle.close();
  }
}

/**
 * The module of a file, or of a package: beside this package, else beside the program that runs. undefined if it is not installed. The
 * current folder does not count: its files may come from elsewhere.
 */
export async function loadModule(name: string): Promise<unknown> {
  if (/^(\.{1,2})?[/\\]/.test(name)) return importUnbundled(pathToFileURL(resolve(name)).href);
  try {
    return await importUnbundled(name);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
  }
  const program = programFile(process.argv[1]);
  if (program === undefined) return undefined;
  try {
    return await importUnbundled(pathToFileURL(createRequire(program).resolve(name)).href);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    return undefined;
  }
}

/** Imports what is known only when the program runs. Bundlers cannot know it either, and leave the import as it is. */
function importUnbundled(name: string): Promise<unknown> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);
}

/** The file of the program, where a link to it leads; undefined if it is not a file, such as in `node --eval`. */
export function programFile(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : realpathSync(resolve(path));
  } catch {
    return undefined;
  }
}

const warned = new Set<string>();

/** Tells the user something once in the life of the process. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, "NnhalWarning");
}
