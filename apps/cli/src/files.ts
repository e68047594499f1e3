/**
 * Reads and writes the user's files. Each problem is one line with the purpose of the file. Anything but a regular file
 * is refused with its kind, without waiting for it.
 */
import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CommandError, messageOf, usageError } from "./failure.ts";

/** The path of a file that the command line names. */
export function pathFrom(cwd: string, path: string): string {
  return resolve(cwd, path);
}

/** Options of reading a file. */
export interface ReadOptions {
  /** Purpose of the file, such as `model`. */
  readonly what: string;
  readonly cwd: string;
  /** The most bytes that make sense, and why more do not. */
  readonly most?: { readonly bytes: number; readonly reason: string };
  /** Receives the first bytes before the others are read. What it throws ends the reading. */
  readonly onStart?: (start: Uint8Array) => void;
}

/** The opening of a pipe waits for its other end unless this is set. Windows has no such flag, and no such pipes. */
const withoutWaiting = constants.O_NONBLOCK ?? 0;

/** Bytes that tell what a file is. */
const START_BYTES = 4096;

/** The bytes of a file. Rejects with a usage error if it is missing, is not a regular file, or is too large. */
export async function readUserFile(path: string, { what, cwd, most, onStart }: ReadOptions): Promise<Uint8Array> {
  const name = `${what} ${path}`;
  let handle: FileHandle | undefined;
  try {
    handle = await open(pathFrom(cwd, path), constants.O_RDONLY | withoutWaiting);
    const status = await handle.stat();
    // A folder has no bytes, and a device or pipe may never end.
    if (!status.isFile()) throw usageError(`the ${name} is ${kindOf(status)}, not a regular file`);
    if (most !== undefined && status.size > most.bytes) {
      throw usageError(`the ${name} has ${status.size} bytes, ${most.reason}`);
    }
    if (onStart !== undefined) {
      const start = new Uint8Array(START_BYTES);
      const { bytesRead } = await handle.read(start, 0, START_BYTES, 0);
      onStart(start.subarray(0, bytesRead));
    }
    return new Uint8Array(await handle.readFile());
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const isAddress = /^[a-z]{2,}:\/\//i.test(path);
    const reason = isAddress
      ? "it is an address, and the command line takes paths; download it first"
      : reasonOf(error);
    throw usageError(`cannot read the ${name}: ${reason}`, error);
  } finally {
    await handle?.close();
  }
}

/** Throws a usage error if the path exists and is not of one of the kinds. A missing path is accepted. */
export async function ensureKind(path: string, what: string, kinds: "file" | "file or folder"): Promise<void> {
  const status = await stat(path).catch(() => undefined);
  if (status === undefined || status.isFile() || (kinds === "file or folder" && status.isDirectory())) return;
  throw usageError(`the ${what} is ${kindOf(status)}, not a ${kinds}`);
}

/** Writes a file that a user names. Rejects with a usage error if that is not possible. */
export async function writeUserFile(path: string, content: string | Uint8Array, cwd: string): Promise<void> {
  let reader: FileHandle | undefined;
  try {
    const file = pathFrom(cwd, path);
    const status = await stat(file).catch(() => undefined);
    // Writing to a pipe waits until a process reads it. Opened in this way it fails if there is none.
    if (status?.isFIFO()) reader = await open(file, constants.O_WRONLY | withoutWaiting);
    await writeFile(file, content);
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    await reader?.close();
  }
}

/**
 * Writes a file whose name this program chose, in a folder that a user names. Unlike one that the user names, it must not be a link, which
 * another user may have put there: its target is not written. Rejects with a usage error.
 */
export async function writeChosenFile(path: string, content: string | Uint8Array, cwd: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC } = constants;
  const noLinks = constants.O_NOFOLLOW ?? 0;
  try {
    const handle = await open(pathFrom(cwd, path), O_WRONLY | O_CREAT | O_TRUNC | withoutWaiting | noLinks);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isSystemError(error) && error.code === "ELOOP")
      throw usageError(`cannot write ${path}: it is a symbolic link`, error);
    throw unwritable(path, error);
  }
}

/** Replaces a file that a user names at once: a reader finds the old content or the new. A link is replaced, not followed. */
export async function replaceUserFile(path: string, content: string, cwd: string): Promise<void> {
  const file = pathFrom(cwd, path);
  const draft = `${file}.${randomUUID()}.part`;
  try {
    // Refuses a name that is there, which may be a link.
    await writeFile(draft, content, { flag: "wx" });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw unwritable(path, error);
  }
}

/** Rejects with a usage error if a file that is written after long work has no folder, or is one. Nothing is written. */
export async function ensureWritable(path: string, cwd: string): Promise<void> {
  const file = pathFrom(cwd, path);
  try {
    const status = await stat(file).catch(() => undefined);
    // With the point at its end, the path is one of a folder only.
    if (status === undefined) await access(`${dirname(file)}/.`, constants.W_OK);
    else if (status.isDirectory()) throw usageError(`cannot write ${path}: ${reasons.EISDIR}`);
    else await access(file, constants.W_OK);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** True if a file could not be read because there is none of that name. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof CommandError && isSystemError(error.cause) && error.cause.code === "ENOENT";
}

/** Error for a file that cannot be written: a usage error with the reason. */
export function unwritable(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  const reason = error.code === "ENOENT" ? "there is no such folder" : reasonOf(error);
  return usageError(`cannot write ${path}: ${reason}`, error);
}

/** Type of what a path leads to, in words. */
function kindOf(status: Stats): string {
  if (status.isDirectory()) return "a folder";
  if (status.isFIFO()) return "a pipe";
  return status.isSocket() ? "a socket" : "a device";
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EEXIST: "there is a file of that name",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its links lead in a circle",
  EPIPE: "no process reads it any more",
  ENXIO: "it is a pipe or socket without a process at its other end",
  ERR_FS_FILE_TOO_LARGE: "it is larger than 2 GiB",
  ERR_INVALID_ARG_VALUE: "the name is not valid",
};

/** Reason of a fault of a file, in words. */
export function reasonOf(error: unknown): string {
  return (isSystemError(error) ? reasons[error.code] : undefined) ?? messageOf(error);
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
