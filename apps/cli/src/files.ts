/**
 * Reading the files that a user names: each problem becomes one line that says what the file was for.
 */
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, usageError } from "./failure.ts";

/** Where a path of the command line leads. */
export function pathFrom(cwd: string, path: string): string {
  return resolve(cwd, path);
}

/** How to read a file. */
export interface ReadOptions {
  /** What the file is for, such as `model`. */
  readonly what: string;
  readonly cwd: string;
  /** The most bytes that make sense, and why more do not. */
  readonly most?: { readonly bytes: number; readonly reason: string };
}

/** The bytes of a file. Rejects with a usage error for one that is missing, no regular file, or too large. */
export async function readUserFile(path: string, { what, cwd, most }: ReadOptions): Promise<Uint8Array> {
  const name = `${what} ${path}`;
  let handle: FileHandle | undefined;
  try {
    handle = await open(pathFrom(cwd, path));
    const status = await handle.stat();
    // A folder has no bytes, and a device or pipe may never end.
    if (!status.isFile()) throw usageError(`the ${name} is ${status.isDirectory() ? "a folder" : "no regular file"}`);
    if (most !== undefined && status.size > most.bytes) {
      throw usageError(`the ${name} has ${status.size} bytes, ${most.reason}`);
    }
    return new Uint8Array(await handle.readFile());
  } catch (error) {
    throw isSystemError(error) ? usageError(`cannot read the ${name}: ${reasonOf(error)}`, error) : error;
  } finally {
    await handle?.close();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "a part of the path is no folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
  EEXIST: "there is a file of that name",
  ERR_FS_FILE_TOO_LARGE: "it is larger than 2 GiB",
};

/** What went wrong with a file, in words. */
export function reasonOf(error: unknown): string {
  return (isSystemError(error) ? reasons[error.code] : undefined) ?? messageOf(error);
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
