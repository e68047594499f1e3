/**
 * Random models of one operator each: all others whose shapes follow from those of their inputs.
 */
import fc from "fast-check";
import type { TensorGiven } from "../_model.test-helper.ts";
import {
  broadcasting,
  extent,
  type Given,
  image,
  list,
  product,
  realType,
  scalar,
  shapeOf,
  slide,
  sliding,
  tensor,
  type,
  upTo,
  weights,
  windowLists,
  withAxis,
} from "./_shape-cases.test-helper.ts";

/** Operators whose result has the shape of their first input, by the types that their kernels take. */
const shapeKeeping = (names: readonly string[], kinds: readonly NonNullable<TensorGiven["type"]>[], more = {}) =>
  names.map((name): [string, fc.Arbitrary<Given>] => [
    name,
    fc.tuple(shapeOf(1, 4), fc.constantFrom(...kinds)).map(([shape, kind]) => ({
      inputs: { x: tensor(kind, shape) },
      shapes: [shape],
      ...more,
    })),
  ]);

/** Operators of two tensors that broadcast. */
const pairs = (names: readonly string[], kinds: readonly NonNullable<TensorGiven["type"]>[], result?: "BOOL") =>
  names.map((name): [string, fc.Arbitrary<Given>] => [
    name,
    fc.tuple(broadcasting, fc.constantFrom(...kinds), fc.boolean()).map(([[a, b], kind, isTurned]) => {
      // No divisor is 0: inputs of the test are 0, constants are not.
      const constant: TensorGiven = { ...tensor(kind, b), data: upTo(product(b)).map(() => 1) };
      const isDivision = name.includes("DIV") || name === "FLOOR_MOD";
      const inputs = { a: tensor(kind, a), b: isDivision ? constant : tensor(kind, b) };
      return {
        inputs: isTurned && !isDivision ? { b: inputs.b, a: inputs.a } : inputs,
        shapes: [a],
        ...(result !== undefined && { type: result }),
      };
    }),
  ]);

const reductions = (names: readonly string[], kind: NonNullable<TensorGiven["type"]>) =>
  names.map((name): [string, fc.Arbitrary<Given>] => [
    name,
    fc.tuple(withAxis, fc.boolean()).map(([[shape, axis], keepDims]) => ({
      inputs: { x: tensor(kind, shape), a: list(axis - shape.length) },
      shapes: [keepDims ? shape.with(axis, 1) : shape.toSpliced(axis, 1)],
      options: { keepDims },
    })),
  ]);

const indexesTo = (count: number): TensorGiven => ({ type: "INT32", shape: [count], data: upTo(count).map(() => 0) });

export const otherCases: Readonly<Record<string, fc.Arbitrary<Given>>> = {
  ...Object.fromEntries([
    ...shapeKeeping(["ABS", "RELU", "RELU6", "LEAKY_RELU", "GELU"], ["FLOAT32", "INT8", "INT16"], { options: {} }),
    ...shapeKeeping(
      ["NEG", "SIGN", "SQUARE", "EXP", "SIN", "COS", "CEIL", "FLOOR", "ROUND", "ELU", "HARD_SWISH"],
      ["FLOAT32"],
    ),
    ...shapeKeeping(["LOGISTIC", "TANH", "RELU_N1_TO_1", "RELU_0_TO_1", "LOG_SOFTMAX", "SQRT", "LOG"], ["FLOAT32"]),
    ...shapeKeeping(["L2_NORMALIZATION", "RSQRT", "FAKE_QUANT"], ["FLOAT32"], {
      options: { min: -1, max: 1, numBits: 8 },
    }),
    ...shapeKeeping(["SOFTMAX"], ["FLOAT32"], { options: { beta: 1 } }),
    ...shapeKeeping(["ZEROS_LIKE"], ["FLOAT32", "INT32", "INT64"]),
    ...shapeKeeping(["LOGICAL_NOT"], ["BOOL"]),
    ...shapeKeeping(["BUCKETIZE"], ["FLOAT32", "INT32"], { options: { boundaries: [0, 1] }, type: "INT32" }),
    ...shapeKeeping(["CAST"], ["FLOAT32", "INT32", "INT64"], { type: "FLOAT32" }),
    ...shapeKeeping(["QUANTIZE"], ["FLOAT32"], { type: "INT8" }),
    ...shapeKeeping(["DEQUANTIZE"], ["INT8", "INT16"], { type: "FLOAT32" }),
    ...shapeKeeping(["REAL", "IMAG", "COMPLEX_ABS"], ["COMPLEX64"], { type: "FLOAT32" }),
    ...pairs(["SUB", "MUL", "MAXIMUM", "MINIMUM"], ["FLOAT32", "INT8", "INT32", "INT64"]),
    ...pairs(["DIV", "FLOOR_DIV", "FLOOR_MOD"], ["FLOAT32", "INT32"]),
    ...pairs(["SQUARED_DIFFERENCE"], ["FLOAT32", "INT8", "INT32"]),
    ...pairs(["POW", "PRELU"], ["FLOAT32"]),
    ...pairs(["BITWISE_XOR", "RIGHT_SHIFT"], ["INT32"]),
    ...pairs(["LOGICAL_AND", "LOGICAL_OR"], ["BOOL"], "BOOL"),
    ...pairs(["EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS_EQUAL"], ["FLOAT32", "INT32", "INT64"], "BOOL"),
    ...reductions(["MEAN", "REDUCE_MAX", "REDUCE_MIN"], "FLOAT32"),
    ...reductions(["REDUCE_PROD"], "INT32"),
    ...reductions(["REDUCE_ANY", "REDUCE_ALL"], "BOOL"),
  ]),
  ATAN2: shapeOf(1, 4).map((shape) => ({
    inputs: { y: tensor("FLOAT32", shape), x: tensor("FLOAT32", shape) },
    shapes: [shape],
  })),
  ADD_N: shapeOf(1, 4).map((shape) => ({
    inputs: { a: tensor("FLOAT32", shape), b: tensor("FLOAT32", shape), c: tensor("FLOAT32", shape) },
    shapes: [shape],
  })),
  ARG_MIN: withAxis.map(([shape, axis]) => ({
    inputs: { x: tensor("INT8", shape), a: scalar(axis) },
    shapes: [shape.toSpliced(axis, 1)],
    options: { outputType: "INT32" },
    type: "INT32",
  })),
  AVERAGE_POOL_2D: fc.tuple(image, sliding, realType).map(([[n, h, w, c], { size, stride, same }, kind]) => ({
    inputs: { x: tensor(kind, [n, h, w, c]) },
    shapes: [[n, ...[h, w].map(slide(size, stride, same)), c]],
    options: {
      padding: same ? "SAME" : "VALID",
      strideW: stride,
      strideH: stride,
      filterWidth: size,
      filterHeight: size,
    },
  })),
  BATCH_TO_SPACE_ND: fc.tuple(extent, extent, extent, type).map(([n, h, c, kind]) => ({
    inputs: { x: tensor(kind, [2 * n, h, c]), b: list(2), crops: { type: "INT32", shape: [1, 2], data: [0, 1] } },
    shapes: [[n, 2 * h - 1, c]],
  })),
  BITCAST: shapeOf(1, 3).map((shape) => ({
    inputs: { x: tensor("FLOAT32", shape) },
    shapes: [[...shape, 2]],
    type: "INT16",
  })),
  BROADCAST_ARGS: broadcasting.map(([wide, narrow]) => ({
    inputs: { a: { type: "INT32", shape: [wide.length] }, b: { type: "INT32", shape: [narrow.length] } },
    shapes: [[wide.length]],
  })),
  CONV_3D: fc.tuple(extent, extent, extent, sliding).map(([d, c, units, { stride, same }]) => ({
    inputs: { x: tensor("FLOAT32", [1, d + 1, 4, 5, c]), f: weights([2, 2, 2, c, units]) },
    shapes: [[1, ...[d + 1, 4, 5].map(slide(2, stride, same)), units]],
    options: { padding: same ? "SAME" : "VALID", strideD: stride, strideW: stride, strideH: stride },
  })),
  CONV_3D_TRANSPOSE: fc.tuple(extent, extent, extent).map(([d, c, units]) => ({
    inputs: { s: list(1, d + 1, 4, 5, units), f: weights([2, 2, 2, units, c]), x: tensor("FLOAT32", [1, d, 3, 4, c]) },
    shapes: [[1, d + 1, 4, 5, units]],
    options: { padding: "VALID", strideD: 1, strideW: 1, strideH: 1 },
    type: "FLOAT32",
  })),
  DEPTH_TO_SPACE: fc.tuple(extent, extent, extent, fc.integer({ min: 1, max: 3 })).map(([n, h, c, size]) => ({
    inputs: { x: tensor("FLOAT32", [n, h, 2, c * size * size]) },
    shapes: [[n, h * size, 2 * size, c]],
    options: { blockSize: size },
  })),
  DYNAMIC_UPDATE_SLICE: fc.tuple(shapeOf(1, 4), type).map(([shape, kind]) => ({
    inputs: {
      x: tensor(kind, shape),
      u: tensor(
        kind,
        shape.map(() => 1),
      ),
      s: list(...shape.map(() => 0)),
    },
    shapes: [shape],
  })),
  EMBEDDING_LOOKUP: fc.tuple(extent, extent, shapeOf(1, 2), type).map(([count, rows, rest, kind]) => ({
    inputs: { i: indexesTo(count), t: tensor(kind, [rows, ...rest]) },
    shapes: [[count, ...rest]],
    type: kind,
  })),
  FILL: fc.tuple(shapeOf(1, 4), type).map(([shape, kind]) => ({
    inputs: { s: list(...shape), v: { ...tensor(kind, []), data: [1] } },
    shapes: [shape],
    type: kind,
  })),
  HASHTABLE_LOOKUP: fc.tuple(extent, extent, extent).map(([count, keys, width]) => ({
    inputs: { l: indexesTo(count), k: list(...upTo(keys)), v: tensor("FLOAT32", [keys, width]) },
    shapes: [[count, width], [count]],
    types: ["FLOAT32", "UINT8"],
  })),
  L2_POOL_2D: fc.tuple(image, sliding).map(([[n, h, w, c], { size, stride, same }]) => ({
    inputs: { x: tensor("FLOAT32", [n, h, w, c]) },
    shapes: [[n, ...[h, w].map(slide(size, stride, same)), c]],
    options: {
      padding: same ? "SAME" : "VALID",
      strideW: stride,
      strideH: stride,
      filterWidth: size,
      filterHeight: size,
    },
  })),
  LOCAL_RESPONSE_NORMALIZATION: image.map((shape) => ({
    inputs: { x: tensor("FLOAT32", shape) },
    shapes: [shape],
    options: { radius: 1, bias: 1, alpha: 1, beta: 0.5 },
  })),
  MATRIX_DIAG: fc.tuple(shapeOf(1, 3), type).map(([shape, kind]) => ({
    inputs: { x: tensor(kind, shape) },
    shapes: [[...shape, shape.at(-1) ?? 1]],
  })),
  MATRIX_SET_DIAG: fc.tuple(shapeOf(2, 4), type).map(([shape, kind]) => ({
    inputs: { x: tensor(kind, shape), d: tensor(kind, [...shape.slice(0, -2), Math.min(...shape.slice(-2))]) },
    shapes: [shape],
  })),
  MIRROR_PAD: fc.tuple(shapeOf(1, 4), type).map(([shape, kind]) => ({
    inputs: {
      x: tensor(kind, shape),
      p: { type: "INT32", shape: [shape.length, 2], data: shape.flatMap((each) => [each - 1, 0]) },
    },
    shapes: [shape.map((each) => 2 * each - 1)],
    options: { mode: "REFLECT" },
  })),
  PADV2: fc.tuple(shapeOf(1, 4), type).map(([shape, kind]) => ({
    inputs: {
      x: tensor(kind, shape),
      p: { type: "INT32", shape: [shape.length, 2], data: shape.flatMap(() => [1, 2]) },
      v: { ...tensor(kind, []), data: [1] },
    },
    shapes: [shape.map((each) => each + 3)],
  })),
  REDUCE_WINDOW: fc.tuple(extent, extent).map(([h, w]) => ({
    inputs: { x: tensor("FLOAT32", [h + 1, w + 1]), v: { shape: [], data: [0] }, ...windowLists },
    shapes: [[h, w]],
    options: { reduceFunction: 1 },
  })),
  RESHAPE: fc.tuple(shapeOf(1, 4), type).map(([shape, kind]) => ({
    inputs: { x: tensor(kind, shape), s: list(-1, shape[0] ?? 1) },
    shapes: [[product(shape) / (shape[0] ?? 1), shape[0] ?? 1]],
  })),
  RESIZE_NEAREST_NEIGHBOR: fc.tuple(image, extent, extent, realType).map(([[n, h, w, c], height, width, kind]) => ({
    inputs: { x: tensor(kind, [n, h, w, c]), s: list(height, width) },
    shapes: [[n, height, width, c]],
  })),
  REVERSE_SEQUENCE: fc.tuple(extent, extent).map(([n, length]) => ({
    inputs: { x: tensor("FLOAT32", [n, length, 2]), l: { type: "INT32", shape: [n], data: upTo(n).map(() => 1) } },
    shapes: [[n, length, 2]],
    options: { seqDim: 1, batchDim: 0 },
  })),
  REVERSE_V2: fc.tuple(withAxis, type).map(([[shape, axis], kind]) => ({
    inputs: { x: tensor(kind, shape), a: list(axis) },
    shapes: [shape],
  })),
  RFFT2D: fc.tuple(shapeOf(1, 2), fc.integer({ min: 0, max: 3 })).map(([batches, power]) => ({
    inputs: { x: tensor("FLOAT32", [...batches, 4, 2 ** (power + 1)]), s: list(4, 2 ** (power + 1)) },
    shapes: [[...batches, 4, 2 ** power + 1]],
    type: "COMPLEX64",
  })),
  SCATTER_ND: fc.tuple(extent, shapeOf(2, 4), type).map(([count, shape, kind]) => ({
    inputs: {
      i: { type: "INT32", shape: [count, 1], data: upTo(count).map(() => 0) },
      u: tensor(kind, [count, ...shape.slice(1)]),
      s: list(...shape),
    },
    shapes: [shape],
    type: kind,
  })),
  SEGMENT_SUM: fc.tuple(extent, shapeOf(1, 3)).map(([segments, rest]) => ({
    inputs: { x: tensor("FLOAT32", [segments + 1, ...rest]), i: list(0, ...upTo(segments)) },
    shapes: [[segments, ...rest]],
  })),
  SELECT: fc.tuple(shapeOf(2, 4), type, fc.boolean()).map(([shape, kind, isOfRows]) => ({
    inputs: {
      c: tensor("BOOL", isOfRows ? shape.slice(0, 1) : shape),
      a: tensor(kind, shape),
      b: tensor(kind, shape),
    },
    shapes: [shape],
    type: kind,
  })),
  SELECT_V2: fc.tuple(broadcasting, type).map(([[a, b], kind]) => ({
    inputs: { c: tensor("BOOL", b), a: tensor(kind, a), b: tensor(kind, b) },
    shapes: [a],
    type: kind,
  })),
  SHAPE: shapeOf(1, 4).map((shape) => ({
    inputs: { x: tensor("FLOAT32", shape) },
    shapes: [[shape.length]],
    options: { outType: "INT32" },
    type: "INT32",
  })),
  SPACE_TO_BATCH_ND: fc.tuple(extent, extent, extent, type).map(([n, h, c, kind]) => ({
    inputs: { x: tensor(kind, [n, 2 * h - 1, c]), b: list(2), p: { type: "INT32", shape: [1, 2], data: [1, 0] } },
    shapes: [[2 * n, h, c]],
  })),
  SPARSE_TO_DENSE: fc.tuple(shapeOf(2, 2), type).map(([shape, kind]) => ({
    inputs: {
      i: { type: "INT32", shape: [1, 2], data: [0, 0] },
      ...{ s: list(...shape), v: tensor(kind, [1]), d: { ...tensor(kind, []), data: [1] } },
    },
    shapes: [shape],
    type: kind,
  })),
  SPLIT: fc.tuple(withAxis, type, extent).map(([[shape, axis], kind, parts]) => ({
    inputs: { a: scalar(axis), x: tensor(kind, shape.with(axis, parts * (shape[axis] ?? 1))) },
    shapes: upTo(parts).map(() => shape),
    options: { numSplits: parts },
    type: kind,
  })),
  SPLIT_V: fc.tuple(withAxis, type, extent, extent).map(([[shape, axis], kind, a, b]) => ({
    inputs: { x: tensor(kind, shape.with(axis, a + b)), s: list(a, -1), x1: scalar(axis) },
    shapes: [shape.with(axis, a), shape.with(axis, b)],
    options: { numSplits: 2 },
  })),
  SQUEEZE: fc.tuple(withAxis, type).map(([[shape, axis], kind]) => ({
    inputs: { x: tensor(kind, shape.toSpliced(axis, 0, 1)) },
    shapes: [shape],
    options: { squeezeDims: [axis] },
  })),
  STRIDED_SLICE: fc.tuple(shapeOf(1, 5), type, fc.integer({ min: 1, max: 3 })).map(([shape, kind, stride]) => ({
    inputs: {
      x: tensor(kind, shape),
      ...{ b: list(...shape.map(() => 0)), e: list(...shape), s: list(...shape.map(() => stride)) },
    },
    shapes: [shape.map((each) => Math.ceil(each / stride))],
  })),
  TOPK_V2: fc.tuple(shapeOf(1, 3), extent).map(([shape, k]) => ({
    inputs: { x: tensor("FLOAT32", [...shape, 4]), k: scalar(k) },
    shapes: [
      [...shape, k],
      [...shape, k],
    ],
    types: ["FLOAT32", "INT32"],
  })),
  TRANSPOSE_CONV: fc.tuple(image, extent, extent).map(([[n, h, w, c], units, stride]) => ({
    inputs: {
      s: list(n, (h - 1) * stride + 3, (w - 1) * stride + 3, units),
      ...{ f: weights([units, 3, 3, c]), x: tensor("FLOAT32", [n, h, w, c]) },
    },
    shapes: [[n, (h - 1) * stride + 3, (w - 1) * stride + 3, units]],
    options: { padding: "VALID", strideW: stride, strideH: stride },
    type: "FLOAT32",
  })),
  ...Object.fromEntries(
    ["SUM", "PROD", "MAX", "MIN"].map((kind): [string, fc.Arbitrary<Given>] => [
      `UNSORTED_SEGMENT_${kind}`,
      fc.tuple(extent, extent, shapeOf(1, 2)).map(([rows, segments, rest]) => ({
        inputs: { x: tensor("FLOAT32", [rows, ...rest]), i: indexesTo(rows), n: scalar(segments) },
        shapes: [[segments, ...rest]],
      })),
    ]),
  ),
  ...Object.fromEntries(
    ["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"].map((name): [string, fc.Arbitrary<Given>] => [
      name,
      shapeOf(1, 4).map((shape) => ({ inputs: { s: list(...shape) }, shapes: [shape], type: "FLOAT32" })),
    ]),
  ),
  MULTINOMIAL: fc.tuple(extent, extent, extent).map(([rows, classes, count]) => ({
    inputs: { x: tensor("FLOAT32", [rows, classes]), n: scalar(count) },
    shapes: [[rows, count]],
    type: "INT32",
  })),
};
