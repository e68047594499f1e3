/**
 * The discrete Fourier transform of as many numbers as a power of 2, by the algorithm of Cooley and Tukey.
 */

import { runInSteps } from "@nnhal/operations";

/** Runs a loop over [0, units) in parts, with a pause between two. */
function inParts(units: number, compute: (first: number, end: number) => void): Generator<void, void> {
  return runInSteps({ units, compute });
}

/** Complex numbers by their parts. */
export interface Complex {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/** Replaces numbers by their transform. Pauses every few milliseconds. */
export type Transform = (numbers: Complex) => Generator<void, void>;

/** The transform of `length` numbers, a power of 2: Σ xₙ · exp(-2πi · kn / length). Pauses every few milliseconds. */
export function* createTransform(length: number): Generator<void, Transform> {
  const turns = { real: new Float64Array(length >> 1), imaginary: new Float64Array(length >> 1) };
  yield* inParts(length >> 1, (first, end) => {
    for (let k = first; k < end; k++) {
      turns.real[k] = Math.cos((2 * Math.PI * k) / length);
      turns.imaginary[k] = -Math.sin((2 * Math.PI * k) / length);
    }
  });
  return function* (numbers) {
    yield* reverseBits(numbers);
    for (let size = 2; size <= length; size *= 2) yield* combineHalves(numbers, size, turns);
  };
}

/** Turns the transforms of each two neighbouring halves of `size` into that of both. */
function* combineHalves({ real, imaginary }: Complex, size: number, turns: Complex): Generator<void, void> {
  const half = size / 2;
  const stride = real.length / size;
  yield* inParts(real.length / 2, (first, end) => {
    for (let pair = first; pair < end; pair++) {
      const k = pair % half;
      const [even, odd] = [2 * pair - k, 2 * pair - k + half];
      const [cosine, sine] = [turns.real[k * stride], turns.imaginary[k * stride]];
      const turnedReal = real[odd] * cosine - imaginary[odd] * sine;
      const turnedImaginary = real[odd] * sine + imaginary[odd] * cosine;
      real[odd] = real[even] - turnedReal;
      imaginary[odd] = imaginary[even] - turnedImaginary;
      real[even] += turnedReal;
      imaginary[even] += turnedImaginary;
    }
  });
}

/** Puts each number where the bits of its place are reversed. */
function* reverseBits({ real, imaginary }: Complex): Generator<void, void> {
  const { length } = real;
  // The place after the last is reached once, and its reverse is not used.
  let reversed = 0;
  yield* inParts(length, (first, end) => {
    for (let place = first; place < end; place++) {
      if (place < reversed) {
        for (const part of [real, imaginary]) [part[place], part[reversed]] = [part[reversed], part[place]];
      }
      let bit = length >> 1;
      for (; reversed & bit; bit >>= 1) reversed ^= bit;
      reversed ^= bit;
    }
  });
}
