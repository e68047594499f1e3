/**
 * Numbers, texts and bytes, one after the other: little-endian and packed. Reading is bounded: every length is checked
 * against the remaining bytes before memory is allocated for it.
 */

/** Thrown for bytes that do not contain the expected values. */
export class UnreadableBytes extends Error {
  override readonly name = "UnreadableBytes";
}

/** Thrown for a value that its bytes cannot hold. */
export class Unwritable extends RangeError {
  override readonly name = "Unwritable";
}

/** Appends values. Its methods throw Unwritable for a value of another type, or one that does not fit its field. */
export interface ByteWriter {
  uint8(value: number): void;
  uint32(value: number): void;
  int32(value: number): void;
  uint64(value: bigint): void;
  float64(value: number): void;
  /** With its length. */
  bytes(value: Uint8Array): void;
  /** With its length, in UTF-8. */
  text(value: string): void;
}

/** Reads values in the order in which they were written. Its methods throw UnreadableBytes. */
export interface ByteReader {
  uint8(): number;
  uint32(): number;
  int32(): number;
  uint64(): bigint;
  float64(): number;
  /** A view. */
  bytes(): Uint8Array;
  text(): string;
  /** The number of items in a list. `least`: minimum number of bytes of an item, which must be there. */
  count(least: number): number;
  /** Where the next value begins. */
  readonly at: number;
  /** Checks that no bytes are left. */
  end(): void;
}

/** Most items in all lists of some bytes: objects take more memory than the bytes that they are read from. */
export const mostItems = 2 ** 24;

/** See `toBytes`. */
class RoomWriter implements ByteWriter {
  #buffer = new Uint8Array(firstLength);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  /** Reserves room and returns where it begins. */
  #take(size: number): number {
    const start = this.#length;
    const length = start + size;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.#buffer);
      this.#buffer = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#length = length;
    return start;
  }
  uint8(value: number) {
    const at = this.#take(1);
    this.#view.setUint8(at, ensureFits(value, value & 0xff));
  }
  uint32(value: number) {
    const at = this.#take(4);
    this.#view.setUint32(at, ensureFits(value, value >>> 0), true);
  }
  int32(value: number) {
    const at = this.#take(4);
    this.#view.setInt32(at, ensureFits(value, value | 0), true);
  }
  uint64(value: bigint) {
    const at = this.#take(8);
    if (typeof value !== "bigint") throw new Unwritable(`${typeof value} instead of a bigint`);
    if (BigInt.asUintN(64, value) !== value) throw new Unwritable(`${value} does not fit its field`);
    this.#view.setBigUint64(at, value, true);
  }
  float64(value: number) {
    if (typeof value !== "number") throw new Unwritable(`${typeof value} instead of a number`);
    const at = this.#take(8);
    this.#view.setFloat64(at, value, true);
  }
  bytes(value: Uint8Array) {
    if (!(value instanceof Uint8Array)) throw new Unwritable(`${typeof value} instead of a Uint8Array`);
    this.uint32(value.length);
    const at = this.#take(value.length);
    this.#buffer.set(value, at);
  }
  text(value: string) {
    if (typeof value !== "string") throw new Unwritable(`${typeof value} instead of a text`);
    this.bytes(new TextEncoder().encode(value));
  }
  /** A copy of everything written. */
  copyBytes() {
    return this.#buffer.slice(0, this.#length);
  }
  clear() {
    this.#length = 0;
  }
  get isLarge() {
    return this.#buffer.length > mostKeptLength;
  }
}

const firstLength = 256;
/** A writer with a larger buffer is not reused. */
const mostKeptLength = 2 ** 16;

let spare: RoomWriter | undefined;

/** Returns the bytes that `write` writes. Reuses one writer, so that a short frame allocates only its result. */
export function toBytes(write: (to: ByteWriter) => void): Uint8Array<ArrayBuffer> {
  const writer = spare ?? new RoomWriter();
  // A nested call uses another writer.
  spare = undefined;
  try {
    write(writer);
    return writer.copyBytes();
  } finally {
    writer.clear();
    if (!writer.isLarge) spare = writer;
  }
}

function ensureFits(value: number, fit: number): number {
  if (value !== fit) throw new Unwritable(`${String(value)} does not fit its field`);
  return fit;
}

/** A class, because a reader is made for each frame and closures would be made with each. */
class ViewReader implements ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #items = 0;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  /** Skips bytes and returns where they begin. */
  #pass(size: number): number {
    const { at } = this;
    const left = this.#bytes.length - at;
    if (size > left) throw new UnreadableBytes(`expected ${size} bytes, got ${left}`);
    this.at = at + size;
    return at;
  }
  uint8() {
    return this.#view.getUint8(this.#pass(1));
  }
  uint32() {
    return this.#view.getUint32(this.#pass(4), true);
  }
  int32() {
    return this.#view.getInt32(this.#pass(4), true);
  }
  uint64() {
    return this.#view.getBigUint64(this.#pass(8), true);
  }
  float64() {
    return this.#view.getFloat64(this.#pass(8), true);
  }
  bytes() {
    const length = this.uint32();
    const start = this.#pass(length);
    return this.#bytes.subarray(start, start + length);
  }
  text() {
    const encoded = this.bytes();
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(encoded);
    } catch {
      throw new UnreadableBytes("it is not valid UTF-8");
    }
  }
  count(least: number) {
    const count = this.uint32();
    const left = this.#bytes.length - this.at;
    if (count * least > left)
      throw new UnreadableBytes(`${count} items take more than the ${left} bytes that are left`);
    this.#items += count;
    if (this.#items > mostItems) throw new UnreadableBytes(`there are more than ${mostItems} items`);
    return count;
  }
  end() {
    const left = this.#bytes.length - this.at;
    if (left > 0) throw new UnreadableBytes(`byte ${this.at}: ${left} bytes are too many`);
  }
}

/** A reader of bytes, which must not change meanwhile. */
export function byteReader(bytes: Uint8Array): ByteReader {
  return new ViewReader(bytes);
}
