/** Sizes that a file makes up: parts that would be fractions, lists that are too short, and numbers that are not finite. */
import { describe, expect, test } from "vitest";
import { oneOperator, problemOf, type TensorGiven } from "../../_model.test-helper.ts";

const f = (...shape: number[]): TensorGiven => ({ type: "FLOAT32", shape });
const ints = (...data: number[]): TensorGiven => ({ type: "INT32", shape: [data.length], data });
const axis = (value: number): TensorGiven => ({ type: "INT32", shape: [], data: [value] });
const q8 = (...shape: number[]): TensorGiven => ({ type: "UINT8", shape, scale: 0.5, zeroPoint: 10 });

/** Problem of one operator. */
const problem = (...given: Parameters<typeof oneOperator>) => problemOf(oneOperator(...given));

describe("sizes that would be fractions are refused", () => {
  const weights: TensorGiven = { ...f(4, 3), data: new Array(12).fill(1) };

  test("FULLY_CONNECTED to rows", () => {
    expect(problem("FULLY_CONNECTED", { x: f(2, 3), w: weights }, { y: f(2, 4, 1) })).toBe("no error");
    expect(problem("FULLY_CONNECTED", { x: f(2, 3), w: weights }, { y: f(7) })).toBe("no error");
    expect(problem("FULLY_CONNECTED", { x: f(7), w: weights }, { y: f(2, 4) })).toContain(
      "the input [7] does not divide into rows of 3 elements",
    );
    expect(problem("FULLY_CONNECTED", { x: f(2, 3), w: { ...f(4, 3), shape: [-1, 3] } }, { y: f(8) })).toContain(
      "the number of units is unknown",
    );
  });

  test("SPLIT and UNPACK", () => {
    const split = (extent: number) =>
      problem("SPLIT", { d: axis(0), x: f(extent) }, { a: f(2), b: f(2) }, { numSplits: 2 });
    expect(split(4)).toBe("no error");
    expect(split(5)).toContain("dimension 0 of the input of 5 does not divide by 2");
    const unpack = (extent: number) =>
      problem("UNPACK", { x: f(extent, 2) }, { a: f(2), b: f(2) }, { num: 2, axis: 0 });
    expect(unpack(2)).toBe("no error");
    expect(unpack(3)).toContain("dimension 0 of 3 does not make 2 outputs");
  });

  test("DEPTH_TO_SPACE and SPACE_TO_DEPTH", () => {
    const toSpace = (depth: number) =>
      problem("DEPTH_TO_SPACE", { x: f(1, 2, 2, depth) }, { y: f(1, 4, 4, 1) }, { blockSize: 2 });
    expect(toSpace(4)).toBe("no error");
    expect(toSpace(6)).toContain("the input's depth of 6 does not divide by 4");
    const toDepth = (height: number, width: number) =>
      problem("SPACE_TO_DEPTH", { x: f(1, height, width, 1) }, { y: f(1, 1, 1, 4) }, { blockSize: 2 });
    expect(toDepth(2, 2)).toBe("no error");
    expect(toDepth(3, 2)).toContain("the input's height of 3 does not divide by 2");
    expect(toDepth(2, 3)).toContain("the input's width of 3 does not divide by 2");
  });

  test("SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND", () => {
    const crops = (data: number[]): TensorGiven => ({ ...ints(...data), shape: [data.length / 2, 2] });
    const toBatch = (top: number) =>
      problem("SPACE_TO_BATCH_ND", { x: f(1, 3, 2, 1), b: ints(2, 2), p: crops([top, 0, 0, 0]) }, { y: f(4, 2, 1, 1) });
    expect(toBatch(1)).toBe("no error");
    expect(toBatch(0)).toContain("the padded height of 3 does not divide by 2");
    const toSpace = (batches: number, ...data: number[]) =>
      problem("BATCH_TO_SPACE_ND", { x: f(batches, 2, 1, 1), b: ints(2, 2), c: crops(data) }, { y: f(1, 3, 2, 1) });
    expect(toSpace(4, 1, 0, 0, 0)).toBe("no error");
    expect(toSpace(6, 1, 0, 0, 0)).toContain("the batches of 6 does not divide by 4");
    expect(toSpace(4, 1, 0)).toContain("the crops: expected 4 integers of at least 0, got [1, 0]");
    expect(toSpace(4, -1, 0, 0, 0)).toContain("got [-1, 0, 0, 0]");
    expect(
      problem("BATCH_TO_SPACE_ND", { x: f(4, 2, 1, 1), b: ints(2, 2), c: crops([1, 0, 0, 0]) }, { y: f(3, 2, 1) }),
    ).toBe("no error");
  });

  test("RESHAPE", () => {
    const reshape = (...shape: number[]) => problem("RESHAPE", { x: f(2, 3), s: ints(...shape) }, { y: f(6) });
    const old = (...newShape: number[]) => problem("RESHAPE", { x: f(2, 3) }, { y: f(6) }, { newShape });
    for (const target of [reshape, old]) {
      for (const shape of [[6], [-1], [3, -1], [1, 6]]) expect(target(...shape)).toBe("no error");
      expect(target(4, -1)).toContain("6 elements do not fill the shape [4, -1]");
      expect(target(5)).toContain("6 elements do not fill the shape [5]");
      expect(target(-1, -1)).toContain("6 elements do not fill the shape [-1, -1]");
      expect(target(-2, -3)).toContain("6 elements do not fill the shape [-2, -3]");
    }
  });
});

describe("values that cannot be operands are refused", () => {
  test("a slope that is not finite", () => {
    for (const x of [f(2), q8(2)]) {
      expect(problem("LEAKY_RELU", { x }, { y: x }, { alpha: 0.5 })).toBe("no error");
      for (const alpha of [Number.NaN, Number.POSITIVE_INFINITY, 1e39]) {
        expect(problem("LEAKY_RELU", { x }, { y: x }, { alpha })).toContain("option alpha: expected a finite number");
      }
    }
    // Too small for a float: 0.
    expect(problem("LEAKY_RELU", { x: q8(2) }, { y: q8(2) }, { alpha: 1e-60 })).toBe("no error");
  });

  test("scales along the inputs of a layer's weights", () => {
    const x: TensorGiven = { type: "INT8", shape: [1, 2], scale: 0.5 };
    const layer = (quantizedDimension: number) => {
      const w: TensorGiven = { type: "INT8", shape: [2, 2], data: [1, 2, 3, 4], scale: [0.5, 1], quantizedDimension };
      return problem("FULLY_CONNECTED", { x, w }, { y: x });
    };
    expect(layer(0)).toBe("no error");
    expect(layer(1)).toContain("the weights have their scales along dimension 1, the HAL needs 0");
  });

  test("a constant whose shape is open", () => {
    const w: TensorGiven = { ...f(-1, -1), data: [1] };
    expect(problem("ADD", { x: f(1, 1), w }, { y: f(1, 1) })).toContain(
      "the shape [-1, -1] of a constant must be known",
    );
    const signed: TensorGiven = { ...f(1, 2), data: [1, 2], shapeSignature: [-1, 2] };
    const model = oneOperator("ADD", { x: f(1, 2), w: signed }, { y: f(1, 2) });
    expect(problemOf(model, { dynamicShapes: true })).toBe("no error");
  });

  test("but not the stored shape of a result of SHAPE, which does not count", () => {
    const shape = (...extents: number[]) => problem("SHAPE", { x: f(2, 3) }, { y: { type: "INT32", shape: extents } });
    expect(shape(2)).toBe("no error");
    expect(shape(3)).toBe("no error");
    expect(shape(-1)).toBe("no error");
  });
});
