/**
 * Reads what an application names: a file, an address, bytes or a Blob.
 */
import type { ReadingOptions } from "@nnhal/tflite";
import { readLocal } from "#platform";
import { expectAttached, isDetached, joinBytes } from "./bytes.ts";
import { check, NetworkError } from "./error.ts";
import { type LocalReadOptions, MOST_FLATBUFFER, START_BYTES } from "./port.ts";
import { messageOf, oneLine } from "./text.ts";
import { kindOf } from "./values.ts";

/**
 * A path (Node.js), an address (`https:`, `data:`, `blob:`; in a browser relative to the page), a URL (also `file:` in Node.js), bytes, or
 * a Blob or File.
 */
export type Source = string | URL | ArrayBuffer | ArrayBufferView | SharedArrayBuffer | Blob;

/** Options of reading a source. */
export interface ReadOptions extends Omit<LocalReadOptions, "maxBytes"> {
  /** The most bytes. Default: 2 GiB. */
  readonly maxBytes?: number | undefined;
  readonly onProgress?: ((loaded: number, total: number | undefined) => void) | undefined;
}

/** The bytes of a model whose constants may lie outside of its FlatBuffer. */
export interface ModelBytes extends Pick<ReadingOptions, "outside"> {
  /** The file, or as much of its start as the FlatBuffer takes. */
  readonly bytes: Uint8Array;
  /** The part that the bytes are of a container. */
  readonly part?: string;
}

/** Options for reading a model. */
export interface ModelReadOptions extends Pick<ReadOptions, "maxBytes" | "onProgress" | "signal"> {
  /** The files of external buffers by name. */
  readonly externalBuffers?: Readonly<Record<string, Source>> | undefined;
  /** The part of a container. Default: its only model. */
  readonly part?: string | undefined;
}

/** The bytes of a source; those of an array are not copied. Rejects with a NetworkError, or with the reason of the signal. */
export async function readSource(source: Source, what: string, options: ReadOptions = {}): Promise<Uint8Array> {
  const { maxBytes = MOST_FLATBUFFER, signal } = options;
  const isLimit = typeof maxBytes === "number" && maxBytes > 0;
  check(isLimit, "BAD_OPTION", () => `maxBytes: expected a number of bytes above 0, got ${maxBytes}`);
  signal?.throwIfAborted();
  if (ArrayBuffer.isView(source)) {
    expectAttached(source, `the ${what}`);
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  if (
    source instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer !== "undefined" && source instanceof SharedArrayBuffer)
  ) {
    check(!isDetached(source), "WRONG_SIZE", () => `the ${what} was given memory that has been transferred`);
    return new Uint8Array(source);
  }
  if (source instanceof Blob) {
    check(source.size <= maxBytes, "CANNOT_READ", () => `cannot read the ${what}: ${tooLarge(maxBytes)}`);
    return new Uint8Array(await source.arrayBuffer());
  }
  const isName = typeof source === "string" || source instanceof URL;
  check(
    isName,
    "WRONG_TYPE",
    () => `the ${what} is ${kindOf(source)}; give a path, an address, a URL, bytes or a Blob`,
  );
  try {
    const local = await readLocal(source, { ...options, maxBytes });
    signal?.throwIfAborted();
    if (local !== undefined) {
      options.onProgress?.(local.length, local.length);
      return local;
    }
    return await fetchBytes(source, maxBytes, options);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NetworkError) throw error;
    throw new NetworkError("CANNOT_READ", `cannot read the ${what}${nameOf(source)}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** The path or address of a source as messages have it, with a space before it; empty for bytes. */
export function nameOf(source: Source): string {
  return typeof source === "string" || source instanceof URL ? ` ${oneLine(String(source)).slice(0, 200)}` : "";
}

function tooLarge(maxBytes: number): string {
  return `it has more than the ${maxBytes} bytes of maxBytes`;
}

async function fetchBytes(
  source: string | URL,
  maxBytes: number,
  { onProgress, onStart, signal }: ReadOptions,
): Promise<Uint8Array> {
  const response = await fetch(source, signal === undefined ? {} : { signal });
  if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  // The length of what is sent, which is packed, says nothing about what is read.
  const isPlain = response.headers.get("content-encoding") === null && Number.isInteger(length);
  const total = isPlain ? length : undefined;
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  const refuse = async (error: unknown = new Error(tooLarge(maxBytes))) => {
    // Ends the transfer. What the server says to that does not matter.
    await reader.cancel().catch(() => {});
    throw error;
  };
  if (total !== undefined && total > maxBytes) await refuse();
  const parts: Uint8Array[] = [];
  let loaded = 0;
  let isNew = onStart !== undefined;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    loaded += part.value.length;
    if (loaded > maxBytes) await refuse();
    if (isNew && loaded >= START_BYTES) {
      isNew = false;
      await onStart?.(joinBytes(parts)).catch(refuse);
    }
    onProgress?.(loaded, total);
  }
  return joinBytes(parts);
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  ENOTDIR: "a part of the path is not a folder",
};

/** Why something cannot be read. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return reasons[code] ?? oneLine(`${messageOf(error)}${cause}`);
}
