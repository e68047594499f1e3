/**
 * The discrete Fourier transform of as many numbers as a power of 2, by the algorithm of Cooley and Tukey.
 */
import type { Phase } from "../phases.ts";

/** The numbers to transform, by their places. */
export interface Source {
  real(place: number): number;
  /** Absent: all are 0. */
  imaginary?(place: number): number;
}

/** Takes a number of the result. */
export type StoreNumber = (place: number, real: number, imaginary: number) => void;

/** Transforms of one length, each in steps. They share their numbers, so that one must end before the next begins. */
export interface Transform {
  /** Must be computed before the first step. */
  readonly phases: readonly Phase[];
  /** Steps of a transform. */
  readonly steps: number;
  /** The cost of a step. */
  readonly cost: number;
  /** Does one step, from step 0 on: the first read the source, the last store the result. */
  compute(step: number, source: Source, store: StoreNumber): void;
}

/** Most numbers that a step changes. */
const MOST_NUMBERS = 1 << 13;

/**
 * The transform of `length` numbers, a power of 2: X[k] = Σ x[n] · exp(-2πi · kn / length), of which the first `results` are stored. Each stage
 * turns the transforms of the even and of the odd numbers into that of both: X[k] = E[k] + tO[k], X[k + size / 2] = E[k] - tO[k] with
 * t = exp(-2πi · k / size).
 */
export function createTransform(length: number, results = length): Transform {
  const turnReal = new Float64Array(length >> 1);
  const turnImaginary = new Float64Array(length >> 1);
  const reversed = new Uint32Array(length);
  const real = new Float64Array(length);
  const imaginary = new Float64Array(length);
  const blocks = Math.ceil(length / MOST_NUMBERS);
  const stages = Math.log2(length);

  const turn = (first: number, end: number) => {
    for (let k = first; k < end; k++) {
      turnReal[k] = Math.cos((2 * Math.PI * k) / length);
      turnImaginary[k] = -Math.sin((2 * Math.PI * k) / length);
    }
  };
  /** The bits of a place from the last to the first: those of its half, and before them its last one. */
  const reverse = (first: number, end: number) => {
    for (let place = first; place < end; place++) {
      reversed[place] = (reversed[place >> 1] >> 1) | (place & 1 ? length >> 1 : 0);
    }
  };
  const read = (source: Source, first: number, end: number) => {
    for (let place = first; place < end; place++) {
      real[reversed[place]] = source.real(place);
      imaginary[reversed[place]] = source.imaginary?.(place) ?? 0;
    }
  };
  const combine = (size: number, first: number, end: number) => {
    const half = size / 2;
    const stride = length / size;
    for (let pair = first; pair < end; pair++) {
      const k = pair % half;
      const [even, odd] = [2 * pair - k, 2 * pair - k + half];
      const [cosine, sine] = [turnReal[k * stride], turnImaginary[k * stride]];
      const turnedReal = real[odd] * cosine - imaginary[odd] * sine;
      const turnedImaginary = real[odd] * sine + imaginary[odd] * cosine;
      real[odd] = real[even] - turnedReal;
      imaginary[odd] = imaginary[even] - turnedImaginary;
      real[even] += turnedReal;
      imaginary[even] += turnedImaginary;
    }
  };
  const write = (store: StoreNumber, first: number, end: number) => {
    for (let place = first; place < end; place++) store(place, real[place], imaginary[place]);
  };

  return {
    phases: [
      { units: length >> 1, cost: 32, compute: turn },
      { units: length, inTurn: true, compute: reverse },
    ],
    steps: (stages + 2) * blocks,
    cost: (8 * length) / blocks,
    compute(step, source, store) {
      const stage = Math.floor(step / blocks);
      const block = step % blocks;
      const boundOf = (count: number, index: number) => Math.floor((count * index) / blocks);
      const [first, end] = [boundOf(length, block), boundOf(length, block + 1)];
      if (stage === 0) read(source, first, end);
      else if (stage <= stages) combine(2 ** stage, first / 2, end / 2);
      else write(store, boundOf(results, block), boundOf(results, block + 1));
    },
  };
}
