/** The description of a memory in a message. */
import { greatestSize, type NoMemory } from "./shared-memory.ts";

/** A part of a file of the sender. */
export interface Ticket {
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

/** A ticket as bytes: numbers of 32 and 64 bits, the lower byte first, then the name. */
export function encodeTicket({ id, file, start, length, protection, offset, size }: Ticket): Uint8Array {
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

/** Decodes a ticket. Returns why if the bytes are not one. */
export function decodeTicket(bytes: Uint8Array): Ticket | NoMemory {
  const nameLength = bytes.length - headLength;
  if (nameLength < 0 || nameLength > longestName) {
    return {
      refused: `a ticket of ${bytes.length} bytes is not valid: ${headLength} to ${headLength + longestName} are`,
    };
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const ticket: Ticket = {
    id: view.getUint32(0, true),
    protection: view.getUint32(4, true),
    start: view.getFloat64(8, true),
    length: view.getFloat64(16, true),
    offset: view.getFloat64(24, true),
    size: view.getFloat64(32, true),
    file: String.fromCharCode(...bytes.subarray(headLength)),
  };
  const refuse = (field: keyof Ticket) => ({ refused: `a ticket's ${field} is ${ticket[field]}, which is not valid` });
  if (ticket.id === 0) return refuse("id");
  if (ticket.protection !== 1 && ticket.protection !== 3) return refuse("protection");
  if (!Number.isSafeInteger(ticket.start) || ticket.start < 0) return refuse("start");
  if (!isCount(ticket.length) || ticket.length < 1) return refuse("length");
  if (!isCount(ticket.offset)) return refuse("offset");
  if (!isCount(ticket.size)) return refuse("size");
  return /^[a-z0-9-]*$/.test(ticket.file) ? ticket : refuse("file");
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= greatestSize;
}
