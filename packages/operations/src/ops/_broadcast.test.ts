import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { broadcastShape, extentProduct, stridesOf } from "../shape.ts";
import { broadcastData as broadcasting } from "./_broadcast.ts";
import { f32, fill, i32, q8s, tensorOf } from "./_run.test-helper.ts";

const broadcastData = (...args: Parameters<typeof broadcasting>) => fill(broadcasting(...args));

/** The element at a place of the result, found by its position. */
function expectedAt(dimensions: readonly number[], shape: readonly number[], index: number): number {
  const missing = shape.length - dimensions.length;
  const strides = stridesOf(dimensions);
  return stridesOf(shape).reduce((at, stride, axis) => {
    if (axis < missing || dimensions[axis - missing] === 1) return at;
    return at + (Math.floor(index / stride) % shape[axis]) * strides[axis - missing];
  }, 0);
}

function computeExpected(dimensions: readonly number[], shape: readonly number[]): number[] {
  return Array.from({ length: extentProduct(shape, 0) }, (_, index) => expectedAt(dimensions, shape, index));
}

/** A tensor whose elements are their own indexes. */
function makeCounting(dimensions: readonly number[]) {
  const count = extentProduct(dimensions, 0);
  return i32(
    dimensions,
    Array.from({ length: count }, (_, index) => index),
  );
}

describe("broadcastData", () => {
  it("repeats along every axis that the tensor lacks or has once", () => {
    const shapes = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom("all", "one", "gone")), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(shapes, (axes) => {
        const shape = axes.map(([extent]) => extent);
        const present = axes.slice(axes.findIndex(([, kind]) => kind !== "gone"));
        const dimensions = present.map(([extent, kind]) => (kind === "all" ? extent : 1));
        const result = broadcastData(makeCounting(dimensions), shape);
        expect(Array.from(result)).toEqual(computeExpected(dimensions, shape));
      }),
    );
  });

  it.each([
    [[3], [4, 3]],
    [
      [4, 1],
      [4, 3],
    ],
    [
      [2, 1, 3],
      [2, 5, 3],
    ],
    [
      [1, 5, 1],
      [2, 5, 3],
    ],
    [
      [2, 1, 1, 3],
      [2, 7, 1, 3],
    ],
    [[1], [1, 1, 6]],
  ])("%j to %j", (dimensions, shape) => {
    expect(Array.from(broadcastData(makeCounting(dimensions), shape))).toEqual(computeExpected(dimensions, shape));
    expect(broadcastShape(dimensions, shape)).toEqual(shape);
  });

  it("returns the tensor's own elements if the shapes agree", () => {
    const tensor = f32([2, 2], [1, 2, 3, 4]);
    expect(broadcastData(tensor, [2, 2])).toBe(tensor.data);
  });

  it("keeps the kind of array", () => {
    expect(broadcastData(q8s([1], 1, 0, [-7]), [3])).toEqual(Int8Array.of(-7, -7, -7));
    expect(broadcastData(tensorOf("TENSOR_BOOL8", [1], [1]), [2])).toEqual(Uint8Array.of(1, 1));
  });

  it("computes no elements if an extent is 0", () => {
    expect(broadcastData(f32([0]), [3, 0])).toHaveLength(0);
    expect(broadcastData(f32([1], [5]), [2, 0])).toHaveLength(0);
  });

  it("takes many axes of extent 1", () => {
    const long = new Array<number>(20_000).fill(1);
    expect(Array.from(broadcastData(f32([...long, 2, 1], [1, 2]), [...long, 2, 2]))).toEqual([1, 1, 2, 2]);
  });
});
