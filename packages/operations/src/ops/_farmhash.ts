/**
 * FarmHash's Fingerprint64, a 64-bit hash of bytes whose results are fixed for ever (Geoff Pike, Google, 2014). Short,
 * middling and long inputs each have a scheme of their own. All arithmetic is modulo 2^64, words are little-endian.
 */

const K0 = 0xc3a5_c85c_97cb_3127n;
const K1 = 0xb492_b66f_be98_f273n;
const K2 = 0x9ae1_6a3b_2f90_404fn;

/** Bytes that a long input is taken in at once. */
const CHUNK = 64;

const wrap = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, right: bigint) => wrap((value >> right) | (value << (64n - right)));
const fold = (value: bigint) => value ^ (value >> 47n);

/** The 64-bit fingerprint of some bytes, unsigned. */
export function fingerprint64(bytes: Uint8Array): bigint {
  const { length } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  const word: Word = (at) => view.getBigUint64(at, true);
  if (length > CHUNK) return hashLong(word, length);
  const multiplier = wrap(K2 + BigInt(length) * 2n);
  if (length > 32) return hashUpTo64(word, length, multiplier);
  if (length > 16) {
    const { first, second } = mixUpTo32(word, length, multiplier, K1);
    return mix(first, second, multiplier);
  }
  if (length >= 8) {
    const a = wrap(word(0) + K2);
    const b = word(length - 8);
    return mix(wrap(rotate(b, 37n) * multiplier + a), wrap((rotate(a, 25n) + b) * multiplier), multiplier);
  }
  if (length >= 4) {
    const head = BigInt(view.getUint32(0, true));
    return mix(BigInt(length) + (head << 3n), BigInt(view.getUint32(length - 4, true)), multiplier);
  }
  if (length === 0) return K2;
  const y = BigInt(bytes[0] + bytes[length >> 1] * 256);
  const z = BigInt(length + bytes[length - 1] * 4);
  return wrap(fold(wrap(y * K2) ^ wrap(z * K0)) * K2);
}

/** Reads the 64-bit word at a byte. */
type Word = (at: number) => bigint;

/** Two words as one. */
function mix(first: bigint, second: bigint, multiplier: bigint): bigint {
  const inner = fold(wrap((first ^ second) * multiplier));
  return wrap(fold(wrap((second ^ inner) * multiplier)) * multiplier);
}

/** The four words that an input of 17 to 64 bytes begins and ends with, as two; `start` and `next` are used again. */
function mixUpTo32(word: Word, length: number, multiplier: bigint, factor: bigint) {
  const start = wrap(word(0) * factor);
  const next = word(8);
  const tail = wrap(word(length - 8) * multiplier);
  const first = wrap(rotate(wrap(start + next), 43n) + rotate(tail, 30n) + word(length - 16) * K2);
  const second = wrap(start + rotate(wrap(next + K2), 18n) + tail);
  return { start, first, second };
}

function hashUpTo64(word: Word, length: number, multiplier: bigint): bigint {
  const { start, first, second } = mixUpTo32(word, length, multiplier, K2);
  const both = mix(first, second, multiplier);
  const e = wrap(word(16) * multiplier);
  const f = word(24);
  const g = wrap((first + word(length - 32)) * multiplier);
  const h = wrap((both + word(length - 24)) * multiplier);
  return mix(
    wrap(rotate(wrap(e + f), 43n) + rotate(g, 30n) + h),
    wrap(e + rotate(wrap(f + start), 18n) + g),
    multiplier,
  );
}

/** Two words that a long input's state holds twice. */
type Pair = readonly [first: bigint, second: bigint];

/** The state of hashing a long input. */
interface State {
  x: bigint;
  y: bigint;
  z: bigint;
  v: Pair;
  w: Pair;
}

function hashLong(word: Word, length: number): bigint {
  const seed = 81n;
  const y = wrap(seed * K1 + 113n);
  const state: State = {
    x: wrap(seed * K2 + word(0)),
    y,
    z: wrap(fold(wrap(y * K2 + 113n)) * K2),
    v: [0n, 0n],
    w: [0n, 0n],
  };
  const end = Math.floor((length - 1) / CHUNK) * CHUNK;
  for (let at = 0; at < end; at += CHUNK) takeChunk(state, word, at, K1, 1n);
  // The last chunk overlaps the one before it unless the length is a multiple of it.
  const multiplier = wrap(K1 + ((state.z & 0xffn) << 1n));
  const rest = BigInt((length - 1) % CHUNK);
  const vFirst = wrap(state.v[0] + state.w[0] + rest);
  state.v = [vFirst, state.v[1]];
  state.w = [wrap(state.w[0] + rest + vFirst), state.w[1]];
  takeChunk(state, word, length - CHUNK, multiplier, 9n);
  const { v, w } = state;
  return mix(
    wrap(mix(v[0], w[0], multiplier) + fold(state.y) * K0 + state.z),
    wrap(mix(v[1], w[1], multiplier) + state.x),
    multiplier,
  );
}

/** Takes 64 bytes into the state. */
function takeChunk(state: State, word: Word, at: number, multiplier: bigint, weight: bigint): void {
  const { v, w } = state;
  const x = wrap(rotate(wrap(state.x + state.y + v[0] + word(at + 8)), 37n) * multiplier) ^ wrap(w[1] * weight);
  const turned = wrap(rotate(wrap(state.y + v[1] + word(at + 48)), 42n) * multiplier);
  const y = wrap(turned + v[0] * weight + word(at + 40));
  const z = wrap(rotate(wrap(state.z + w[0]), 33n) * multiplier);
  state.v = takeHalf(word, at, wrap(v[1] * multiplier), wrap(x + w[0]));
  state.w = takeHalf(word, at + 32, wrap(z + w[1]), wrap(y + word(at + 16)));
  state.x = z;
  state.y = y;
  state.z = x;
}

/** Two words made of 32 bytes and two words. */
function takeHalf(word: Word, at: number, first: bigint, second: bigint): Pair {
  const a = wrap(first + word(at));
  const last = word(at + 24);
  const b = rotate(wrap(second + a + last), 21n);
  const sum = wrap(a + word(at + 8) + word(at + 16));
  return [wrap(sum + last), wrap(b + rotate(sum, 44n) + a)];
}
