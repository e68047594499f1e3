/** Convolutions and matrix products: random constant weights, INT8 ones with a scale for each channel. */
import type { TensorGiven, Variant } from "./model.ts";
import { type OperatorCase, type QuantisedType, tensor } from "./operator-case.ts";
import { randomSequence } from "./random.ts";

const types = ["UINT8", "INT8", "INT16"] as const;

function count(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

/** Weights within -1 to 1 with their quantisation. */
function weights(type: QuantisedType, shape: readonly number[], axis: number | undefined, seed: number): TensorGiven {
  const next = randomSequence(seed);
  const draw = (least: number, greatest: number) => Math.floor(least + next() * (greatest - least + 1));
  if (type === "UINT8") {
    const data = Array.from({ length: count(shape) }, () => draw(0, 255));
    return { type, shape, data, scale: 2 / 255, zeroPoint: 121 };
  }
  const scale = axis === undefined ? 1 / 127 : Array.from({ length: shape[axis] ?? 1 }, () => (0.4 + next()) / 127);
  const data = Array.from({ length: count(shape) }, () => draw(-127, 127));
  return { type: "INT8", shape, data, scale, axis: axis ?? 0 };
}

/** A bias within -1 to 1 at the scale of the products. */
function bias(input: TensorGiven, filter: TensorGiven, units: number, seed: number): TensorGiven {
  const next = randomSequence(seed);
  const scales = [filter.scale ?? 1].flat().map((scale) => Math.fround(scale) * Math.fround(Number(input.scale)));
  const data = Array.from({ length: units }, (_, unit) =>
    Math.round((2 * next() - 1) / (scales[unit % scales.length] ?? 1)),
  );
  const scale = scales.length === 1 ? (scales[0] ?? 1) : scales;
  return { type: input.type === "INT16" ? "INT64" : "INT32", shape: [units], data, scale };
}

const inputRanges = [
  [-1, 1],
  [-0.3, 1.4],
] as const;

/** Each case with a result wide enough, with one that clips, and fused. */
function variantsOf(
  type: QuantisedType,
  make: (
    least: number,
    greatest: number,
    seed: number,
  ) => { inputs: TensorGiven[]; shape: readonly number[]; depth: number },
  options: Variant["options"],
): Variant[] {
  return inputRanges.flatMap(([least, greatest], at) =>
    [1, 0.4].map((share, more): Variant => {
      const { inputs, shape, depth } = make(least, greatest, 10 * at + more + 1);
      const range = share * 2.5 * Math.sqrt(depth) * 0.4;
      return { inputs, output: tensor(type, shape, [-range, 1.1 * range]), ...(options && { options }) };
    }),
  );
}

const conv2d: OperatorCase = {
  types,
  variants: (type) =>
    variantsOf(
      type,
      (least, greatest, seed) => {
        const x = tensor(type, [1, 12, 12, 8], [least, greatest]);
        const w = weights(type, [16, 3, 3, 8], 0, seed);
        return { inputs: [x, w, bias(x, w, 16, seed)], shape: [1, 12, 12, 16], depth: 72 };
      },
      { padding: "SAME", strideW: 1, strideH: 1 },
    ),
};

const depthwise: OperatorCase = {
  types,
  variants: (type) =>
    variantsOf(
      type,
      (least, greatest, seed) => {
        const x = tensor(type, [1, 12, 12, 16], [least, greatest]);
        const w = weights(type, [1, 3, 3, 16], 3, seed);
        return { inputs: [x, w, bias(x, w, 16, seed)], shape: [1, 12, 12, 16], depth: 9 };
      },
      { padding: "SAME", strideW: 1, strideH: 1, depthMultiplier: 1 },
    ),
};

const transposed: OperatorCase = {
  types,
  variants: (type) =>
    variantsOf(
      type,
      (least, greatest, seed) => {
        const shape = [1, 12, 12, 16];
        const x = tensor(type, [1, 6, 6, 8], [least, greatest]);
        const w = weights(type, [16, 3, 3, 8], 0, seed);
        const sizes: TensorGiven = { type: "INT32", shape: [4], data: shape };
        return { inputs: [sizes, w, x, bias(x, w, 16, seed)], shape, depth: 18 };
      },
      { padding: "SAME", strideW: 2, strideH: 2 },
    ),
};

const fullyConnected: OperatorCase = {
  types,
  variants: (type) =>
    variantsOf(
      type,
      (least, greatest, seed) => {
        const x = tensor(type, [48, 64], [least, greatest]);
        const w = weights(type, [32, 64], undefined, seed);
        return { inputs: [x, w, bias(x, w, 32, seed)], shape: [48, 32], depth: 64 };
      },
      {},
    ),
};

const batchMatmul: OperatorCase = {
  types: ["INT8", "INT16"],
  variants: (type) =>
    variantsOf(
      type,
      (least, greatest) => {
        const [x, y] = [tensor(type, [2, 32, 24], [least, greatest]), tensor(type, [2, 24, 32], [-1, 1])];
        return { inputs: [x, y], shape: [2, 32, 32], depth: 24 };
      },
      {},
    ),
};

export const convolutionCases: Readonly<Record<string, OperatorCase>> = {
  BATCH_MATMUL: batchMatmul,
  CONV_2D: conv2d,
  DEPTHWISE_CONV_2D: depthwise,
  FULLY_CONNECTED: fullyConnected,
  TRANSPOSE_CONV: transposed,
};
