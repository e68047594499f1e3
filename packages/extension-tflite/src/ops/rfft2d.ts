/**
 * RFFT2D: the discrete Fourier transform of real matrices.
 */
import { elementCount, type TensorData } from "@nnhal/operations";
import { defineOperation, ensure, ensureShape, pacer, read, tensor } from "@nnhal/operations/authoring";
import { tfliteTypes } from "../types.ts";
import { type Complex, createTransform } from "./_fourier.ts";

export const rfft2d = defineOperation({
  name: "RFFT2D",
  code: 1131,
  summary:
    "The Fourier transform along the last two axes, cut or filled with zeros to fftLength; of the columns the first half.",
  params: [tensor("input", "TENSOR_FLOAT32"), read(tensor("fftLength", "TENSOR_INT32"))],
  outputs: [tensor("output", tfliteTypes.TENSOR_COMPLEX64)],
  types: [["1.2"]],
  ranks: { input: [2, Number.POSITIVE_INFINITY], fftLength: 1 },
  work: "functionElement",
  infer({ input, fftLength }) {
    ensureShape("fftLength", fftLength, [2]);
    const [height, width] = fftLength.data;
    for (const length of [height, width]) {
      ensure(isPowerOfTwo(length), () => `fftLength: expected powers of 2, got ${height}x${width}`);
    }
    return { output: { dimensions: [...input.dimensions.slice(0, -2), height, Math.floor(width / 2) + 1] } };
  },
  *reference({ input, fftLength }, { output }) {
    const [height, width] = fftLength.data;
    const [rows, columns] = input.dimensions.slice(-2);
    const bins = Math.floor(width / 2) + 1;
    const transformRow = yield* createTransform(width);
    const transformColumn = yield* createTransform(height);
    const matrices = elementCount(input.dimensions.slice(0, -2));
    const spectra = new Float64Array(2 * height * bins);
    const isTime = pacer();
    for (let matrix = 0; matrix < matrices; matrix++) {
      spectra.fill(0);
      for (let row = 0; row < Math.min(rows, height); row++) {
        const numbers = rowOf(input.data, (matrix * rows + row) * columns, Math.min(columns, width), width);
        yield* transformRow(numbers);
        storeRow(numbers, spectra, row, bins);
        if (isTime(width * 16)) yield;
      }
      for (let bin = 0; bin < bins; bin++) {
        const numbers = columnOf(spectra, bin, bins, height);
        yield* transformColumn(numbers);
        storeColumn(numbers, output.data, matrix * height, bin, bins);
        if (isTime(height * 16)) yield;
      }
    }
  },
});

function isPowerOfTwo(value: number): boolean {
  return value > 0 && (value & (value - 1)) === 0;
}

function rowOf(data: TensorData, first: number, count: number, length: number): Complex {
  const real = new Float64Array(length);
  for (let column = 0; column < count; column++) real[column] = data[first + column];
  return { real, imaginary: new Float64Array(length) };
}

function storeRow({ real, imaginary }: Complex, spectra: Float64Array, row: number, bins: number): void {
  for (let bin = 0; bin < bins; bin++) {
    spectra[2 * (row * bins + bin)] = real[bin];
    spectra[2 * (row * bins + bin) + 1] = imaginary[bin];
  }
}

function columnOf(spectra: Float64Array, bin: number, bins: number, height: number): Complex {
  const real = Float64Array.from({ length: height }, (_, row) => spectra[2 * (row * bins + bin)]);
  const imaginary = Float64Array.from({ length: height }, (_, row) => spectra[2 * (row * bins + bin) + 1]);
  return { real, imaginary };
}

function storeColumn(
  { real, imaginary }: Complex,
  data: TensorData,
  firstRow: number,
  bin: number,
  bins: number,
): void {
  for (let row = 0; row < real.length; row++) {
    data[2 * ((firstRow + row) * bins + bin)] = real[row];
    data[2 * ((firstRow + row) * bins + bin) + 1] = imaginary[row];
  }
}
