/**
 * BATCH_MATMUL: products of matrices, for batches that broadcast.
 */
import {
  clamp,
  elementCount,
  integerRange,
  isFloat,
  type OutputTensor,
  stridesOf,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";
import { bool, broadcastShape, defineOperation, ensure, tensor } from "@nnhal/operations/authoring";
import { blockOf, multiply, WORK_BETWEEN_PAUSES, widen } from "@nnhal/operations/kernels";
import { channelScales, hybridWeights, isHybrid, quantiseRows } from "../_hybrid.ts";
import { filledData } from "../_phases.ts";
import { exactScaling, wideScaling } from "../_scaling.ts";

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
    const left = matrixOf(x, adjX);
    const right = matrixOf(y, !adjY);
    ensure(
      left.depth === right.depth,
      () => `the matrices of x have ${left.depth} columns where those of y have ${right.depth} rows`,
    );
    ensureColumnScales(y, adjY);
    return { output: { dimensions: [...broadcastShape(left.batches, right.batches), left.rows, right.rows] } };
  },
  *reference({ x, y, adjX, adjY, asymmetricQuantizeInputs }, { output }) {
    const left = matrixOf(x, adjX);
    const right = matrixOf(y, !adjY);
    const { rows, depth } = left;
    const columns = right.rows;
    const batches = output.dimensions.slice(0, -2);
    const leftBatches = batchOffsets(left.batches, batches);
    const rightBatches = batchOffsets(right.batches, batches);
    const hybrid = isHybrid(x, y);
    const isRaw = output.type === INT32;
    const values = yield* asRows(yield* elementsOf(x, isRaw), left);
    const quantised = hybrid
      ? yield* quantiseRows(values, values.length / depth, depth, asymmetricQuantizeInputs)
      : undefined;
    const lefts = quantised === undefined ? values : quantised.data;
    const rights = yield* asRows(yield* elementsOf(hybrid ? hybridWeights(y) : y, isRaw), right);
    const store = storeOf(x, y, output, columns);
    const times = x.type === INT32 ? multiplyWrapping : multiply;
    const zeros = new Float64Array(columns);
    const sums = new Float64Array(columns);
    const block = blockOf(depth + 1);
    let work = 0;
    for (let batch = 0; batch < leftBatches.length; batch++) {
      const filters = rights.subarray(
        rightBatches[batch] * columns * depth,
        (rightBatches[batch] + 1) * columns * depth,
      );
      for (let row = 0; row < rows; row++) {
        const from = leftBatches[batch] * rows + row;
        const patch = lefts.subarray(from * depth, (from + 1) * depth);
        for (let first = 0; first < columns; first += block) {
          const end = Math.min(first + block, columns);
          times(patch, filters, zeros, first, end, sums);
          work += (end - first) * (depth + 1);
          if (work > WORK_BETWEEN_PAUSES) {
            work = 0;
            yield;
          }
        }
        store(sums, quantised?.scales[from], (batch * rows + row) * columns);
      }
    }
  },
});

/** A stack of matrices whose rows are multiplied with rows. */
interface Matrix {
  readonly batches: readonly number[];
  readonly rows: number;
  readonly depth: number;
  /** True if the tensor has the transposed matrices. */
  readonly isTransposed: boolean;
}

function matrixOf({ dimensions }: TensorInfo, isTransposed: boolean): Matrix {
  const [height, width] = dimensions.slice(-2);
  const [rows, depth] = isTransposed ? [width, height] : [height, width];
  return { batches: dimensions.slice(0, -2), rows, depth, isTransposed };
}

/** The elements less the zero point. Those of an INT32 product are taken as they are, as in .tflite. */
function elementsOf({ data, zeroPoint }: Tensor, isRaw: boolean): Generator<void, Float64Array> {
  return filledData(widen({ data, zeroPoint: isRaw ? 0 : zeroPoint }));
}

/** The elements with the rows of each matrix one after the other. */
function* asRows(values: Float64Array, { rows, depth, isTransposed }: Matrix): Generator<void, Float64Array> {
  if (!isTransposed) return values;
  const result = new Float64Array(values.length);
  let work = 0;
  for (let start = 0; start < values.length; start += rows * depth) {
    for (let index = 0; index < depth; index++) {
      for (let row = 0; row < rows; row++) result[start + row * depth + index] = values[start + index * rows + row];
      work += rows;
      if (work > WORK_BETWEEN_PAUSES) {
        work = 0;
        yield;
      }
    }
  }
  return result;
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

/** As `multiply`, for 32-bit integers, which wrap: their products are more than a float64 holds. */
function multiplyWrapping(
  patch: Float64Array,
  filters: Float64Array,
  bias: Float64Array,
  first: number,
  end: number,
  sums: Float64Array,
): void {
  for (let filter = first; filter < end; filter++) {
    let at = filter * patch.length;
    let sum = bias[filter];
    for (let index = 0; index < patch.length; index++) sum = (sum + Math.imul(patch[index], filters[at++])) | 0;
    sums[filter] = sum;
  }
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

/** Stores a row of sums from `start` on; `rowScale`: that of a hybrid row. */
function storeOf(
  x: TensorInfo,
  y: TensorInfo,
  { type, data, scale: step, zeroPoint }: OutputTensor,
  columns: number,
): (sums: Float64Array, rowScale: number | undefined, start: number) => void {
  const scales = channelScales(y, columns);
  if (isFloat(type) || type === INT32) {
    return (sums, rowScale, start) => {
      for (let index = 0; index < sums.length; index++)
        data[start + index] = rowScale === undefined ? sums[index] : sums[index] * (rowScale * scales[index]);
    };
  }
  const [least, greatest] = integerRange(type);
  const scaling = type === INT16 ? wideScaling : exactScaling;
  const scaled = scales.map((scale) => scaling((x.scale * scale) / step));
  return (sums, _, start) => {
    for (let index = 0; index < sums.length; index++) {
      data[start + index] = clamp(scaled[index](sums[index]) + zeroPoint, least, greatest);
    }
  };
}
