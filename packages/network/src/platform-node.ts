/**
 * Platform functions for Node.js: files and installed engines.
 */
import { constants, mkdirSync, realpathSync } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fastEngines, isMissing } from "@nnhal/backend/engines";
import { NetworkError } from "./error.ts";
import { type LocalFile, type LocalReadOptions, START_BYTES } from "./port.ts";
import { messageOf, oneLine } from "./text.ts";

/** True if a source may be a file. */
export const hasFiles: boolean = true;

/** The engines that are used if they are installed, best first. */
export const knownEngines: readonly string[] = fastEngines.map(({ module }) => module);

/** Packages that npm installs for an engine: its own, and those that it computes with. */
export function installOf(engine: string): string {
  const { needs = [] } = fastEngines.find(({ module }) => module === engine) ?? {};
  return [engine, ...needs].join(" ");
}

/** The opening of a pipe waits for its other end unless this is set. Windows has no such flag, and no such pipes. */
const withoutWaiting = constants.O_NONBLOCK ?? 0;

/** The path of a source; undefined if it is not a file. */
function pathOf(source: string | URL): string | undefined {
  const text = String(source);
  if (typeof source === "string" ? /^(https?|data|blob):/i.test(text) : source.protocol !== "file:") return undefined;
  return text.startsWith("file:") ? fileURLToPath(text) : text;
}

/**
 * Opens a file; undefined if the source is not a file. Rejects with the system's error, or with one that says that the source is not a
 * regular file, since a device or a pipe may never end.
 */
export async function openLocal(source: string | URL): Promise<LocalFile | undefined> {
  const path = pathOf(source);
  if (path === undefined) return undefined;
  const handle = await open(path, constants.O_RDONLY | withoutWaiting);
  try {
    const status = await handle.stat();
    if (status.isDirectory()) throw new Error("it is a folder");
    if (!status.isFile()) throw new Error("it is not a regular file, but a device, pipe or socket");
    return {
      size: status.size,
      async fill(into, from, signal) {
        for (let at = 0; at < into.length; ) {
          signal?.throwIfAborted();
          const { bytesRead } = await handle.read(into, at, Math.min(into.length - at, PORTION), from + at);
          if (bytesRead === 0) throw new Error(`it ended at byte ${from + at} while it was read`);
          at += bytesRead;
        }
      },
      all: async (signal) => new Uint8Array(await handle.readFile({ signal })),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Bytes that are read at once: an abort waits for so many. */
const PORTION = 2 ** 26;

/**
 * The bytes of a file, or what `onFile` returns; undefined if the source is not a file. Rejects as `openLocal` does, or if the file has too
 * many bytes.
 */
export async function readLocal(
  source: string | URL,
  { maxBytes, signal, onStart, onFile }: LocalReadOptions,
): Promise<Uint8Array | undefined> {
  const file = await openLocal(source);
  if (file === undefined) return undefined;
  try {
    const { size } = file;
    const start = new Uint8Array(Math.min(size, START_BYTES));
    await file.fill(start, 0, signal);
    await onStart?.(start);
    const own = await onFile?.(file, start);
    if (own !== undefined) return own;
    if (size > maxBytes) throw new Error(`it has ${size} bytes, more than the ${maxBytes} of maxBytes`);
    return await file.all(signal);
  } finally {
    await file.close();
  }
}

/**
 * The path of a file in the folder of another, or below it; undefined if that is not a file. Rejects if the name leads elsewhere, also by a
 * link.
 */
export async function localBeside(source: string | URL, name: string): Promise<string | undefined> {
  const path = pathOf(source);
  if (path === undefined) return undefined;
  const beside = resolve(dirname(path), name);
  const real = await realpath(beside);
  // A model may be a link itself, and its files links beside it that lead to the same place.
  const folders = await Promise.all([realpath(dirname(path)), realpath(path).then(dirname)]);
  const isInside = folders.some((folder) => real.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`));
  if (!isInside) throw new Error("a link leads out of the folder of the model");
  return beside;
}

/**
 * The module of a file, or of a package: beside this package, else beside the program that runs. undefined if it is not installed. The
 * current folder does not count: its files may come from elsewhere.
 */
export async function loadModule(name: string): Promise<unknown> {
  // It belongs to this package, and so to a bundle.
  if (name === "@nnhal/backend-wasm") return import("@nnhal/backend-wasm");
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

/** Makes the folder of a cache unless it is there. Throws BAD_OPTION if that is not possible, since nothing could be kept. */
export function makeCacheFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const reason = code === "EEXIST" || code === "ENOTDIR" ? "it is not a folder" : oneLine(messageOf(error));
    throw new NetworkError("BAD_OPTION", `cache: the folder ${folder} cannot be made: ${reason}`, { cause: error });
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
