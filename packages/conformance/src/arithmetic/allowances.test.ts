import { arithmeticOf } from "@nnhal/diff";
import { createData, elementCount, type OutputTensor, operations, type Tensor } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { kernelOperations } from "../random/examples.ts";
import { signaturesOf } from "../random/signature.ts";
import { allowanceFor, takesUnusual } from "./allowances.ts";

function operand(type: OperandTypeName, dimensions: readonly number[], ...elements: number[]): Tensor {
  const data = createData(type, elementCount(dimensions));
  data.set(elements.length === 1 ? data.map(() => elements[0] ?? 0) : elements);
  return { type, dimensions, scale: 0, zeroPoint: 0, data };
}

/** The allowance for an output of an operation, whose first signature of the output's type has these first operands. */
function allowance(name: string, inputs: readonly Tensor[], output: Tensor, activation = 0) {
  const operation = operations.find((known) => known.name === name);
  const signature =
    operation &&
    signaturesOf(operation).find(({ types, outputs }) => outputs.some((param) => types.get(param) === output.type));
  if (signature === undefined) throw new Error(`no ${name} of ${output.type}`);
  const all = signature.inputs.map(
    ({ name }, place) => inputs[place] ?? operand("INT32", [], name === "activation" ? activation : 2),
  );
  return allowanceFor({ signature, inputs: all, outputs: [] }, output satisfies OutputTensor);
}

const float = (dimensions: readonly number[], ...elements: number[]) =>
  operand("TENSOR_FLOAT32", dimensions, ...elements);
const half = (...elements: number[]) => operand("TENSOR_FLOAT16", [elements.length], ...elements);
const quantise = (scale: number): Tensor => ({ ...operand("TENSOR_QUANT8_ASYMM", [1], 1), scale });

describe("the allowance", () => {
  it("is nothing for what is moved, chosen or compared", () => {
    for (const name of ["RESHAPE", "RELU", "MAXIMUM"]) {
      expect(allowance(name, [float([2], 1, 2), float([2], 1, 2)], float([2], 1, 2))).toEqual({
        absolute: 0,
        relative: 0,
      });
    }
    expect(allowance("EQUAL", [float([1], 1), float([1], 1)], operand("TENSOR_BOOL8", [1], 1))).toEqual({
      absolute: 0,
      relative: 0,
    });
  });

  it("is nothing for integers", () => {
    const integers = operand("TENSOR_INT32", [1], 7);
    expect(allowance("MUL", [integers, integers], integers)).toEqual({ absolute: 0, relative: 0 });
  });

  it("is one step for quantised results that are rounded or get another scale, and nothing for others", () => {
    const step = { absolute: 1, relative: 0 };
    expect(allowance("ADD", [quantise(1), quantise(1)], quantise(0.5))).toEqual(step);
    expect(allowance("TANH", [quantise(1)], quantise(0.5))).toEqual(step);
    expect(allowance("CONCATENATION", [quantise(1)], quantise(0.5))).toEqual(step);
    expect(allowance("RESHAPE", [quantise(1)], quantise(1))).toEqual({ absolute: 0, relative: 0 });
  });

  it("is one unit in the last place for each rounding", () => {
    expect(allowance("ADD", [float([1], 1), float([1], 1)], float([1], 2))).toEqual({
      absolute: 2 ** -126,
      relative: 2 ** -23,
    });
    expect(allowance("ADD", [half(1), half(1)], half(2))).toEqual({ absolute: 2 ** -24, relative: 2 ** -10 });
    expect(allowance("HARD_SWISH", [float([1], 1)], float([1], 1)).relative).toBe(4 * 2 ** -23);
  });

  it("grows with the number of terms of a sum and with the greatest of them", () => {
    const image = float([1, 2, 2, 1], 1, -3, 2, Number.NaN);
    const sum = (filter: Tensor, bias: number) =>
      allowance("FULLY_CONNECTED", [image, filter, float([1], bias)], float([1, 1], 1));
    // Four weights and the bias: five terms of at most 3 * 2, and seven roundings.
    expect(sum(float([1, 4], 1, 1, 2, 1), 1)).toEqual({ absolute: 7 * 2 ** -24 * 5 * 6, relative: 2 ** -23 });
    expect(sum(float([1, 4], 1, 1, 2, 1), -100).absolute).toBe(7 * 2 ** -24 * 5 * 100);
    expect(sum(float([1, 2], 1, 2), 1).absolute).toBe(5 * 2 ** -24 * 3 * 6);
    const pooled = allowance("AVERAGE_POOL_2D", [image], float([1, 1, 1, 1], 1));
    expect(pooled.absolute).toBe(6 * 2 ** -24 * 4 * 3);
  });

  it("is that of its sums for SVDF, and at least the HAL's own", () => {
    const bound = (state: number, bias: number, weight: number) =>
      allowance(
        "SVDF",
        [
          float([1, 2], 3, -1),
          float([2, 2], 1, 2, weight, 1),
          float([2, 2], 1, 2, -1, 1),
          float([1], bias),
          float([1, 4], 900, state, 0, 0),
        ],
        float([1, 1], 1),
      );
    // Two filters of one unit. Their sums are 1 · |state| + 2 · (3 · 1 + 1 · 2) and 1 · (3 · |weight| + 1 · 1): seven terms.
    expect(bound(-1000, -40, 4)).toEqual({ absolute: 9 * 2 ** -24 * (40 + 1000 + 10 + 13), relative: 5 * 2 ** -23 });
    expect(bound(0, 0, 0)).toEqual({ absolute: 1e-5, relative: 5 * 2 ** -23 });
  });

  it("is the HAL's own for functions, and for sums in float16", () => {
    expect(allowance("TANH", [float([1], 1)], float([1], 1))).toEqual({ absolute: 1e-5, relative: 5 * 2 ** -23 });
    expect(allowance("TANH", [half(1)], half(1))).toEqual({ absolute: 5 * 2 ** -10, relative: 5 * 2 ** -10 });
    expect(allowance("REDUCE_SUM", [half(1)], half(1))).toEqual({ absolute: 5 * 2 ** -10, relative: 5 * 2 ** -10 });
  });

  it("leaves NaN and infinities open, except where they are copied or IEEE 754 fixes them", () => {
    const unusual = float([2], Number.NaN, 1);
    expect(allowance("RESHAPE", [unusual], unusual)).not.toHaveProperty("anyUnusual");
    expect(allowance("ADD", [unusual, unusual], unusual)).not.toHaveProperty("anyUnusual");
    expect(allowance("ADD", [unusual, unusual], unusual, 1)).toHaveProperty("anyUnusual", true);
    expect(allowance("RELU", [unusual], unusual)).toHaveProperty("anyUnusual", true);
    expect(allowance("RELU", [unusual], float([1], 1))).not.toHaveProperty("anyUnusual");
  });
});

describe("the table", () => {
  it("has rows of operations that there are", () => {
    const names = new Set<string>(kernelOperations().map(({ name }) => name));
    expect(Object.keys(arithmeticOf).filter((name) => !names.has(name))).toEqual([]);
  });

  it("has NaN and infinities in operands of operations that take their elements one by one", () => {
    const taking = kernelOperations()
      .filter(takesUnusual)
      .map(({ name }) => name);
    expect(taking).toEqual(expect.arrayContaining(["ADD", "RESHAPE", "TANH"]));
    for (const name of ["CONV_2D", "TOPK_V2", "LSTM", "SOFTMAX"]) expect(taking).not.toContain(name);
  });
});
