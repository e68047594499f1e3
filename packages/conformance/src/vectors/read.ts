/**
 * Vectors on disk: a folder of `*.jsonl.gz` files (or one such file, plain `.jsonl` too), one example per line. Files are
 * streamed, and no line may be longer than a bound, so that a broken file cannot exhaust the memory.
 */
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { createGunzip } from "node:zlib";
import type { Example } from "./example.ts";
import { VectorFormatError } from "./fields.ts";
import { parseExample } from "./parse.ts";

/** A file of examples. */
export interface VectorFile {
  readonly path: string;
  /** The name in messages: relative to the folder that was searched. */
  readonly name: string;
  /** Size on disk in bytes. */
  readonly size: number;
}

/** The longest line that is read, in bytes. */
const LONGEST_LINE = 64 * 1024 * 1024;

/**
 * Finds the vectors files in a folder and below, sorted by name. Rejects with the system's error if `path` does not
 * exist.
 */
export async function findVectorFiles(path: string): Promise<readonly VectorFile[]> {
  const found = await stat(path);
  if (found.isFile()) return [{ path, name: path, size: found.size }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.jsonl(\.gz)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Promise.all(
    paths.map(async (file) => ({ path: file, name: relative(path, file), size: (await stat(file)).size })),
  );
}

/** Reads the examples of a file, in order. Throws VectorFormatError that names the file and the line. */
export async function* readVectorFile(file: VectorFile, longestLine = LONGEST_LINE): AsyncGenerator<Example> {
  let line = 0;
  try {
    for await (const text of readLines(file.path, longestLine)) {
      line++;
      if (text.trim() !== "") yield parseExample(text);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The reader's own errors are about the file as a whole or the line after the last whole one.
    const place = error instanceof VectorFormatError ? `:${line}` : "";
    throw new VectorFormatError(`${file.name}${place}: ${error.message}`, { cause: error });
  }
}

/** Reads the examples of several files. `onFile` is called when one has been read to its end. */
export async function* readVectorFiles(
  files: Iterable<VectorFile>,
  onFile: (file: VectorFile) => void = () => {},
): AsyncGenerator<Example> {
  for (const file of files) {
    yield* readVectorFile(file);
    onFile(file);
  }
}

async function* readLines(path: string, longest: number): AsyncGenerator<string> {
  const source = createReadStream(path);
  const stream = path.endsWith(".gz") ? source.pipe(createGunzip()) : source;
  // pipe does not forward errors: without this a file that cannot be read would never end.
  if (stream !== source) source.on("error", (error) => stream.destroy(error));
  let parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
        yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString("utf8");
        parts = [];
        length = 0;
        start = end + 1;
      }
      parts.push(chunk.subarray(start));
      length += chunk.length - start;
      if (length > longest) throw new Error(`a line is longer than ${longest} bytes`);
    }
    if (length > 0) yield Buffer.concat(parts).toString("utf8");
  } finally {
    source.destroy();
    stream.destroy();
  }
}
