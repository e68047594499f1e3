/**
 * Constants whose elements are not stored one after the other: those of less than 8 bits, which are packed, and those that leave out
 * zeros. The import expands them: INT4 and INT2 to one INT8 each, UINT4 to one UINT8, and a sparse constant to all its elements. It widens those
 * of FLOAT16 that a model reads as FLOAT32.
 */
import { elementAt, fromFloat16Bits } from "@nnhal/operations";
import { ensure, listText, type Place } from "../error.ts";
import type { TfliteSparseDimension, TfliteSparsity, TfliteTensor } from "../model.ts";
import { type Packing, packings } from "./packed-types.ts";

/** A file must not exhaust memory by what it leaves out: so many expanded bytes it may have, and so many more for each of its own. */
const FREE_BYTES = 2 ** 26;
const MOST_FOR_EACH_BYTE = 256;
const MOST_BYTES = 2 ** 32 - 1;

/** Expands the constants of a file. */
export interface Expander {
  /** All elements of a packed or sparse constant, `elementSize` bytes each. */
  expand(tensor: TfliteTensor, data: Uint8Array, elementSize: number, place: Place): Uint8Array;
  /** The elements of a FLOAT16 constant as FLOAT32, little-endian. Each constant is widened once. */
  widen(data: Uint8Array, place: Place): Uint8Array;
  /** True if bytes are the elements of a constant that was expanded. */
  has(elements: Uint8Array): boolean;
}

/** Starts the expansion of the constants of a file, which take `stored` bytes. */
export function createExpander(stored: number): Expander {
  let left = Math.min(FREE_BYTES + MOST_FOR_EACH_BYTE * stored, MOST_BYTES);
  /** Tensors may share their data, and their sparsity in a model that was made by hand. */
  const known = new Map<TfliteTensor, Uint8Array>();
  const knownByBuffer = new Map<ArrayBufferLike, Map<string, Uint8Array>>();
  const results = new Set<Uint8Array>();

  function allocate(size: number, place: Place): Uint8Array {
    left -= size;
    ensure(
      left >= 0,
      place,
      () => `to expand it takes ${size} bytes, more than the ${stored} bytes of constants in the file warrant`,
    );
    return new Uint8Array(size);
  }

  function expandStored(tensor: TfliteTensor, data: Uint8Array, elementSize: number, place: Place): Uint8Array {
    const { sparsity, shape, type } = tensor;
    const offsets = sparsity && storedOffsets(sparsity, shape, place);
    const count = offsets === undefined ? product(shape) : offsets.count;
    const packing = packings[type];
    const needed = packing === undefined ? count * elementSize : Math.ceil((count * packing.bits) / 8);
    ensure(
      data.length === needed,
      place,
      () => `${count} stored elements of ${type} take ${needed} bytes, its value has ${data.length}`,
    );
    const elements = packing === undefined ? data : unpack(data, count, packing, (size) => allocate(size, place));
    if (offsets === undefined) return elements;
    const dense = allocate(product(shape) * elementSize, place);
    scatter(elements, offsets.list(), elementSize, dense);
    return dense;
  }

  /** The elements that were made for a key before; else makes them. */
  function once<Key>(all: Map<Key, Uint8Array>, key: Key, make: () => Uint8Array): Uint8Array {
    const before = all.get(key);
    if (before !== undefined) return before;
    const made = make();
    all.set(key, made);
    results.add(made);
    return made;
  }

  /** Once for the same bytes in the same use. */
  function onceOf({ buffer, byteOffset, length }: Uint8Array, use: string, make: () => Uint8Array): Uint8Array {
    const all = knownByBuffer.get(buffer) ?? new Map<string, Uint8Array>();
    knownByBuffer.set(buffer, all);
    return once(all, `${use} ${byteOffset} ${length}`, make);
  }

  return {
    expand(tensor, data, elementSize, place) {
      const { type, sparsity, shape } = tensor;
      const make = () => expandStored(tensor, data, elementSize, place);
      return sparsity ? once(known, tensor, make) : onceOf(data, `${type} ${product(shape)}`, make);
    },
    widen: (data, place) => onceOf(data, "widened", () => widenStored(data, (size) => allocate(size, place))),
    has: (elements) => results.has(elements),
  };
}

function product(extents: readonly number[]): number {
  return extents.reduce((size, extent) => size * extent, 1);
}

function widenStored(data: Uint8Array, allocate: (size: number) => Uint8Array): Uint8Array {
  const count = data.length / 2;
  const result = allocate(count * 4);
  const view = new DataView(result.buffer);
  for (let index = 0; index < count; index++) {
    const bits = elementAt(data, 2 * index) | (elementAt(data, 2 * index + 1) << 8);
    view.setFloat32(4 * index, fromFloat16Bits(bits), true);
  }
  return result;
}

function unpack(
  data: Uint8Array,
  count: number,
  { bits, isSigned }: Packing,
  allocate: (size: number) => Uint8Array,
): Uint8Array {
  const result = allocate(count);
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  // The sign bit of a signed element is moved to the top of the byte and back.
  const shift = 32 - bits;
  for (let index = 0; index < count; index++) {
    const element = (elementAt(data, Math.floor(index / perByte)) >> ((index % perByte) * bits)) & mask;
    result[index] = isSigned ? (element << shift) >> shift : element;
  }
  return result;
}

/** Where the stored elements belong. */
interface StoredOffsets {
  readonly count: number;
  /** The place of each among all elements. */
  list(): readonly number[];
}

/** A dimension in the order of storage. */
interface Level {
  readonly dimension: TfliteSparseDimension;
  readonly extent: number;
  /** Distance of neighbours among all elements. */
  readonly stride: number;
}

/** Refuses a sparsity that does not fit the shape. The work is bounded by the lists and the number of stored elements. */
function storedOffsets(sparsity: TfliteSparsity, shape: readonly number[], place: Place): StoredOffsets {
  const levels = levelsOf(sparsity, shape, place);
  let count = 1;
  for (const [index, { dimension, extent }] of levels.entries()) {
    count = "size" in dimension ? count * extent : checkSegments(dimension, count, extent, index, place);
  }
  return {
    count,
    list() {
      let offsets: readonly number[] = [0];
      for (const level of levels) offsets = along(level, offsets);
      return offsets;
    },
  };
}

function levelsOf({ traversalOrder, blockMap, dimensions }: TfliteSparsity, shape: readonly number[], place: Place) {
  const rank = shape.length;
  const count = rank + blockMap.length;
  const isOrder =
    traversalOrder.length === count &&
    new Set(traversalOrder).size === count &&
    traversalOrder.every(
      (entry, i) => Number.isInteger(entry) && (i < rank ? inRange(entry, 0, rank) : inRange(entry, rank, count)),
    );
  ensure(
    isOrder,
    place,
    () =>
      `its sparsity has the traversal order ${listText(traversalOrder)}; it has to list the ${rank} dimensions, then ${blockMap.length} block dimensions`,
  );
  ensure(
    new Set(blockMap).size === blockMap.length &&
      blockMap.every((entry) => Number.isInteger(entry) && inRange(entry, 0, rank)),
    place,
    () => `its sparsity has the block map ${listText(blockMap)}, which does not name different dimensions of ${rank}`,
  );
  ensure(
    dimensions.length === count,
    place,
    () => `its sparsity: expected ${count} dimensions, got ${dimensions.length}`,
  );
  const strides = shape.map((_, i) => product(shape.slice(i + 1)));
  const blockSize = (dimension: number) => {
    const block = blockMap.indexOf(dimension);
    if (block < 0) return 1;
    const described = elementAt(dimensions, traversalOrder.indexOf(rank + block));
    const size = "size" in described ? described.size : 0;
    const extent = elementAt(shape, dimension);
    ensure(
      Number.isInteger(size) && size >= 1 && extent % size === 0,
      place,
      () => `dimension ${dimension} of ${extent} does not consist of the blocks of its sparsity`,
    );
    return size;
  };
  return traversalOrder.map((entry, i): Level => {
    const dimension = elementAt(dimensions, i);
    const isBlock = entry >= rank;
    const mapped = isBlock ? elementAt(blockMap, entry - rank) : entry;
    const size = blockSize(mapped);
    const stride = elementAt(strides, mapped);
    const extent = isBlock ? size : elementAt(shape, mapped) / size;
    ensure(
      !("size" in dimension) || dimension.size === extent,
      place,
      () => `its sparsity stores ${"size" in dimension ? dimension.size : 0} indexes of a dimension that has ${extent}`,
    );
    return { dimension, extent, stride: isBlock ? stride : stride * size };
  });
}

function inRange(value: number, from: number, end: number): boolean {
  return value >= from && value < end;
}

/** The number of stored indexes. */
function checkSegments(
  { segments, indexes }: Exclude<TfliteSparseDimension, { size: number }>,
  count: number,
  extent: number,
  level: number,
  place: Place,
): number {
  const isOrdered = segments.every((segment, i) => segment >= (segments[i - 1] ?? 0));
  ensure(
    segments.length === count + 1 && segments[0] === 0 && segments.at(-1) === indexes.length && isOrdered,
    place,
    () =>
      `the ${segments.length} segments of level ${level} of its sparsity do not divide ${indexes.length} indexes into ${count}`,
  );
  const outside = indexes.find((index) => !(Number.isInteger(index) && inRange(index, 0, extent)));
  ensure(
    outside === undefined,
    place,
    () => `the index ${outside} of its sparsity is not within the ${extent} of level ${level}`,
  );
  return indexes.length;
}

/** The places of the stored indexes of one more dimension. */
function along({ dimension, extent, stride }: Level, offsets: readonly number[]): readonly number[] {
  const next: number[] = [];
  for (const [position, offset] of offsets.entries()) {
    if ("size" in dimension) {
      for (let index = 0; index < extent; index++) next.push(offset + index * stride);
      continue;
    }
    const { segments, indexes } = dimension;
    for (let at = elementAt(segments, position); at < elementAt(segments, position + 1); at++) {
      next.push(offset + elementAt(indexes, at) * stride);
    }
  }
  return next;
}

function scatter(elements: Uint8Array, offsets: readonly number[], size: number, dense: Uint8Array): void {
  for (const [position, offset] of offsets.entries()) {
    for (let byte = 0; byte < size; byte++) {
      dense[offset * size + byte] = elementAt(elements, position * size + byte);
    }
  }
}
