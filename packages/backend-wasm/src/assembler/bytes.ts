/**
 * Bytes that are written one after the other, with the numbers of the binary format: LEB128, floats, names, vectors.
 */

/** A growing list of bytes. */
export interface ByteWriter {
  readonly length: number;
  byte(value: number): void;
  /** A whole number from 0 to 2^32 - 1. */
  writeUnsigned(value: number): void;
  /** A whole number of 32 bits; those from 2^31 on stand for the negative ones with the same bits. */
  writeSigned(value: number): void;
  signed64(value: bigint): void;
  float32(value: number): void;
  float64(value: number): void;
  /** A text with its length. */
  name(text: string): void;
  bytes(values: ArrayLike<number>): void;
  /** The bytes so far. */
  copyBytes(): Uint8Array<ArrayBuffer>;
}

/** Creates an empty list. */
export function createWriter(): ByteWriter {
  let room = new Uint8Array(256);
  let length = 0;
  const reserve = (count: number): void => {
    if (length + count <= room.length) return;
    const larger = new Uint8Array(Math.max(2 * room.length, length + count));
    larger.set(room.subarray(0, length));
    room = larger;
  };
  const bytes = (values: ArrayLike<number>): void => {
    reserve(values.length);
    room.set(values, length);
    length += values.length;
  };
  const byte = (value: number): void => {
    reserve(1);
    room[length++] = value;
  };
  const writer: ByteWriter = {
    get length() {
      return length;
    },
    byte,
    bytes,
    writeUnsigned(value) {
      if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
        throw new RangeError(`${value} is not a valid unsigned number of 32 bits`);
      }
      let rest = value;
      for (; rest > 0x7f; rest = Math.floor(rest / 128)) byte((rest % 128) | 0x80);
      byte(rest);
    },
    writeSigned(value) {
      if (!Number.isInteger(value) || value < -0x8000_0000 || value > 0xffff_ffff) {
        throw new RangeError(`${value} is not a valid number of 32 bits`);
      }
      let rest = value | 0;
      for (; rest < -64 || rest > 63; rest >>= 7) byte((rest & 0x7f) | 0x80);
      byte(rest & 0x7f);
    },
    signed64(value) {
      let rest = BigInt.asIntN(64, value);
      for (; rest < -64n || rest > 63n; rest >>= 7n) byte(Number(rest & 0x7fn) | 0x80);
      byte(Number(rest & 0x7fn));
    },
    float32: (value) => bytes(bytesOf(4, (view) => view.setFloat32(0, value, true))),
    float64: (value) => bytes(bytesOf(8, (view) => view.setFloat64(0, value, true))),
    name(text) {
      const encoded = new TextEncoder().encode(text);
      writer.writeUnsigned(encoded.length);
      bytes(encoded);
    },
    copyBytes: () => room.slice(0, length),
  };
  return writer;
}

function bytesOf(length: number, write: (view: DataView) => void): Uint8Array {
  const view = new DataView(new ArrayBuffer(length));
  write(view);
  return new Uint8Array(view.buffer);
}
