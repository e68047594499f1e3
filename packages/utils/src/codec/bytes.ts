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
  /** Returns a copy of everything written. */
  taken(): Uint8Array<ArrayBuffer>;
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

/** An empty writer. */
export function byteWriter(): ByteWriter {
  let room = new Uint8Array(256);
  let view = new DataView(room.buffer);
  let length = 0;
  /** Reserves room and returns where it begins. */
  const take = (size: number): number => {
    const start = length;
    length += size;
    if (length > room.length) {
      const larger = new Uint8Array(Math.max(length, 2 * room.length));
      larger.set(room);
      room = larger;
      view = new DataView(room.buffer);
    }
    return start;
  };
  const writer: ByteWriter = {
    uint8(value) {
      const at = take(1);
      view.setUint8(at, fitting(value, value & 0xff));
    },
    uint32(value) {
      const at = take(4);
      view.setUint32(at, fitting(value, value >>> 0), true);
    },
    int32(value) {
      const at = take(4);
      view.setInt32(at, fitting(value, value | 0), true);
    },
    uint64(value) {
      const at = take(8);
      if (typeof value !== "bigint") throw new Unwritable(`${typeof value} instead of a bigint`);
      if (BigInt.asUintN(64, value) !== value) throw new Unwritable(`${value} does not fit its field`);
      view.setBigUint64(at, value, true);
    },
    float64(value) {
      if (typeof value !== "number") throw new Unwritable(`${typeof value} instead of a number`);
      const at = take(8);
      view.setFloat64(at, value, true);
    },
    bytes(value) {
      if (!(value instanceof Uint8Array)) throw new Unwritable(`${typeof value} instead of a Uint8Array`);
      writer.uint32(value.length);
      const at = take(value.length);
      room.set(value, at);
    },
    text(value) {
      if (typeof value !== "string") throw new Unwritable(`${typeof value} instead of a text`);
      writer.bytes(new TextEncoder().encode(value));
    },
    taken: () => room.slice(0, length),
  };
  return writer;
}

function fitting(value: number, fit: number): number {
  if (value !== fit) throw new Unwritable(`${String(value)} does not fit its field`);
  return fit;
}

/** A reader of bytes, which must not change meanwhile. */
export function byteReader(bytes: Uint8Array): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let items = 0;
  /** Skips bytes and returns where they begin. */
  const pass = (size: number): number => {
    const left = bytes.length - at;
    if (size > left) throw new UnreadableBytes(`${size} bytes are needed where ${left} are left`);
    at += size;
    return at - size;
  };
  const reader: ByteReader = {
    get at() {
      return at;
    },
    uint8: () => view.getUint8(pass(1)),
    uint32: () => view.getUint32(pass(4), true),
    int32: () => view.getInt32(pass(4), true),
    uint64: () => view.getBigUint64(pass(8), true),
    float64: () => view.getFloat64(pass(8), true),
    bytes() {
      const length = reader.uint32();
      const start = pass(length);
      return bytes.subarray(start, start + length);
    },
    text() {
      const encoded = reader.bytes();
      try {
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(encoded);
      } catch {
        throw new UnreadableBytes("it is not valid UTF-8");
      }
    },
    count(least) {
      const count = reader.uint32();
      const left = bytes.length - at;
      if (count * least > left)
        throw new UnreadableBytes(`${count} items take more than the ${left} bytes that are left`);
      items += count;
      if (items > mostItems) throw new UnreadableBytes(`there are more than ${mostItems} items`);
      return count;
    },
    end() {
      if (at < bytes.length) throw new UnreadableBytes(`byte ${at}: ${bytes.length - at} bytes are too many`);
    },
  };
  return reader;
}
