/**
 * Numbers, texts and lists as bytes, and back: little-endian and packed. Reading is bounded: every length is checked
 * against the remaining bytes before memory is allocated for it.
 */

/** Thrown for bytes that do not contain the expected values. */
export class UnreadableBytes extends Error {
  override readonly name = "UnreadableBytes";
}

/** Appends values. Throws RangeError for a number that does not fit its field. */
export interface ByteWriter {
  uint8(value: number): void;
  uint32(value: number): void;
  int32(value: number): void;
  float64(value: number): void;
  /** With its length. */
  bytes(value: Uint8Array): void;
  /** With its length. */
  text(value: string): void;
  /** With its length. */
  list<T>(items: readonly T[], write: (item: T) => void): void;
  /** Returns a copy of everything written. */
  taken(): Uint8Array;
}

/** Reads values in the order in which they were written. `what` names the value in errors. */
export interface ByteReader {
  uint8(what: string): number;
  uint32(what: string): number;
  int32(what: string): number;
  float64(what: string): number;
  /** A view. */
  bytes(what: string): Uint8Array;
  text(what: string): string;
  /** `least`: minimum number of bytes of an item. */
  list<T>(least: number, what: string, read: () => T): T[];
  /** Checks that no bytes are left. */
  end(): void;
}

/** An empty writer. */
export function byteWriter(): ByteWriter {
  let room = new Uint8Array(1024);
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
    float64(value) {
      const at = take(8);
      view.setFloat64(at, value, true);
    },
    bytes(value) {
      writer.uint32(value.length);
      const at = take(value.length);
      room.set(value, at);
    },
    text: (value) => writer.bytes(new TextEncoder().encode(value)),
    list(items, write) {
      writer.uint32(items.length);
      for (const item of items) write(item);
    },
    taken: () => room.slice(0, length),
  };
  return writer;
}

function fitting(value: number, fit: number): number {
  if (value !== fit) throw new RangeError(`${value} does not fit its field`);
  return fit;
}

/** A reader of bytes, which must not change meanwhile. Its methods throw UnreadableBytes. */
export function byteReader(bytes: Uint8Array): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  /** Skips bytes and returns where they begin. */
  const pass = (size: number, what: string): number => {
    const left = bytes.length - at;
    if (size > left) throw new UnreadableBytes(`byte ${at}: ${what} takes ${size} bytes where ${left} are left`);
    at += size;
    return at - size;
  };
  const reader: ByteReader = {
    uint8: (what) => view.getUint8(pass(1, what)),
    uint32: (what) => view.getUint32(pass(4, what), true),
    int32: (what) => view.getInt32(pass(4, what), true),
    float64: (what) => view.getFloat64(pass(8, what), true),
    bytes(what) {
      const length = reader.uint32(`the length of ${what}`);
      const start = pass(length, what);
      return bytes.subarray(start, start + length);
    },
    text(what) {
      const start = at;
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(reader.bytes(what));
      } catch (error) {
        if (error instanceof UnreadableBytes) throw error;
        throw new UnreadableBytes(`byte ${start}: ${what} is not valid UTF-8`);
      }
    },
    list(least, what, read) {
      const count = reader.uint32(`the number of ${what}`);
      const left = bytes.length - at;
      if (count * least > left) {
        throw new UnreadableBytes(`byte ${at}: ${count} ${what} take more than the ${left} bytes that are left`);
      }
      return Array.from({ length: count }, read);
    },
    end() {
      if (at < bytes.length) throw new UnreadableBytes(`byte ${at}: ${bytes.length - at} bytes are too many`);
    },
  };
  return reader;
}
