import { elementAt } from "@nnhal/operations";
import { addExample, bytesOf, constant, input, operand, output } from "@nnhal/test-kit/examples";
import { describe, expect, it } from "vitest";
import { findDifference } from "./compare.ts";
import type { Example } from "./example.ts";

const samples = 8;

/** Two batches of two classes; the first class has a probability of 3/4 and of 1/4; eight samples each. */
const example: Example = addExample({
  name: "random/random",
  expectedMultinomialDistributionTolerance: 0.126,
  main: {
    inputIndexes: [0],
    outputIndexes: [3],
    operations: [{ type: "RANDOM_MULTINOMIAL", inputs: [0, 1, 2], outputs: [3] }],
    operands: [
      operand("TENSOR_FLOAT32", [2, 2], {
        ...input,
        data: bytesOf(Float32Array.of(Math.log(3), 0, 5, 5 + Math.log(3))),
      }),
      operand("INT32", [], { ...constant, data: bytesOf(Int32Array.of(samples)) }),
      operand("TENSOR_INT32", [2], { ...constant, data: bytesOf(Int32Array.of(1, 2)) }),
      operand("TENSOR_INT32", [2, samples], { ...output, data: new Uint8Array(4 * 2 * samples) }),
    ],
  },
});

/** The difference where `zeros` of the samples of each batch are class 0. */
function difference(zeros: readonly [number, number], dimensions = [2, samples]) {
  const drawn = Int32Array.from({ length: 2 * samples }, (_, index) =>
    index % samples < elementAt(zeros, Math.floor(index / samples)) ? 0 : 1,
  );
  return findDifference(example, [{ dimensions, isSufficient: true }], () => bytesOf(drawn));
}

describe("samples of a distribution", () => {
  it("pass if each class has its share in each batch, within the tolerance", () => {
    // Expected are 6 and 2 of 8; one sample is 0.125.
    expect(difference([6, 2])).toBeUndefined();
    expect(difference([5, 3])).toBeUndefined();
    expect(difference([7, 1])).toBeUndefined();
  });

  it("fail one sample beyond the tolerance, in either batch and on either side", () => {
    for (const zeros of [
      [4, 2],
      [8, 2],
      [6, 0],
      [6, 4],
    ] as const) {
      expect(difference(zeros)).toMatch(
        /^RANDOM_MULTINOMIAL output 0: share of class 0 in batch [01]: expected .* within .*, got /,
      );
    }
  });

  it("fail if a sample is not a class", () => {
    for (const wrong of [-1, 2]) {
      const drawn = Int32Array.from({ length: 2 * samples }, (_, index) => (index === 9 ? wrong : 0));
      expect(findDifference(example, [{ dimensions: [2, samples], isSufficient: true }], () => bytesOf(drawn))).toMatch(
        /RANDOM_MULTINOMIAL output 0/,
      );
    }
    const allWrong = new Int32Array(2 * samples).fill(2);
    expect(findDifference(example, [{ dimensions: [2, samples], isSufficient: true }], () => bytesOf(allWrong))).toBe(
      "RANDOM_MULTINOMIAL output 0 element 0: sample 2 is none of the 2 classes",
    );
  });

  it("fail if the shape is wrong", () => {
    expect(difference([6, 2], [2, 9])).toBe("RANDOM_MULTINOMIAL output 0: expected shape 2x8, got 2x9");
  });
});
