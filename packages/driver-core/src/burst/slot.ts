/**
 * A datum of a burst as the words of a ring's slot. The first word is the kind of the datum, counted from 1, so that
 * zeroed memory is not a valid datum. The fields follow in the HAL's order; unused words are 0. A packet from the other
 * end can contain anything: every word that is read is checked.
 */

import { TIMING_NOT_MEASURED } from "@nnhal/types";
import { MalformedPacket } from "./malformed.ts";
import { wordsPerSlot } from "./ring.ts";

/** A word as a signed number. */
export function signedWord(slots: DataView, at: number): number {
  return slots.getInt32(4 * at, true);
}

/** A word as an unsigned number. */
export function unsignedWord(slots: DataView, at: number): number {
  return slots.getUint32(4 * at, true);
}

/** A boolean field. */
export function flag(slots: DataView, at: number, field: string): boolean {
  const word = signedWord(slots, at + 1);
  if (word !== 0 && word !== 1) throw makeMalformed(at, `${field}: expected 0 or 1, got ${word}`);
  return word === 1;
}

/** The error for a slot of an unknown kind. */
export function noDatum(slots: DataView, at: number): MalformedPacket {
  return makeMalformed(at, `its kind is ${signedWord(slots, at)}, which does not exist`);
}

/** The error for the datum at word `at`. */
export function makeMalformed(at: number, problem: string): MalformedPacket {
  return new MalformedPacket(`datum ${at / wordsPerSlot}: ${problem}`);
}

/** An unsigned number of two words, the lower one first. */
export function uint64(slots: DataView, at: number): bigint {
  const low = unsignedWord(slots, at);
  const high = unsignedWord(slots, at + 1);
  if (low === 0xffff_ffff && high === 0xffff_ffff) return TIMING_NOT_MEASURED;
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Writes what `uint64` reads. */
export function encodeUint64(value: bigint, words: Int32Array, at: number, field: string): void {
  if (value < 0n || value > TIMING_NOT_MEASURED) throw new RangeError(`${field} is ${value}, which is not a uint64`);
  words[at] = value === TIMING_NOT_MEASURED ? -1 : Number(value & 0xffff_ffffn);
  words[at + 1] = value === TIMING_NOT_MEASURED ? -1 : Number(value >> 32n);
}

/** Returns `value` if it is an unsigned 32 bit integer; throws RangeError otherwise. */
export function uint32(value: number, field: string): number {
  if (value >>> 0 !== value) throw new RangeError(`${field} is ${value}, which is not a uint32`);
  return value;
}

/** Returns `value` if it is a signed 32 bit integer; throws RangeError otherwise. */
export function int32(value: number, field: string): number {
  if ((value | 0) !== value) throw new RangeError(`${field} is ${value}, which is not an int32`);
  return value;
}

/** Zeroed words for `data` data: a part of `scratch` if that is long enough. */
export function wordsFor(data: number, scratch: Int32Array | undefined): Int32Array {
  const length = data * wordsPerSlot;
  if (scratch === undefined || scratch.length < length) return new Int32Array(length);
  return scratch.subarray(0, length).fill(0);
}
