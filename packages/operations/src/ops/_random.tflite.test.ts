import { describe, expect, it } from "vitest";
import { int32 } from "./_run.tflite.test-helper.ts";
import { elements, giveTensor, greatestDifference, of, shape } from "./_tensors.tflite.test-helper.ts";

const shapeOf = (...extents: number[]) => giveTensor(of("int32"), extents);
const draw = (name: string, count: number, seed: number, seed2: number) =>
  elements(name, [shapeOf(count), int32(seed), int32(seed2)], of("float32"));

function moments(values: readonly (number | bigint)[]): readonly [mean: number, variance: number] {
  const numbers = values.map(Number);
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  return [mean, numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / numbers.length];
}

describe("RANDOM_UNIFORM and RANDOM_STANDARD_NORMAL", () => {
  it("repeat for the same seeds, and no others; more numbers begin with the same ones", async () => {
    for (const name of ["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"]) {
      const first = await draw(name, 6, 1, 2);
      expect(await draw(name, 6, 1, 2)).toEqual(first);
      expect((await draw(name, 11, 1, 2)).slice(0, 6)).toEqual(first);
      for (const [seed, seed2] of [
        [1, 3],
        [2, 2],
        [-1, 2],
      ]) {
        expect(greatestDifference(await draw(name, 6, seed, seed2), first)).toBeGreaterThan(0.01);
      }
    }
  });

  it("draw the numbers of .tflite", async () => {
    // The words of Philox4x32-10 for these seeds, truncated to 23 bits; negative ones are extended to 64 bits.
    const expected = [0.23090052604675293, 0.8032582998275757, 0.064597487449646, 0.7748368978500366];
    const [seed, seed2] = [1234567890123n, 9876543210987n].map((value) => Number(BigInt.asIntN(32, value)));
    expect(await draw("RANDOM_UNIFORM", 4, seed, seed2)).toEqual(expected);
    const [a, b] = expected;
    const radius = Math.sqrt(-2 * Math.log(a));
    const [first, second] = await draw("RANDOM_STANDARD_NORMAL", 3, seed, seed2);
    expect(first).toBeCloseTo(radius * Math.sin(2 * Math.PI * b), 6);
    expect(second).toBeCloseTo(radius * Math.cos(2 * Math.PI * b), 6);
  });

  it("have the moments of their distributions", async () => {
    const [mean, variance] = moments(await draw("RANDOM_UNIFORM", 20_000, 5, 6));
    expect(mean).toBeCloseTo(0.5, 1);
    expect(variance).toBeCloseTo(1 / 12, 2);
    const [normalMean, normalVariance] = moments(await draw("RANDOM_STANDARD_NORMAL", 20_001, 5, 6));
    expect(normalMean).toBeCloseTo(0, 1);
    expect(normalVariance).toBeCloseTo(1, 1);
  });

  it("have the shape that is asked for, and draw without seeds", async () => {
    expect(await shape("RANDOM_UNIFORM", [shapeOf(2, 3, 1), int32(0), int32(0)], of("float32"))).toEqual([2, 3, 1]);
    const [value] = await draw("RANDOM_UNIFORM", 1, 0, 0);
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThan(1);
  });

  it("refuse negative extents", async () => {
    await expect(draw("RANDOM_UNIFORM", -1, 1, 1)).rejects.toThrow("would have shape -1");
  });
});

describe("MULTINOMIAL", () => {
  const logits = giveTensor(
    of("float32"),
    [Math.log(0.1), Math.log(0.9), Number.NEGATIVE_INFINITY, 3, Number.NaN, 3],
    [2, 3],
  );
  const classes = (count: number, type: "int32" | "int64" = "int32") =>
    elements("MULTINOMIAL", [logits, shapeOf(count), int32(3), int32(4)], of(type));

  it("draws classes by their probabilities, never those that are not finite", async () => {
    const drawn = await classes(2000);
    const [first, second] = [drawn.slice(0, 2000), drawn.slice(2000)];
    expect(first.every((each) => each === 0 || each === 1)).toBe(true);
    expect(first.filter((each) => each === 1).length / 2000).toBeCloseTo(0.9, 1);
    expect(second.every((each) => each === 0 || each === 2)).toBe(true);
    expect(second.filter((each) => each === 2).length / 2000).toBeCloseTo(0.5, 1);
  });

  it("repeats, in 64-bit integers too", async () => {
    expect(await classes(9)).toEqual(await classes(9));
    expect((await classes(9, "int64")).map(Number)).toEqual(await classes(9));
  });

  it("refuses a negative number of samples, several numbers, and a batch without a class", async () => {
    await expect(classes(-1)).rejects.toThrow("numSamples is -1, less than 0");
    const two = [logits, shapeOf(1, 2), int32(3), int32(4)];
    await expect(elements("MULTINOMIAL", two, of("int32"))).rejects.toThrow("numSamples: expected 1 element, got 2");
    const empty = giveTensor(of("float32"), [], [2, 0]);
    await expect(elements("MULTINOMIAL", [empty, shapeOf(1), int32(3), int32(4)], of("int32"))).rejects.toThrow(
      "expected at least 1 class, got 0",
    );
    const none = giveTensor(of("float32"), [Number.NaN], [1, 1]);
    await expect(elements("MULTINOMIAL", [none, shapeOf(1), int32(3), int32(4)], of("int32"))).rejects.toThrow(
      "no class of batch 0 has a finite logarithm",
    );
  });
});
