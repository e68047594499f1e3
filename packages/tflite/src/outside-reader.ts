/**
 * Finds bytes that lie outside of a FlatBuffer, and lists those that are needed. In a browser it is loaded by need. It imports nothing of the
 * reader: that would be in a bundle as a part of its own.
 */
import { describeValue, ensure, fail, quote } from "./error.ts";
import type { Source } from "./flatbuffer/source.ts";
import type { TfliteTensor } from "./model.ts";
import type { ReadingOptions, TfliteNeeds, TfliteOutside, TfliteRange } from "./ranges.ts";
import type { ExternalBufferRow, ModelRow, TensorRow } from "./schema/tables.ts";

/** The only packing that TensorFlow Lite's own loader has. */
const UNPACKED = "unpacked";

/** Finds ranges in what was given. */
interface Finder {
  /** The bytes of a range of the file of the model, or of a group. Throws a TfliteError if they were not given. */
  find(range: TfliteRange, path: string): Uint8Array;
}

function createFinder(given: readonly TfliteOutside[]): Finder {
  const lists = new Map<string | undefined, TfliteOutside[]>();
  for (const each of given) {
    const list = lists.get(each.group);
    if (list === undefined) lists.set(each.group, [each]);
    else list.push(each);
  }
  for (const list of lists.values()) list.sort((one, other) => one.offset - other.offset);
  return {
    find({ group, offset, length }, path) {
      const list = lists.get(group);
      ensure(
        list !== undefined || group === undefined,
        path,
        () => `its bytes are in the external buffers ${quote(group ?? "")}, which were not given`,
        "put that file beside the model, or give it: --external-buffer on the command line, externalBuffers for load",
      );
      const { offset: start = 0, bytes = new Uint8Array(0) } = lastUpTo(list ?? [], offset) ?? {};
      const at = offset - start;
      ensure(length <= bytes.length - at, path, () => {
        const owner = group === undefined ? "what was given of the file" : `what was given of ${quote(group)}`;
        return `${length} bytes at ${offset} lie outside ${owner}, which ends at ${start + bytes.length}`;
      });
      return bytes.subarray(at, at + length);
    },
  };
}

/** The last of a list, which is in order, that begins at a place or before it. */
function lastUpTo(list: readonly TfliteOutside[], offset: number): TfliteOutside | undefined {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = list[middle];
    if (at !== undefined && at.offset <= offset) low = middle + 1;
    else high = middle;
  }
  return list[low - 1];
}

/** Called for an index that is out of range. */
type OnIssue = (path: string, message: string) => void;

/** Finds the bytes of a model outside of its FlatBuffer. */
export interface Beside extends Finder {
  /** The constant of a tensor with an external buffer. */
  external(row: TensorRow, path: string): Pick<TfliteTensor, "external" | "data">;
}

export function openBeside(options: ReadingOptions, row: ModelRow, onIssue: OnIssue): Beside {
  const { find } = createFinder(outsideOption(options));
  const externalOf = externalBuffers(row, onIssue);
  return {
    find,
    external({ buffer, externalBuffer }, path) {
      const external = externalOf(externalBuffer, path);
      if (external === undefined) return {};
      ensure(buffer === 0, path, () => `it has both the buffer ${buffer} and an external buffer`);
      return { external, ...(external.length > 0 && { data: find(external, path) }) };
    },
  };
}

/** The option `outside`, checked. */
function outsideOption({ outside = [] }: ReadingOptions): readonly TfliteOutside[] {
  const isRange = (each: unknown) =>
    typeof each === "object" &&
    each !== null &&
    "offset" in each &&
    Number.isSafeInteger(each.offset) &&
    "bytes" in each &&
    each.bytes instanceof Uint8Array &&
    (!("group" in each) || each.group === undefined || typeof each.group === "string");
  ensure(
    Array.isArray(outside) && outside.every(isRange),
    "options.outside",
    () => `expected a list of { group, offset, bytes }, got ${describeValue(outside)}`,
  );
  return outside;
}

/** The external buffers of a file by id. Throws a TfliteError for an id that two of them have. */
function externalBuffers(
  { externalBuffers = [], externalBufferGroups = [] }: ModelRow,
  onIssue: OnIssue,
): (id: number, path: string) => TfliteRange | undefined {
  const byId = new Map<number, { readonly row: ExternalBufferRow; readonly place: string }>();
  for (const [i, row] of externalBuffers.entries()) {
    const place = `externalBuffers[${i}]`;
    ensure(row.id !== 0, place, () => "its id is 0, which means none");
    ensure(!byId.has(row.id), place, () => `another one has the id ${row.id}, too`);
    byId.set(row.id, { row, place });
  }
  return (id, path) => {
    const found = byId.get(id);
    if (found === undefined) {
      onIssue(`${path}.externalBuffer`, `there is no external buffer with the id ${id}`);
      return undefined;
    }
    const { group, offset, length, packing = UNPACKED } = found.row;
    const { place } = found;
    const name = externalBufferGroups[group];
    if (name === undefined) {
      const message = `there is no external buffer group ${group}; the file has ${externalBufferGroups.length}`;
      onIssue(`${place}.group`, message);
      return undefined;
    }
    ensure(
      packing === "" || packing === UNPACKED,
      `${place}.packing`,
      () => `expected ${quote(UNPACKED)}, got ${quote(packing)}`,
    );
    ensure(Number.isSafeInteger(offset + length), place, () => `${length} bytes at ${offset} are in no file`);
    return { group: name.name ?? "", offset, length };
  };
}

/** Thrown for bytes that are in the file, and not in the part of it that was read, which has to reach to `end`. */
class BeyondRead extends Error {
  readonly end: number;

  constructor(end: number) {
    super(`the FlatBuffer goes on to byte ${end}`);
    this.end = end;
  }
}

/** Returns the ranges that must be read of a file of `size` bytes besides `bytes`, its start. `readRow`: reads its root table. */
export function needsOf(
  bytes: Uint8Array,
  size: number,
  readRow: (beyond: NonNullable<Source["beyond"]>) => ModelRow,
): TfliteNeeds {
  let row: ModelRow;
  try {
    row = readRow((end) => {
      if (end <= size) throw new BeyondRead(end);
    });
  } catch (error) {
    if (!(error instanceof BeyondRead)) throw error;
    return { start: error.end, ranges: [] };
  }
  const ranges: TfliteRange[] = [];
  const behind = (offset: number, length: number, path: string) => {
    if (offset <= 1 || length === 0 || offset + length <= bytes.length) return;
    ensure(offset + length <= size, path, () => `${length} bytes at ${offset} lie outside the file of ${size} bytes`);
    ranges.push({ offset, length });
  };
  for (const [i, { data, offset, size: length }] of (row.buffers ?? []).entries()) {
    if (!data?.length) behind(offset, length, `buffers[${i}]`);
  }
  const externalOf = externalBuffers(row, fail);
  for (const [g, { tensors = [], operators = [] }] of (row.subgraphs ?? []).entries()) {
    for (const [i, { customOptions, ...operator }] of operators.entries()) {
      const { largeCustomOptionsOffset: offset, largeCustomOptionsSize: length } = operator;
      if (customOptions === undefined) behind(offset, length, `subgraphs[${g}].operators[${i}].customOptions`);
    }
    for (const [i, { externalBuffer }] of tensors.entries()) {
      const external = externalBuffer === 0 ? undefined : externalOf(externalBuffer, `subgraphs[${g}].tensors[${i}]`);
      if (external !== undefined && external.length > 0) ranges.push(external);
    }
  }
  return { start: bytes.length, ranges: join(ranges) };
}

/** Ranges by group and offset; those that overlap are one. */
function join(ranges: readonly TfliteRange[]): TfliteRange[] {
  const names = ["", ...new Set(ranges.flatMap(({ group }) => group ?? []))];
  const places = new Map(names.map((name, place) => [name, place]));
  const placeOf = ({ group }: TfliteRange) => (group === undefined ? -1 : (places.get(group) ?? 0));
  const result: TfliteRange[] = [];
  for (const range of [...ranges].sort((one, other) => placeOf(one) - placeOf(other) || one.offset - other.offset)) {
    const last = result.at(-1);
    const end = (last?.offset ?? 0) + (last?.length ?? 0);
    if (last !== undefined && last.group === range.group && range.offset < end) {
      const length = Math.max(end, range.offset + range.length) - last.offset;
      result[result.length - 1] = { ...last, length };
    } else result.push(range);
  }
  return result;
}
