/**
 * The parts of a container, a `.task` or `.litertlm` file, for `nnhal info`.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { whyNoModel } from "@nnhal/network/tensors";
import { mayHaveParts, TfliteError, type TflitePart, tfliteParts } from "@nnhal/tflite";
import { usageError } from "../failure.ts";
import { pathFrom } from "../files.ts";
import { byteText, columns, oneLine, plain } from "../text.ts";

/** The object that `nnhal info --json` prints for a container. */
export interface PartsJson {
  readonly model: string;
  readonly bytes: number;
  readonly parts: readonly Omit<TflitePart, "read">[];
}

const START_BYTES = 4096;

/**
 * The parts of a container; undefined for any other file, for an archive without a model, and for what cannot be opened. Rejects with a usage error
 * for a broken one.
 */
export async function readParts(path: string, cwd: string): Promise<PartsJson | undefined> {
  // The opening of a pipe waits for its other end unless told not to. Windows has no such flag.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await open(pathFrom(cwd, path), flags).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const status = await handle.stat();
    if (!status.isFile()) return undefined;
    const { size } = status;
    const start = await readRange(handle, 0, Math.min(size, START_BYTES));
    if (!mayHaveParts(start)) return undefined;
    // Archives that other programs make of models are refused by what they are.
    const reason = start[0] === 0x50 ? whyNoModel(start) : undefined;
    if (reason !== undefined && !reason.startsWith("it is a zip archive")) return undefined;
    const parts = await tfliteParts({ size, read: (from, length) => readRange(handle, from, length) });
    if (!parts.some(({ type }) => type === "model")) return undefined;
    return { model: path, bytes: size, parts: parts.map(({ read: _, ...part }) => part) };
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    throw usageError(`the parts of ${path} cannot be read: ${oneLine(error.message)}`, error);
  } finally {
    await handle.close();
  }
}

async function readRange(handle: FileHandle, from: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await handle.read(bytes, at, length - at, from + at);
    if (bytesRead === 0) throw usageError(`the file ended at byte ${from + at} while it was read`);
    at += bytesRead;
  }
  return bytes;
}

/** The report for people. */
export function formatParts({ model, bytes, parts }: PartsJson): string {
  const rows = parts.map(({ name, type, size, offset, packedSize }) => [
    `  ${plain(name)}`,
    type,
    packedSize === undefined ? byteText(size) : `${byteText(size)}, packed ${byteText(packedSize)}`,
    offset === undefined ? "in a packed archive" : `at ${offset}`,
  ]);
  return [...columns([["file", `${basename(model)}, ${byteText(bytes)}`]]), "", "Parts", ...columns(rows), ""].join(
    "\n",
  );
}
