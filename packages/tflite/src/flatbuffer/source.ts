/**
 * Checked reads from a FlatBuffer: each offset is checked before use, and a budget bounds the work that parts which overlap can
 * cause.
 */
import { ensure } from "../error.ts";

/** A file being read. */
export interface Source {
  readonly bytes: Uint8Array;
  readonly values: DataView;
  /** Called to get bytes up to `end`, which are not there: `bytes` may be the start of a file. It may throw. */
  readonly beyond: ((end: number) => void) | undefined;
  /** The bytes that may still be read as tables, strings and vectors. */
  budget: number;
}

/**
 * Greatest average number of reads of a byte. Writers sometimes share a string or a vector; a file that shares more than this is made
 * to slow its reader down.
 */
const MOST_PASSES = 4;

/** The cost of a table beside its own bytes, which bounds many small tables in one place, too. */
export const TABLE_COST = 16;

/** Opens a file for checked reading. */
export function openSource(bytes: Uint8Array, beyond?: Source["beyond"]): Source {
  const values = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes, values, beyond, budget: bytes.length * MOST_PASSES };
}

/** Returns true if there are bytes up to `end`. */
function hasBytes({ bytes, beyond }: Source, end: number): boolean {
  if (end > bytes.length) beyond?.(end);
  return end <= bytes.length;
}

/** Refuses unless `size` bytes from `at` lie in the file. */
export function checkRange(source: Source, at: number, size: number, path: string): void {
  ensure(
    Number.isSafeInteger(at) && at >= 0 && size >= 0 && hasBytes(source, at + size),
    path,
    () => `bytes ${at} to ${at + size} lie outside the file of ${source.bytes.length} bytes`,
  );
}

/** Refuses when the file makes its reader do more work than its size warrants. */
export function spend(source: Source, size: number, path: string): void {
  source.budget -= size;
  ensure(
    source.budget >= 0,
    path,
    () => `parts of the file overlap: reading them takes more than ${MOST_PASSES} passes`,
  );
}

/** Follows the 32-bit offset at `at`. */
export function follow(source: Source, at: number, path: string): number {
  checkRange(source, at, 4, path);
  const offset = source.values.getUint32(at, true);
  ensure(offset > 0, path, () => "an offset is 0");
  const target = at + offset;
  checkRange(source, target, 4, path);
  return target;
}

/** The position and number of elements of the vector that the offset at `at` refers to. Their bytes are in the file. */
export function vectorAt(
  source: Source,
  at: number,
  elementSize: number,
  path: string,
): { start: number; count: number } {
  const target = follow(source, at, path);
  const count = source.values.getUint32(target, true);
  const start = target + 4;
  ensure(
    hasBytes(source, start + count * elementSize),
    path,
    () =>
      `a vector of ${count} elements of ${elementSize} bytes does not fit in the file of ${source.bytes.length} bytes`,
  );
  return { start, count };
}
