/**
 * Predicted times of operations: work by the definition, costs by the kind of step.
 */
import { OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type Sketch, sketch } from "./planning.test-helper.ts";
import { defaultCosts } from "./policy.ts";
import { timeOf } from "./work.ts";

/** Every figure is another power of ten, so that sums show the counted steps. */
const costs = {
  multiplyAdd: 1,
  recurrentMultiplyAdd: 1e2,
  depthwiseMultiplyAdd: 1e4,
  element: 1e6,
  quantisedElement: 1e8,
  functionElement: 1e10,
  operation: Number.NaN,
  byteMoved: Number.NaN,
  step: Number.NaN,
};

function timeFor(
  [row]: readonly [Sketch[number]],
  dimensions: Record<string, readonly number[]>,
  type: number = OperandType.TENSOR_FLOAT32,
) {
  const special = Object.fromEntries(
    Object.entries(dimensions).map(([name, sizes]) => [name, { dimensions: sizes, type }]),
  );
  const [name, inputs, outputs] = row;
  return timeOf(sketch([[name, inputs, outputs]], inputs, outputs, special), 0, costs);
}

describe("the time of an operation", () => {
  it("is one multiply-add for each weight of a filter and each output", () => {
    const image = { x: [1, 8, 8, 3], f: [16, 5, 5, 3], b: [16], s: [], y: [1, 8, 8, 16] };
    expect(timeFor([["CONV_2D", "x f b s s s s", "y"]], image)).toBe(8 * 8 * 16 * 5 * 5 * 3);
    const matrix = { x: [2, 10], w: [4, 10], b: [4], s: [], y: [2, 4] };
    expect(timeFor([["FULLY_CONNECTED", "x w b s", "y"]], matrix)).toBe(2 * 4 * 10);
  });

  it("is that of a window for each output of a depthwise convolution", () => {
    const image = { x: [1, 8, 8, 6], f: [1, 3, 3, 6], b: [6], s: [], y: [1, 8, 8, 6] };
    expect(timeFor([["DEPTHWISE_CONV_2D", "x f b s s s s s", "y"]], image)).toBe(1e4 * 8 * 8 * 6 * 9);
  });

  it("is every weight at every point in time, and a function of the results, for recurrent operations", () => {
    const dimensions = { x: [2, 7, 3], w: [5, 3], r: [5, 5], b: [5], h: [2, 5], s: [], y: [2, 7, 5] };
    const multiplyAdds = 14 * (15 + 25 + 10);
    // The state is a matrix, too; it is small compared with the weights.
    expect(timeFor([["UNIDIRECTIONAL_SEQUENCE_RNN", "x w r b h s s", "y"]], dimensions)).toBe(
      1e2 * multiplyAdds + 1e10 * 14 * (5 + 5 + 2),
    );
  });

  it("is a little for each element read or written, more if it is requantised or a function computed", () => {
    const dimensions = { x: [3], y: [3] };
    expect(timeFor([["ABS", "x", "y"]], dimensions)).toBe(1e6 * 6);
    expect(timeFor([["ABS", "x", "y"]], dimensions, OperandType.TENSOR_QUANT8_ASYMM)).toBe(1e8 * 6);
    expect(timeFor([["TANH", "x", "y"]], dimensions)).toBe(1e10 * 6);
  });

  it("counts what is not known as 1", () => {
    expect(timeFor([["ABS", "x", "y"]], { x: [0, 3], y: [] })).toBe(1e6 * 4);
  });
});

it("every default figure is positive", () => {
  for (const [name, figure] of Object.entries(defaultCosts)) expect(figure, name).toBeGreaterThan(0);
});
