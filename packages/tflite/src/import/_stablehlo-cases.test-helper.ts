/**
 * Random models of one operator of StableHLO each, whose shapes follow from those of their inputs.
 */
import fc from "fast-check";
import type { TensorGiven } from "../_model.test-helper.ts";
import { extent, type Given, longList, shapeOf, tensor, type } from "./_shape-cases.test-helper.ts";

/** Operators of two tensors of one shape. */
const isSame = (names: readonly string[], kinds: readonly NonNullable<TensorGiven["type"]>[]) =>
  names.map((name): [string, fc.Arbitrary<Given>] => [
    `STABLEHLO_${name}`,
    fc.tuple(shapeOf(1, 4), fc.constantFrom(...kinds)).map(([shape, kind]) => ({
      inputs: { lhs: tensor(kind, shape), rhs: tensor(kind, shape) },
      shapes: [shape],
    })),
  ]);

export const stablehloCases: Readonly<Record<string, fc.Arbitrary<Given>>> = {
  ...Object.fromEntries([
    ...isSame(["ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"], ["FLOAT32", "INT8", "INT32", "INT64"]),
    ...isSame(["AND"], ["BOOL", "INT8", "INT32"]),
    ...isSame(["SHIFT_LEFT"], ["INT8", "INT16", "INT32"]),
  ]),
  STABLEHLO_GATHER: fc.tuple(extent, shapeOf(1, 3), type).map(([count, [first = 1, ...rest], kind]) => ({
    inputs: { x: tensor(kind, [first, ...rest]), i: longList(...new Array<number>(count).fill(0)) },
    shapes: [[count, ...rest]],
    options: {
      offsetDims: rest.map((_, axis) => axis + 1),
      collapsedSliceDims: [0],
      startIndexMap: [0],
      indexVectorDim: 1,
      sliceSizes: [1, ...rest],
    },
  })),
  STABLEHLO_PAD: fc.tuple(shapeOf(1, 4), type).map(([shape, kind]) => ({
    inputs: { x: tensor(kind, shape), v: { ...tensor(kind, []), data: [1] } },
    shapes: [shape.map((each) => 3 * each - 2 + 1)],
    options: {
      edgePaddingLow: shape.map(() => 2),
      edgePaddingHigh: shape.map(() => -1),
      interiorPadding: shape.map(() => 2),
    },
  })),
};
