/**
 * Arithmetic on the bytes of weights. Networks have millions. It runs once in a process, so that a loop of JavaScript would end
 * before it is optimised: this one is WebAssembly, which takes a twentieth of the time, assembled here since no compiler is at hand.
 */

/** The part of the global object that is used here; the declarations of Node.js lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

/** Signed bytes, and where they are not what the numbers are. */
export interface Difference {
  /** The differences; -128 or 127 for those that do not fit 8 bits. */
  readonly numbers: Int8Array<ArrayBuffer>;
  /** Numbers that do not fit: their indexes, and the value to add to each. */
  readonly beyond: readonly { readonly place: number; readonly rest: number }[];
}

/** Bytes less a number of 8 bits. Unsigned ones also less 128. */
export function difference(from: Int8Array | Uint8Array, less: number): Difference {
  const flip = from instanceof Uint8Array ? topBit : 0;
  const { numbers, blocks } = compute(from, flip, less);
  const beyond: { readonly place: number; readonly rest: number }[] = [];
  for (const block of blocks) {
    for (let place = block; place < Math.min(block + blockSize, from.length); place++) {
      const rest = (from[place] ?? 0) - flip - less - (numbers[place] ?? 0);
      if (rest !== 0) beyond.push({ place, rest });
    }
  }
  return { numbers, beyond };
}

/** Unsigned bytes less 128. */
export function toSigned(from: Uint8Array): Int8Array<ArrayBuffer> {
  return compute(from, topBit, 0).numbers;
}

const topBit = 0x80;
/** The bytes of a vector. */
const blockSize = 16;
/** Number of bytes that are computed together. */
const chunkSize = 2 ** 18;
/** Behind the bytes in the memory is room for a number of 32 bits for each block. */
const pages = (chunkSize + (chunkSize / blockSize) * 4) / 2 ** 16;

/** `blocks` are the places of those in which a difference does not fit 8 bits. */
function compute(from: Uint8Array | Int8Array, flip: number, less: number) {
  const { memory, subtract } = loop();
  const numbers = new Int8Array(from.length);
  const blocks: number[] = [];
  for (let start = 0; start < from.length; start += chunkSize) {
    const chunk = from.subarray(start, start + chunkSize);
    memory.set(chunk);
    const end = subtract(chunk.length, flip, less);
    numbers.set(memory.subarray(0, chunk.length), start);
    const found = new Uint32Array(memory.buffer, chunkSize, (end - chunkSize) / 4);
    for (const block of found) blocks.push(start + block);
  }
  return { numbers, blocks };
}

interface Loop {
  readonly memory: Int8Array<ArrayBuffer>;
  /**
   * Flips bits of the first `length` bytes of the memory, and subtracts a number from each as a signed one. Returns the end of the list
   * behind the bytes: the places of blocks in which a difference does not fit.
   */
  subtract(length: number, flip: number, less: number): number;
}

let kept: Loop | undefined;

function loop(): Loop {
  if (kept !== undefined) return kept;
  const { memory, subtract } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes())).exports;
  if (typeof memory !== "object" || memory === null || !("buffer" in memory) || typeof subtract !== "function") {
    throw new Error("the module exports a memory and a function");
  }
  if (!(memory.buffer instanceof ArrayBuffer)) throw new Error("the memory is not shared");
  kept = {
    memory: new Int8Array(memory.buffer),
    subtract: (length, flip, less) => Number(subtract(length, flip, less)),
  };
  return kept;
}

const types = { i32: 0x7f, v128: 0x7b, none: 0x40 } as const;

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const [length, flip, less, at, list, flips, lesses, vector, result] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const get = (local: number) => [0x20, local];
  const set = (local: number) => [0x21, local];
  const tee = (local: number) => [0x22, local];
  const constant = (value: number) => [0x41, ...signedLeb(value)];
  const simd = (code: number) => [0xfd, code];
  const unaligned = [0, 0];
  const [add, lessThan, store] = [[0x6a], [0x48], [0x36, 2, 0]];
  const [load128, store128, splat, xor, isAny] = [simd(0x00), simd(0x0b), simd(0x0f), simd(0x51), simd(0x53)];
  const [subtract, subtractSaturated] = [simd(0x71), simd(0x72)];
  const code = [
    // The locals behind the three parameters: two numbers and four vectors.
    ...[2, 2, types.i32, 4, types.v128],
    ...[...constant(chunkSize), ...set(list)],
    ...[...get(flip), ...splat, ...set(flips)],
    ...[...get(less), ...splat, ...set(lesses)],
    ...[0x03, types.none],
    // The place to store at, and the vector.
    ...get(at),
    ...[...get(at), ...load128, ...unaligned, ...get(flips), ...xor, ...tee(vector)],
    ...[...get(lesses), ...subtractSaturated, ...tee(result), ...store128, ...unaligned],
    // Where it is not the difference modulo 256, one does not fit.
    ...[...get(vector), ...get(lesses), ...subtract, ...get(result), ...xor, ...isAny],
    ...[0x04, types.none],
    ...[...get(list), ...get(at), ...store, ...get(list), ...constant(4), ...add, ...set(list)],
    ...[0x0b],
    ...[...get(at), ...constant(blockSize), ...add, ...tee(at), ...get(length), ...lessThan],
    ...[0x0d, 0, 0x0b],
    ...[...get(list), 0x0b],
  ];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 3, types.i32, types.i32, types.i32, 1, types.i32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, pages]),
    ...section(7, [2, ...name("memory"), 2, 0, ...name("subtract"), 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ]);
}

const section = (id: number, content: readonly number[]): number[] => [id, ...leb(content.length), ...content];
const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];

/** An unsigned number in LEB128. */
function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

/** Encodes a number >= 0 in signed LEB128: bit 6 of the last byte is 0. */
function signedLeb(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signedLeb(value >>> 7)];
}
