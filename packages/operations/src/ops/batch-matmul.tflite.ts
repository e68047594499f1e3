/**
 * BATCH_MATMUL: products of matrices, for batches that broadcast.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { bool, tensor } from "../params.ts";
import type { Filled } from "../phases.ts";
import { broadcastShape, stridesOf } from "../shape.ts";
import { elementCount, integerRange, isFloat, type OutputTensor, type Tensor, type TensorInfo } from "../tensor.ts";
import { type BatchProduct, matricesOf, multiplyBatches, rowsOfMatrices } from "./_batch-product.ts";
import { channelScales, hybridWeights, isHybrid, quantiseRows } from "./_hybrid.tflite.ts";
import { exactScaling, wideScaling } from "./_scaling.tflite.ts";
import { widen } from "./_widen.ts";

const FLOAT32 = "TENSOR_FLOAT32";
const INT8 = "TENSOR_QUANT8_ASYMM_SIGNED";
const INT16 = "TENSOR_QUANT16_SYMM";
const INT32 = "TENSOR_INT32";
const CHANNELS = "TENSOR_QUANT8_SYMM_PER_CHANNEL";

export const batchMatmul = defineOperation({
  name: "BATCH_MATMUL",
  code: 1126,
  summary: "Multiplies matrices: x by y, each transposed if its flag says so. Batches broadcast.",
  params: [tensor("x"), tensor("y"), bool("adjX"), bool("adjY"), bool("asymmetricQuantizeInputs")],
  outputs: [tensor("output")],
  types: [
    ["1.2", FLOAT32, FLOAT32, FLOAT32],
    ["1.2", FLOAT32, INT8, FLOAT32],
    ["1.2", INT8, INT8, INT8],
    ["1.2", INT8, INT8, INT32],
    ["1.2", INT32, INT32, INT32],
    ["1.2", INT16, INT16, INT16],
    ["1.2", INT16, INT8, INT16],
    ["1.2", FLOAT32, CHANNELS, FLOAT32],
    ["1.2", INT8, CHANNELS, INT8],
    ["1.2", INT16, CHANNELS, INT16],
  ],
  ranks: { x: [2, 5], y: [2, 5] },
  work: ({ x }, { output }) => ({ multiplyAdd: elementCount(output) * (x[x.length - 1] ?? 1) }),
  infer({ x, y, adjX, adjY }) {
    const left = matricesOf(x, adjX);
    const right = matricesOf(y, !adjY);
    ensure(
      left.depth === right.depth,
      () => `the matrices of x have ${left.depth} columns where those of y have ${right.depth} rows`,
    );
    ensureColumnScales(y, adjY);
    return { output: { dimensions: [...broadcastShape(left.batches, right.batches), left.rows, right.rows] } };
  },
  reference({ x, y, adjX, adjY, asymmetricQuantizeInputs }, { output }) {
    const left = matricesOf(x, adjX);
    const right = matricesOf(y, !adjY);
    const { depth } = left;
    const columns = right.rows;
    const batches = output.dimensions.slice(0, -2);
    const isRaw = output.type === INT32;
    const values = rowsOfMatrices(elementsOf(x, isRaw), left);
    const quantised = isHybrid(x, y)
      ? quantiseRows(values.data, values.data.length / depth, depth, asymmetricQuantizeInputs)
      : undefined;
    const rights = rowsOfMatrices(elementsOf(quantised ? hybridWeights(y) : y, isRaw), right);
    const product = multiplyBatches({
      lefts: quantised?.data ?? values.data,
      rights: rights.data,
      depth,
      rows: left.rows,
      columns,
      leftBatches: batchOffsets(left.batches, batches),
      rightBatches: batchOffsets(right.batches, batches),
      wraps: x.type === INT32,
      store: storeOf(x, y, output, columns, quantised?.scales),
    });
    return [...values.phases, ...(quantised?.phases ?? []), ...rights.phases, product];
  },
});

/** The elements less the zero point. Those of an INT32 product are taken as they are, as in .tflite. */
function elementsOf({ data, zeroPoint }: Tensor, isRaw: boolean): Filled<Float64Array> {
  return widen({ data, zeroPoint: isRaw ? 0 : zeroPoint });
}

/** For each batch of the output the matrix of an operand, by its place. */
function batchOffsets(own: readonly number[], output: readonly number[]): Int32Array {
  const offsets = new Int32Array(elementCount(output));
  const strides = stridesOf(own);
  const missing = output.length - own.length;
  const outputStrides = stridesOf(output);
  own.forEach((extent, axis) => {
    if (extent === 1) return;
    const step = outputStrides[axis + missing];
    for (let batch = 0; batch < offsets.length; batch++) {
      offsets[batch] += (Math.floor(batch / step) % extent) * strides[axis];
    }
  });
  return offsets;
}

/** Refuses scales of another dimension than that of the columns. */
function ensureColumnScales({ dimensions, channelQuant }: TensorInfo, isTransposed: boolean): void {
  const columns = dimensions.length - (isTransposed ? 2 : 1);
  ensure(
    channelQuant === undefined || channelQuant.channelDim === columns,
    () =>
      `the scales of y belong to dimension ${channelQuant?.channelDim}, expected ${columns}, that of the columns of its matrices`,
  );
}

/** Stores sums; `rowScales`: those of the rows of a hybrid product. */
function storeOf(
  x: TensorInfo,
  y: TensorInfo,
  { type, data, scale: step, zeroPoint }: OutputTensor,
  columns: number,
  rowScales: Float64Array | undefined,
): BatchProduct["store"] {
  const scales = channelScales(y, columns);
  if (isFloat(type) || type === INT32) {
    return (sums, first, end, start, row) => {
      for (let column = first; column < end; column++) {
        data[start + column] =
          rowScales === undefined ? sums[column] : sums[column] * (rowScales[row] * scales[column]);
      }
    };
  }
  const [least, greatest] = integerRange(type);
  const scaling = type === INT16 ? wideScaling : exactScaling;
  const scaled = scales.map((scale) => scaling((x.scale * scale) / step));
  return (sums, first, end, start) => {
    for (let column = first; column < end; column++) {
      data[start + column] = clamp(scaled[column](sums[column]) + zeroPoint, least, greatest);
    }
  };
}
