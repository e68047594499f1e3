/**
 * Reads the wire format of protobuf without other allocations: a budget of members limits the cost of a message of many small
 * ones, and numbers in lists are read to typed arrays.
 */
import { RequestError } from "./errors.ts";

/** Maximum members of a message, including each element of an unpacked list. */
export const mostMembers = 2 ** 17;

/** Maximum messages within a message: its inputs, outputs and parameters. */
export const mostMessages = 2 ** 12;

/** Maximum numbers of variable length, in all packed lists of a message together. */
export const mostVarints = 2 ** 22;

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Remaining budget of all nested messages. */
export interface ReadBudget {
  messages: number;
  members: number;
  varints: number;
}

export function createReadBudget(): ReadBudget {
  return { messages: mostMessages, members: mostMembers, varints: mostVarints };
}

/** Reader of a message's members. A value has the form of its wire type: read it by one of the methods below. */
export interface Reader {
  /** Moves to the next member and returns its number; undefined at the end. */
  next(): number | undefined;
  /** Returns the bytes of the member: of a text, a message or a packed list. */
  bytes(): Uint8Array;
  text(): string;
  /** Returns an integer of 32 bits, or a boolean as 0 and 1, truncated as in protobuf. */
  int(): number;
  /** Returns an integer of 64 bits. */
  long(): bigint;
  double(): number;
  /** Returns the bytes of a number of 4 or 8 bytes. */
  readFixed(size: 4 | 8): Uint8Array;
  /** True if the member is a packed list, a text or a message. */
  readonly isBytes: boolean;
}

const decoder = new TextDecoder();

/** Opens a message. All methods throw a RequestError if it is malformed, or exceeds the budget. */
export function openMessage(message: Uint8Array, budget: ReadBudget): Reader {
  if (--budget.messages < 0) throw tooMany("messages within it", mostMessages);
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let place = 0;
  let wireType = 0;
  let [low, high] = [0, 0];
  let value: Uint8Array = message.subarray(0, 0);
  const expectType = (wanted: number) => {
    if (wireType !== wanted) throw makeMalformed(place, `a member has the wire type ${wireType}, not ${wanted}`);
  };
  const readVarint = () => {
    [low, high] = [0, 0];
    for (let shift = 0; shift < 70; shift += 7) {
      if (place >= message.length) throw makeMalformed(place, "a number does not end");
      const byte = message[place++] ?? 0;
      if (shift < 28) low |= (byte & 127) << shift;
      else if (shift === 28) {
        low |= (byte & 127) << 28;
        high |= (byte & 127) >> 4;
      } else high |= (byte & 127) << (shift - 32);
      if (byte < 128) return;
    }
    throw makeMalformed(place, "a number has more than 10 bytes");
  };
  const take = (size: number) => {
    if (size > message.length - place) throw makeMalformed(place, `a member of ${size} bytes does not end`);
    value = message.subarray(place, place + size);
    place += size;
  };
  return {
    next() {
      if (place >= message.length) return undefined;
      if (--budget.members < 0) throw tooMany("members", mostMembers);
      readVarint();
      const tag = low >>> 0;
      if (high !== 0 || tag >>> 3 === 0) throw makeMalformed(place, "a member has no number");
      wireType = tag & 7;
      if (wireType === wireTypes.varint) readVarint();
      else if (wireType === wireTypes.fixed64) take(8);
      else if (wireType === wireTypes.fixed32) take(4);
      else if (wireType === wireTypes.bytes) {
        readVarint();
        if (high !== 0) throw makeMalformed(place, "a member does not end");
        take(low >>> 0);
      } else throw makeMalformed(place, `a member has the wire type ${wireType}`);
      return tag >>> 3;
    },
    get isBytes() {
      return wireType === wireTypes.bytes;
    },
    readFixed(size) {
      expectType(size === 4 ? wireTypes.fixed32 : wireTypes.fixed64);
      return value;
    },
    bytes() {
      expectType(wireTypes.bytes);
      return value;
    },
    text() {
      expectType(wireTypes.bytes);
      return decoder.decode(value);
    },
    int() {
      expectType(wireTypes.varint);
      return low | 0;
    },
    long() {
      expectType(wireTypes.varint);
      return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
    },
    double() {
      expectType(wireTypes.fixed64);
      return view.getFloat64(place - 8, true);
    },
  };
}

/** Counts integers. Throws a RequestError if they exceed the budget. */
export function countVarints(packed: Uint8Array, budget: ReadBudget): number {
  // Each ends with a byte without the highest bit. No list that is read has more bytes than this.
  if (packed.length > 10 * mostVarints) throw tooMany("integers", mostVarints);
  let count = 0;
  for (let place = 0; place < packed.length; place++) if ((packed[place] ?? 0) < 128) count++;
  budget.varints -= count;
  if (budget.varints < 0) throw tooMany("integers", mostVarints);
  if ((packed.at(-1) ?? 0) >= 128) throw makeMalformed(packed.length, "a list ends within a number");
  return count;
}

/** Reads a packed list of integers: the lower and upper 32 bits of each, one after the other, or only the lower ones. */
export function readVarints(packed: Uint8Array, into: Uint32Array, words: 1 | 2): void {
  let place = 0;
  for (let index = 0; place < packed.length; index++) {
    let [low, high] = [0, 0];
    for (let shift = 0; ; shift += 7) {
      if (shift > 63) throw makeMalformed(place, "a number has more than 10 bytes");
      const byte = packed[place++] ?? 0;
      if (shift < 28) low |= (byte & 127) << shift;
      else if (shift === 28) {
        low |= (byte & 127) << 28;
        high |= (byte & 127) >> 4;
      } else high |= (byte & 127) << (shift - 32);
      if (byte < 128) break;
    }
    into[index * words] = low;
    if (words === 2) into[index * 2 + 1] = high;
  }
}

function makeMalformed(place: number, problem: string): RequestError {
  return new RequestError("invalid", `the message is malformed at byte ${place}: ${problem}`);
}

function tooMany(what: string, most: number): RequestError {
  const text = `the message has more than ${most} ${what}; elements of tensors belong in raw_input_contents`;
  return new RequestError("tooLarge", text);
}
