/**
 * Random models of one operator each: layers, and operators that move elements.
 */
import fc from "fast-check";
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
  withAxis,
} from "./_shape-cases.test-helper.ts";

export const layerCases: Readonly<Record<string, fc.Arbitrary<Given>>> = {
  ADD: fc.tuple(broadcasting, type).map(([[a, b], kind]) => ({
    inputs: { a: tensor(kind, a), b: tensor(kind, b) },
    shapes: [a],
  })),
  LESS: fc.tuple(broadcasting, type).map(([[a, b], kind]) => ({
    inputs: { a: tensor(kind, b), b: tensor(kind, a) },
    shapes: [a],
    type: "BOOL",
  })),
  SUM: fc.tuple(withAxis, fc.boolean(), realType).map(([[shape, axis], keepDims, kind]) => {
    const kept = keepDims ? shape.with(axis, 1) : shape.toSpliced(axis, 1);
    return { inputs: { x: tensor(kind, shape), a: list(axis) }, shapes: [kept], options: { keepDims } };
  }),
  ARG_MAX: fc.tuple(withAxis, realType).map(([[shape, axis]]) => ({
    inputs: { x: tensor("FLOAT32", shape), a: scalar(axis) },
    shapes: [shape.toSpliced(axis, 1)],
    options: { outputType: "INT64" },
    type: "INT64",
  })),
  CONV_2D: fc.tuple(image, sliding, extent).map(([[n, h, w, c], { size, stride, same }, filters]) => ({
    inputs: { x: tensor("FLOAT32", [n, h, w, c]), f: weights([filters, size, size, c]) },
    shapes: [[n, ...[h, w].map(slide(size, stride, same)), filters]],
    options: { padding: same ? "SAME" : "VALID", strideW: stride, strideH: stride },
  })),
  DEPTHWISE_CONV_2D: fc
    .tuple(image, sliding, extent)
    .map(([[n, h, w, c], { size, stride, same }, depthMultiplier]) => ({
      inputs: { x: tensor("FLOAT32", [n, h, w, c]), f: weights([1, size, size, c * depthMultiplier]) },
      shapes: [[n, ...[h, w].map(slide(size, stride, same)), c * depthMultiplier]],
      options: { padding: same ? "SAME" : "VALID", strideW: stride, strideH: stride, depthMultiplier },
    })),
  MAX_POOL_2D: fc.tuple(image, sliding, realType).map(([[n, h, w, c], { size, stride, same }, kind]) => ({
    inputs: { x: tensor(kind, [n, h, w, c]) },
    shapes: [[n, ...[h, w].map(slide(size, stride, same)), c]],
    options: {
      ...{ padding: same ? "SAME" : "VALID", strideW: stride, strideH: stride },
      ...{ filterWidth: size, filterHeight: size },
    },
  })),
  FULLY_CONNECTED: fc.tuple(extent, extent, extent).map(([rows, depth, units]) => ({
    inputs: { x: tensor("FLOAT32", [rows, depth]), f: weights([units, depth]) },
    shapes: [[rows, units]],
  })),
  BATCH_MATMUL: fc
    .tuple(broadcasting, extent, extent, extent, fc.boolean(), fc.boolean())
    .map(([[a, b], rows, depth, columns, adjX, adjY]) => ({
      inputs: {
        x: tensor("FLOAT32", [...a.slice(-3), ...(adjX ? [depth, rows] : [rows, depth])]),
        y: tensor("FLOAT32", [...b.slice(-3), ...(adjY ? [columns, depth] : [depth, columns])]),
      },
      shapes: [[...a.slice(-3), rows, columns]],
      options: { adjX, adjY },
    })),
  TRANSPOSE: fc.tuple(shapeOf(1, 5), type).chain(([shape, kind]) =>
    fc.shuffledSubarray(upTo(shape.length), { minLength: shape.length }).map((order) => ({
      inputs: { x: tensor(kind, shape), p: list(...order) },
      shapes: [order.map((axis) => shape[axis] ?? 1)],
    })),
  ),
  PAD: fc
    .tuple(shapeOf(1, 4), type, fc.array(fc.nat(2), { minLength: 8, maxLength: 8 }))
    .map(([shape, kind, pads]) => ({
      inputs: {
        x: tensor(kind, shape),
        p: { type: "INT32", shape: [shape.length, 2], data: pads.slice(0, 2 * shape.length) },
      },
      shapes: [shape.map((each, axis) => each + (pads[2 * axis] ?? 0) + (pads[2 * axis + 1] ?? 0))],
    })),
  SLICE: fc
    .tuple(shapeOf(1, 4), type, fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }))
    .map(([shape, kind, froms]) => {
      const begin = shape.map((each, axis) => Math.min(froms[axis] ?? 0, each - 1));
      return {
        inputs: { x: tensor(kind, shape), b: list(...begin), s: list(...shape.map(() => -1)) },
        shapes: [shape.map((each, axis) => each - (begin[axis] ?? 0))],
      };
    }),
  TILE: fc.tuple(shapeOf(1, 3), type, fc.array(extent, { minLength: 3, maxLength: 3 })).map(([shape, kind, times]) => ({
    inputs: { x: tensor(kind, shape), m: list(...times.slice(0, shape.length)) },
    shapes: [shape.map((each, axis) => each * (times[axis] ?? 1))],
  })),
  CONCATENATION: fc.tuple(withAxis, type, extent).map(([[shape, axis], kind, more]) => ({
    inputs: { a: tensor(kind, shape), b: tensor(kind, shape.with(axis, more)) },
    shapes: [shape.with(axis, (shape[axis] ?? 0) + more)],
    options: { axis },
  })),
  PACK: fc.tuple(withAxis, type).map(([[shape, axis], kind]) => ({
    inputs: { a: tensor(kind, shape), b: tensor(kind, shape) },
    shapes: [shape.toSpliced(axis, 0, 2)],
    options: { axis, valuesCount: 2 },
  })),
  UNPACK: fc.tuple(withAxis, realType).map(([[shape, axis], kind]) => ({
    inputs: { x: tensor(kind, shape) },
    shapes: upTo(shape[axis] ?? 0).map(() => shape.toSpliced(axis, 1)),
    options: { axis, num: shape[axis] ?? 0 },
  })),
  GATHER: fc.tuple(withAxis, type, shapeOf(1, 2)).map(([[shape, axis], kind, places]) => ({
    inputs: { x: tensor(kind, shape), i: { type: "INT32", shape: places, data: upTo(product(places)).map(() => 0) } },
    shapes: [shape.toSpliced(axis, 1, ...places)],
    options: { axis },
  })),
  GATHER_ND: fc.tuple(withAxis, type, extent).map(([[shape, axis], kind, count]) => ({
    inputs: {
      x: tensor(kind, shape),
      i: { type: "INT32", shape: [count, axis + 1], data: upTo(count * (axis + 1)).map(() => 0) },
    },
    shapes: [[count, ...shape.slice(axis + 1)]],
  })),
  BROADCAST_TO: fc.tuple(broadcasting, type).map(([[wide, narrow], kind]) => ({
    inputs: { x: tensor(kind, narrow), s: list(...wide) },
    shapes: [wide],
  })),
  DILATE: fc.tuple(shapeOf(1, 3), type, fc.array(extent, { minLength: 3, maxLength: 3 })).map(([shape, kind, by]) => ({
    inputs: {
      x: tensor(kind, shape),
      d: list(...by.slice(0, shape.length)),
      v: { ...tensor(kind, []), data: [1] },
    },
    shapes: [shape.map((each, axis) => (each - 1) * (by[axis] ?? 1) + 1)],
  })),
  SPACE_TO_DEPTH: fc
    .tuple(extent, extent, extent, extent, fc.integer({ min: 1, max: 3 }))
    .map(([n, h, w, c, size]) => ({
      inputs: { x: tensor("FLOAT32", [n, h * size, w * size, c]) },
      shapes: [[n, h, w, c * size * size]],
      options: { blockSize: size },
    })),
  RESIZE_BILINEAR: fc.tuple(image, extent, extent).map(([[n, h, w, c], height, width]) => ({
    inputs: { x: tensor("FLOAT32", [n, h, w, c]), s: list(height, width) },
    shapes: [[n, height, width, c]],
  })),
  ONE_HOT: fc.tuple(shapeOf(1, 3), extent).map(([shape, depth]) => ({
    inputs: {
      i: { type: "INT32", shape, data: upTo(product(shape)) },
      ...{ d: scalar(depth), on: { shape: [], data: [1] }, off: { shape: [], data: [0] } },
    },
    shapes: [[...shape, depth]],
    options: { axis: -1 },
    type: "FLOAT32",
  })),
  EXPAND_DIMS: fc.tuple(withAxis, type).map(([[shape, axis], kind]) => ({
    inputs: { x: tensor(kind, shape), a: scalar(axis) },
    shapes: [shape.toSpliced(axis, 0, 1)],
  })),
  CUMSUM: withAxis.map(([shape, axis]) => ({
    inputs: { x: tensor("FLOAT32", shape), a: scalar(axis) },
    shapes: [shape],
  })),
};
