/** The description of a memory in a message. */
import { greatestSize, type NoMemory } from "./shared-memory.ts";

/** A part of a file of the sender. */
export interface MemoryReference {
  /** The number of the file on this connection, from 1. */
  readonly id: number;
  /** The file's name in the folder that both sides know; empty for a descriptor. */
  readonly file: string;
  /** The offset and the number of its bytes in the file that the descriptor names. */
  readonly start: number;
  readonly length: number;
  /** PROT_READ 1, PROT_WRITE 2. */
  readonly protection: number;
  /** The memory, among these bytes. */
  readonly offset: number;
  readonly size: number;
}

const headLength = 40;
/** Names of files are made by `folderWay`. */
const longestName = 64;

/** A reference as bytes: numbers of 32 and 64 bits, the lower byte first, then the name. */
export function encodeReference({ id, file, start, length, protection, offset, size }: MemoryReference): Uint8Array {
  const bytes = new Uint8Array(headLength + file.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, id, true);
  view.setUint32(4, protection, true);
  view.setFloat64(8, start, true);
  view.setFloat64(16, length, true);
  view.setFloat64(24, offset, true);
  view.setFloat64(32, size, true);
  for (let index = 0; index < file.length; index++) bytes[headLength + index] = file.charCodeAt(index);
  return bytes;
}

/** Decodes a reference. Returns why if the bytes are not one. */
export function decodeReference(bytes: Uint8Array): MemoryReference | NoMemory {
  const nameLength = bytes.length - headLength;
  if (nameLength < 0 || nameLength > longestName) {
    return {
      refused: `a reference of ${bytes.length} bytes is not valid: ${headLength} to ${headLength + longestName} are`,
    };
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const reference: MemoryReference = {
    id: view.getUint32(0, true),
    protection: view.getUint32(4, true),
    start: view.getFloat64(8, true),
    length: view.getFloat64(16, true),
    offset: view.getFloat64(24, true),
    size: view.getFloat64(32, true),
    file: String.fromCharCode(...bytes.subarray(headLength)),
  };
  const refuse = (field: keyof MemoryReference) => ({
    refused: `a reference's ${field} is ${reference[field]}, which is not valid`,
  });
  if (reference.id === 0) return refuse("id");
  if (reference.protection !== 1 && reference.protection !== 3) return refuse("protection");
  if (!Number.isSafeInteger(reference.start) || reference.start < 0) return refuse("start");
  if (!isCount(reference.length) || reference.length < 1) return refuse("length");
  if (!isCount(reference.offset)) return refuse("offset");
  if (!isCount(reference.size)) return refuse("size");
  return /^[a-z0-9-]*$/.test(reference.file) ? reference : refuse("file");
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= greatestSize;
}
