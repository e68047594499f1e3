import { expect, it } from "vitest";
import { transposeMatrix } from "./transpose-matrix.ts";

it("transposes a matrix that has several blocks, the last one smaller", () => {
  const [rows, columns] = [3, 37];
  const data = Int32Array.from({ length: rows * columns }, (_, index) => index);
  const transposed = transposeMatrix(data, rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      expect(transposed[column * rows + row]).toBe(data[row * columns + column]);
    }
  }
});

it("subtracts the zero point", () => {
  expect(transposeMatrix(Uint8Array.of(0, 255, 128, 1), 2, 128)).toEqual(Float32Array.of(-128, 0, 127, -127));
});

it("transposes an empty matrix", () => {
  expect(transposeMatrix(new Float32Array(0), 4)).toEqual(new Float32Array(0));
});
