/**
 * A datum of a burst as the words of a ring's slot. The first word says of which kind the datum is, counted from 1, so
 * that zeroed memory is no datum; the fields follow in the HAL's order; what a kind does not use is 0. A packet from the
 * other end may hold anything: whatever is read is checked.
 */
import { elementAt } from "@nnhal/operations";
import { TIMING_NOT_MEASURED } from "@nnhal/types";
import { MalformedPacket } from "./malformed.ts";
import { wordsPerSlot } from "./ring.ts";

/** A field that is true or false. */
export function flag(words: Int32Array, at: number, field: string): boolean {
  const word = words[at + 1];
  if (word !== 0 && word !== 1) throw malformed(at, `${field} is ${word} where 0 or 1 is needed`);
  return word === 1;
}

/** What a slot of an unknown kind is. */
export function noDatum(words: Int32Array, at: number): MalformedPacket {
  return malformed(at, `its kind is ${words[at]}, which does not exist`);
}

/** What is wrong with the datum at some word. */
export function malformed(at: number, problem: string): MalformedPacket {
  return new MalformedPacket(`datum ${at / wordsPerSlot}: ${problem}`);
}

/** An unsigned number of two words, the lower one first. */
export function uint64(words: Int32Array, at: number): bigint {
  const low = elementAt(words, at);
  const high = elementAt(words, at + 1);
  if (low === -1 && high === -1) return TIMING_NOT_MEASURED;
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** Writes what `uint64` reads. */
export function encodeUint64(value: bigint, words: Int32Array, at: number, field: string): void {
  if (value < 0n || value > TIMING_NOT_MEASURED) throw new RangeError(`${field} is ${value}, which is no uint64`);
  words[at] = value === TIMING_NOT_MEASURED ? -1 : Number(value & 0xffff_ffffn);
  words[at + 1] = value === TIMING_NOT_MEASURED ? -1 : Number(value >> 32n);
}

/** A number, if it is an unsigned 32 bit integer. */
export function uint32(value: number, field: string): number {
  if (value >>> 0 !== value) throw new RangeError(`${field} is ${value}, which is no uint32`);
  return value;
}

/** A number, if it is a signed 32 bit integer. */
export function int32(value: number, field: string): number {
  if ((value | 0) !== value) throw new RangeError(`${field} is ${value}, which is no int32`);
  return value;
}

/** Zeroed words for some data: a piece of `scratch` where that is long enough. */
export function wordsFor(data: number, scratch: Int32Array | undefined): Int32Array {
  const length = data * wordsPerSlot;
  if (scratch === undefined || scratch.length < length) return new Int32Array(length);
  return scratch.subarray(0, length).fill(0);
}
