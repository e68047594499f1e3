/** Changes of bytes without regard to their meaning. */
import type { Random } from "../random.ts";

/** Numbers at which code turns: ends of types, powers of two and their neighbours. */
export const interesting: readonly number[] = [
  ...[
    0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 4095, 4096,
  ],
  ...[32_767, 32_768, 65_535, 65_536, 65_537, 0x00ff_ffff, 0x0100_0000, 0x1000_0000, 0x4000_0000],
  ...[0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff],
];

/** A number near another one, or one at which code turns. 32 bits. */
export function otherNumber(value: number, random: Random): number {
  switch (random.below(6)) {
    case 0:
      return (value + 1) >>> 0;
    case 1:
      return (value - 1) >>> 0;
    case 2:
      return (value ^ (1 << random.below(32))) >>> 0;
    case 3:
      return (value + random.below(64) - 32) >>> 0;
    case 4:
      return random.below(16);
    default:
      return random.pick(interesting);
  }
}

const longestPiece = 64;

type Change = (input: Uint8Array, random: Random, other: Uint8Array) => Uint8Array;

const changes: readonly Change[] = [
  makeChange((bytes, at, random) => {
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  }),
  makeChange((bytes, at, random) => {
    bytes[at] = random.below(256);
  }),
  makeChange((bytes, at, random) => {
    bytes[at] = (bytes[at] ?? 0) + random.below(33) - 16;
  }),
  word,
  word,
  remove,
  repeat,
  insert,
  overwrite,
  overwrite,
  exchange,
];

/** Some changes of an input, or of it and another one. `longest`: most bytes of the result. */
export function mutateBytes(input: Uint8Array, random: Random, other: Uint8Array, longest: number): Uint8Array {
  let bytes = input.length === 0 ? Uint8Array.of(random.below(256)) : input;
  const steps = 1 + (random.oneIn(2) ? 0 : random.below(8));
  for (let step = 0; step < steps; step++) bytes = random.pick(changes)(bytes, random, other);
  return bytes.length > longest ? bytes.slice(0, longest) : bytes;
}

function makeChange(change: (bytes: Uint8Array, at: number, random: Random) => void): Change {
  return (input, random) => {
    const bytes = input.slice();
    if (bytes.length > 0) change(bytes, random.below(bytes.length), random);
    return bytes;
  };
}

/** A number of 16 or 32 bits, mostly at a multiple of 4. */
function word(input: Uint8Array, random: Random): Uint8Array {
  const bytes = input.slice();
  if (bytes.length < 4) return bytes;
  const view = new DataView(bytes.buffer);
  const places = bytes.length - 3;
  const at = random.oneIn(4) ? random.below(places) : random.below(Math.ceil(places / 4)) * 4;
  if (random.oneIn(4)) view.setUint16(at, otherNumber(view.getUint16(at, true), random) & 0xffff, true);
  else view.setUint32(at, otherNumber(view.getUint32(at, true), random), true);
  return bytes;
}

function piece({ length }: Uint8Array, random: Random): readonly [from: number, to: number] {
  const from = random.below(length);
  return [from, Math.min(length, from + 1 + random.below(random.oneIn(8) ? length : longestPiece))];
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function remove(input: Uint8Array, random: Random): Uint8Array {
  if (input.length < 2) return input;
  const [from, to] = piece(input, random);
  return join(input.subarray(0, from), input.subarray(to));
}

function repeat(input: Uint8Array, random: Random): Uint8Array {
  const [from, to] = piece(input, random);
  return join(input.subarray(0, to), input.subarray(from, to), input.subarray(to));
}

function insert(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array {
  const at = random.below(input.length + 1);
  const [from, to] = piece(other, random);
  return join(input.subarray(0, at), other.subarray(from, to), input.subarray(at));
}

function overwrite(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array {
  const bytes = input.slice();
  const [from, to] = piece(other, random);
  // Often from the same place, where it is likely to mean the same.
  const at = random.oneIn(2) ? from : random.below(bytes.length);
  if (at < bytes.length) bytes.set(other.subarray(from, Math.min(to, from + bytes.length - at)), at);
  return bytes;
}

function exchange(input: Uint8Array, random: Random): Uint8Array {
  const bytes = input.slice();
  const size = 4 * (1 + random.below(4));
  if (bytes.length < 2 * size) return bytes;
  const places = Math.floor(bytes.length / 4) - size / 4;
  const [one, two] = [random.below(places) * 4, random.below(places) * 4];
  const kept = bytes.slice(one, one + size);
  bytes.copyWithin(one, two, two + size);
  bytes.set(kept, two);
  return bytes;
}
