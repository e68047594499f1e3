/**
 * The discrete Fourier transform of as many numbers as a power of 2, by the algorithm of Cooley and Tukey.
 */

/** Complex numbers by their parts. */
export interface Complex {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/** Returns a function that replaces `length` numbers by their transform: Σ xₙ · exp(-2πi · kn / length). `length`: a power of 2. */
export function createTransform(length: number): (numbers: Complex) => void {
  const angle = (-2 * Math.PI) / length;
  const cosines = Float64Array.from({ length: length / 2 }, (_, k) => Math.cos(angle * k));
  const sines = Float64Array.from({ length: length / 2 }, (_, k) => Math.sin(angle * k));
  return (numbers) => {
    reverseBits(numbers);
    for (let size = 2; size <= length; size *= 2) combineHalves(numbers, size, cosines, sines);
  };
}

/** Turns the transforms of each two neighbouring halves of `size` into that of both. */
function combineHalves({ real, imaginary }: Complex, size: number, cosines: Float64Array, sines: Float64Array): void {
  const half = size / 2;
  const stride = real.length / size;
  for (let start = 0; start < real.length; start += size) {
    for (let k = 0; k < half; k++) {
      const [cosine, sine] = [cosines[k * stride], sines[k * stride]];
      const [even, odd] = [start + k, start + k + half];
      const turnedReal = real[odd] * cosine - imaginary[odd] * sine;
      const turnedImaginary = real[odd] * sine + imaginary[odd] * cosine;
      real[odd] = real[even] - turnedReal;
      imaginary[odd] = imaginary[even] - turnedImaginary;
      real[even] += turnedReal;
      imaginary[even] += turnedImaginary;
    }
  }
}

/** Puts each number where the bits of its place are reversed. */
function reverseBits({ real, imaginary }: Complex): void {
  const { length } = real;
  for (let place = 1, reversed = 0; place < length; place++) {
    let bit = length >> 1;
    for (; reversed & bit; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (place >= reversed) continue;
    for (const part of [real, imaginary]) [part[place], part[reversed]] = [part[reversed], part[place]];
  }
}
