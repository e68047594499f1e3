/**
 * RFFT2D: the discrete Fourier transform of real matrices.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { elementCount } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { createTransform, type Source } from "./_fourier.tflite.ts";

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
  /** output[m, k, l] = Σ exp(-2πi · kr / height) · (Σ exp(-2πi · lc / width) · input[m, r, c], over the columns c), over the rows r. */
  reference({ input, fftLength }, { output }) {
    const [height, width] = fftLength.data;
    const [rows, columns] = input.dimensions.slice(-2);
    const bins = Math.floor(width / 2) + 1;
    const matrices = elementCount(input.dimensions.slice(0, -2));
    // The transforms of the rows; those that a matrix lacks stay 0.
    const used = Math.min(rows, height);
    const real = new Float64Array(matrices * height * bins);
    const imaginary = new Float64Array(matrices * height * bins);
    const ofRow = createTransform(width, bins);
    const transformRows = (first: number, end: number) => {
      for (let unit = first; unit < end; unit++) {
        const row = Math.floor(unit / ofRow.steps);
        const matrix = Math.floor(row / used);
        const from = (matrix * rows + (row % used)) * columns;
        const to = (matrix * height + (row % used)) * bins;
        const source: Source = { real: (column) => (column < columns ? input.data[from + column] : 0) };
        ofRow.compute(unit % ofRow.steps, source, (bin, realPart, imaginaryPart) => {
          real[to + bin] = realPart;
          imaginary[to + bin] = imaginaryPart;
        });
      }
    };
    const ofColumn = createTransform(height);
    const transformColumns = (first: number, end: number) => {
      for (let unit = first; unit < end; unit++) {
        const column = Math.floor(unit / ofColumn.steps);
        const at = Math.floor(column / bins) * height * bins + (column % bins);
        const source: Source = { real: (row) => real[at + row * bins], imaginary: (row) => imaginary[at + row * bins] };
        ofColumn.compute(unit % ofColumn.steps, source, (row, realPart, imaginaryPart) => {
          output.data[2 * (at + row * bins)] = realPart;
          output.data[2 * (at + row * bins) + 1] = imaginaryPart;
        });
      }
    };
    return [
      ...ofRow.phases,
      { units: matrices * used * ofRow.steps, cost: ofRow.cost, inTurn: true, compute: transformRows },
      ...ofColumn.phases,
      { units: matrices * bins * ofColumn.steps, cost: ofColumn.cost, inTurn: true, compute: transformColumns },
    ];
  },
});

function isPowerOfTwo(value: number): boolean {
  return value > 0 && (value & (value - 1)) === 0;
}
