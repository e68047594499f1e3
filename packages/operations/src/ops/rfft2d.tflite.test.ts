import { describe, expect, it } from "vitest";
import { runInSteps } from "../phases.ts";
import { createTransform, type Source, type StoreNumber } from "./_fourier.tflite.ts";
import { elements, giveTensor, greatestDifference, of, shape } from "./_tensors.tflite.test-helper.ts";

/** The transform by its definition. */
function transformRows(input: readonly number[][], height: number, width: number): number[] {
  const result: number[] = [];
  for (let k = 0; k < height; k++) {
    for (let l = 0; l <= Math.floor(width / 2); l++) {
      let [real, imaginary] = [0, 0];
      for (let row = 0; row < Math.min(height, input.length); row++) {
        for (let column = 0; column < Math.min(width, input[0].length); column++) {
          const angle = -2 * Math.PI * ((k * row) / height + (l * column) / width);
          real += input[row][column] * Math.cos(angle);
          imaginary += input[row][column] * Math.sin(angle);
        }
      }
      result.push(real, imaginary);
    }
  }
  return result;
}

const lengths = (height: number, width: number) => giveTensor(of("int32"), [height, width]);

describe("RFFT2D", () => {
  it.each([
    [4, 8],
    [8, 4],
    [2, 2],
    [1, 16],
    [16, 1],
    [1, 1],
  ])("is the transform by its definition, to %dx%d", async (height, width) => {
    const matrices = [0, 1].map((matrix) =>
      Array.from({ length: 5 }, (_, row) =>
        Array.from({ length: 7 }, (_, column) => Math.sin(row * 7 + column + matrix)),
      ),
    );
    const input = giveTensor(of("float32"), matrices.flat(2), [2, 5, 7]);
    const inputs = [input, lengths(height, width)];
    expect(await shape("RFFT2D", inputs, of("complex64"))).toEqual([2, height, Math.floor(width / 2) + 1]);
    const exact = matrices.flatMap((matrix) => transformRows(matrix, height, width));
    expect(greatestDifference(await elements("RFFT2D", inputs, of("complex64")), exact)).toBeLessThan(1e-5);
  });

  it("refuses lengths that are not powers of 2, another number of them, and vectors", async () => {
    const input = giveTensor(of("float32"), [1, 2], [1, 2]);
    await expect(elements("RFFT2D", [input, lengths(1, 6)], of("complex64"))).rejects.toThrow(
      "fftLength: expected powers of 2, got 1x6",
    );
    await expect(elements("RFFT2D", [input, lengths(0, 2)], of("complex64"))).rejects.toThrow("powers of 2");
    await expect(elements("RFFT2D", [input, lengths(-4, 2)], of("complex64"))).rejects.toThrow("powers of 2");
    const three = giveTensor(of("int32"), [1, 2, 4]);
    await expect(elements("RFFT2D", [input, three], of("complex64"))).rejects.toThrow(
      "the shape of fftLength: expected 2, got 3",
    );
    const vector = giveTensor(of("float32"), [1, 2]);
    await expect(elements("RFFT2D", [vector, lengths(1, 2)], of("complex64"))).rejects.toThrow(
      "RFFT2D: input: expected rank 2 or more, got 1",
    );
  });
});

describe("COMPLEX_ABS, REAL and IMAG", () => {
  it.each([
    ["complex64", "float32"],
    ["complex128", "float64"],
  ] as const)("of %s", async (from, to) => {
    const numbers = giveTensor(of(from), [3, -4, -5, 12], [2]);
    expect(await elements("COMPLEX_ABS", [numbers], of(to))).toEqual([5, 13]);
    expect(await elements("REAL", [numbers], of(to))).toEqual([3, -5]);
    expect(await elements("IMAG", [numbers], of(to))).toEqual([-4, 12]);
  });

  it("refuse real numbers and a result of another width", async () => {
    await expect(elements("REAL", [giveTensor(of("float32"), [1])], of("float32"))).rejects.toThrow(
      "REAL: input 0 (input)",
    );
    await expect(elements("REAL", [giveTensor(of("complex64"), [1, 2], [1])], of("float64"))).rejects.toThrow("REAL:");
  });
});

describe("a long transform", () => {
  it("pauses, and is that of a wave", () => {
    const length = 1 << 18;
    const transform = createTransform(length);
    const numbers = { real: new Float64Array(length), imaginary: new Float64Array(length) };
    const source: Source = { real: (place) => Math.cos((2 * Math.PI * 1000 * place) / length) };
    const store: StoreNumber = (place, real, imaginary) => {
      numbers.real[place] = real;
      numbers.imaginary[place] = imaginary;
    };
    const compute = (first: number, end: number) => {
      for (let step = first; step < end; step++) transform.compute(step, source, store);
    };
    const { steps, cost, phases } = transform;
    const running = runInSteps([...phases, { units: steps, cost, inTurn: true, compute }]);
    let pauses = 0;
    while (!running.next().done) pauses++;
    expect(pauses).toBeGreaterThan(20);
    expect(numbers.real[1000]).toBeCloseTo(length / 2, 3);
    expect(numbers.real[length - 1000]).toBeCloseTo(length / 2, 3);
    expect(Math.abs(numbers.real[999]) + Math.abs(numbers.imaginary[1000])).toBeLessThan(1e-3);
  });
});
