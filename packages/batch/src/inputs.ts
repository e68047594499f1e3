/** The inputs of a batch: the names in a folder or a list, one after the other, so that a million of them need no memory. */
import { constants, type Stats } from "node:fs";
import { open, opendir, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { linesOf } from "./lines.ts";
import { anyPlace, type Places } from "./places.ts";
import { BatchError, messageOf } from "./task.ts";

/** Source of inputs. */
export interface InputSource {
  /** The folder that names are relative to. */
  readonly root: string;
  /** Absolute path of the folder or list. */
  readonly path: string;
  readonly kind: "folder" | "list";
  /** Yields the names. Rejects with a BatchError if the folder or list cannot be read. */
  names(): AsyncIterable<string>;
}

/** Size of an input file and time of its last change: an unchanged file is not read again. */
export interface FileMark {
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly changed: number;
}

/** More than any input needs. */
const mostBytes = 2 ** 29;

/**
 * Opens the inputs of a folder and of the folders in it, in the order of the file system, or of a text with a name on each
 * line, relative to the folder of the text. `isInput`: selects the files of a folder that are inputs. Rejects with a
 * BatchError.
 */
export async function openInputs(path: string, isInput: (name: string) => boolean): Promise<InputSource> {
  const whole = resolve(path);
  const status = await stat(whole).catch((error: unknown) => {
    throw new BatchError(`cannot read the inputs ${path}: ${messageOf(error)}`);
  });
  if (status.isDirectory()) {
    return { root: whole, path: whole, kind: "folder", names: () => describeFiles(path, namesIn(whole, "", isInput)) };
  }
  if (isInput(basename(whole)))
    throw new BatchError(`${path} is an input: give a folder of inputs, or a text that lists them, one a line`);
  return { root: dirname(whole), path: whole, kind: "list", names: () => describeFiles(path, namesOf(whole)) };
}

async function* describeFiles(path: string, names: AsyncIterable<string>): AsyncIterable<string> {
  try {
    yield* names;
  } catch (error) {
    throw new BatchError(`cannot read the inputs ${path}: ${messageOf(error)}`);
  }
}

async function* namesIn(root: string, folder: string, isInput: (name: string) => boolean): AsyncGenerator<string> {
  for await (const entry of await opendir(join(root, folder))) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* namesIn(root, name, isInput);
    else if (isInput(entry.name)) yield name;
  }
}

async function* namesOf(file: string): AsyncGenerator<string> {
  for await (const line of linesOf(file)) if (line.trim() !== "") yield line.trim();
}

/** Returns the path of an input. */
export function inputPath(root: string, name: string): string {
  return isAbsolute(name) ? name : join(root, name);
}

/** Returns the mark of an input file. Rejects with the system's error, or a RangeError. */
export async function markOf(root: string, name: string): Promise<FileMark> {
  return markIn(await stat(inputPath(root, name)));
}

function markIn(status: Stats): FileMark {
  if (!status.isFile()) throw new RangeError("it is not a regular file");
  if (status.size > mostBytes) throw new RangeError(`it has ${status.size} bytes, more than any input needs`);
  return { size: status.size, changed: Math.floor(status.mtimeMs) };
}

/** Opening a pipe waits for its other end unless this is set. Windows has neither this flag nor such pipes. */
const withoutWaiting = constants.O_NONBLOCK ?? 0;

/** Reads the bytes of an input, if reading it is permitted. `places`: default any. Rejects as `markOf` does. */
export async function readInput(root: string, name: string, places: Places = anyPlace): Promise<Uint8Array> {
  const handle = await open(await places.file(inputPath(root, name), root), constants.O_RDONLY | withoutWaiting);
  try {
    markIn(await handle.stat());
    return new Uint8Array(await handle.readFile());
  } finally {
    await handle.close();
  }
}

/** Returns the reason why an input could not be read. */
export function readingProblem(name: string, error: unknown): string {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  return `cannot read the input ${name}: ${isMissing ? "the file does not exist" : messageOf(error)}`;
}
