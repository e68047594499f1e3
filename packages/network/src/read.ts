/**
 * Reads what an application names: a file, an address, bytes or a Blob.
 */
import { readLocal } from "#platform";
import { joinBytes } from "./bytes.ts";
import { check, NetworkError } from "./error.ts";
import { messageOf, oneLine } from "./text.ts";
import { kindOf } from "./values.ts";

/**
 * A path (Node.js), an address (`https:`, `data:`, `blob:`; in a browser relative to the page), a URL (also `file:` in Node.js), bytes, or
 * a Blob or File.
 */
export type Source = string | URL | ArrayBuffer | ArrayBufferView | SharedArrayBuffer | Blob;

/** How to read. */
export interface ReadOptions {
  readonly onProgress?: ((loaded: number, total: number | undefined) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The bytes of a source; those of an array are not copied. Rejects with a NetworkError, or with the reason of the signal. */
export async function readSource(source: Source, what: string, options: ReadOptions = {}): Promise<Uint8Array> {
  options.signal?.throwIfAborted();
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (
    source instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer !== "undefined" && source instanceof SharedArrayBuffer)
  ) {
    return new Uint8Array(source);
  }
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  const isName = typeof source === "string" || source instanceof URL;
  check(
    isName,
    "WRONG_TYPE",
    () => `the ${what} is ${kindOf(source)}; give a path, an address, a URL, bytes or a Blob`,
  );
  try {
    const local = await readLocal(source);
    options.signal?.throwIfAborted();
    if (local !== undefined) {
      options.onProgress?.(local.length, local.length);
      return local;
    }
    return await fetchBytes(source, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    const text = oneLine(String(source)).slice(0, 200);
    throw new NetworkError("CANNOT_READ", `cannot read the ${what} ${text}: ${reasonOf(error)}`, { cause: error });
  }
}

async function fetchBytes(source: string | URL, { onProgress, signal }: ReadOptions): Promise<Uint8Array> {
  const response = await fetch(source, signal === undefined ? {} : { signal });
  if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  // The length of what is sent, which is packed, says nothing about what is read.
  const isPlain = response.headers.get("content-encoding") === null && Number.isInteger(length);
  const total = isPlain ? length : undefined;
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array(await response.arrayBuffer());
  const parts: Uint8Array[] = [];
  let loaded = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    loaded += part.value.length;
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

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return reasons[code] ?? oneLine(`${messageOf(error)}${cause}`);
}
