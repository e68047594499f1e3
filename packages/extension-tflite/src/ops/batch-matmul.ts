/**
 * BATCH_MATMUL: products of matrices, for batches that broadcast.
 */
import {
  clamp,
  elementCount,
  type Filled,
  integerRange,
  isFloat,
  type OutputTensor,
  stridesOf,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";
import { bool, broadcastShape, defineOperation, ensure, tensor } from "@nnhal/operations/authoring";
import { filtersOfUnit, multiply, widen } from "@nnhal/operations/kernels";
import { channelScales, hybridWeights, isHybrid, quantiseRows } from "../_hybrid.ts";
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
  reference({ x, y, adjX, adjY, asymmetricQuantizeInputs }, { output }) {
    const left = matrixOf(x, adjX);
    const right = matrixOf(y, !adjY);
    const { rows, depth } = left;
    const columns = right.rows;
    const batches = output.dimensions.slice(0, -2);
    const leftBatches = batchOffsets(left.batches, batches);
    const rightBatches = batchOffsets(right.batches, batches);
    const hybrid = isHybrid(x, y);
    const isRaw = output.type === INT32;
    const values = asRows(elementsOf(x, isRaw), left);
    const quantised = hybrid
      ? quantiseRows(values.data, values.data.length / depth, depth, asymmetricQuantizeInputs)
      : undefined;
    const lefts = quantised?.data ?? values.data;
    const rights = asRows(elementsOf(hybrid ? hybridWeights(y) : y, isRaw), right);
    const store = storeOf(x, y, output, columns);
    const times = x.type === INT32 ? multiplyWrapping : multiply;
    const zeros = new Float64Array(columns);
    const sums = new Float64Array(columns);
    const block = filtersOfUnit(Math.max(columns, 1), depth + 1);
    const blocks = Math.ceil(columns / block);
    // A unit is a block of the columns of one row.
    const compute = (start: number, stop: number) => {
      for (let unit = start; unit < stop; unit++) {
        const [line, first] = [Math.floor(unit / blocks), (unit % blocks) * block];
        const [batch, row] = [Math.floor(line / rows), line % rows];
        const end = Math.min(first + block, columns);
        const matrix = rightBatches[batch] * columns * depth;
        const from = leftBatches[batch] * rows + row;
        const patch = lefts.subarray(from * depth, (from + 1) * depth);
        times(patch, rights.data.subarray(matrix, matrix + columns * depth), zeros, first, end, sums);
        store(sums, first, end, quantised?.scales[from], line * columns);
      }
    };
    const products = { units: leftBatches.length * rows * blocks, cost: (block + 1) * (depth + 1), compute };
    return [...values.phases, ...(quantised?.phases ?? []), ...rights.phases, products];
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
function elementsOf({ data, zeroPoint }: Tensor, isRaw: boolean): Filled<Float64Array> {
  return widen({ data, zeroPoint: isRaw ? 0 : zeroPoint });
}

/** The elements with the rows of each matrix one after the other. */
function asRows(values: Filled<Float64Array>, { rows, depth, isTransposed }: Matrix): Filled<Float64Array> {
  if (!isTransposed) return values;
  const { data: source } = values;
  const data = new Float64Array(source.length);
  const size = rows * depth;
  // A unit is a row of a matrix as the tensor has it.
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const [start, index] = [Math.floor(unit / depth) * size, unit % depth];
      for (let row = 0; row < rows; row++) data[start + row * depth + index] = source[unit * rows + row];
    }
  };
  return { data, phases: [...values.phases, { units: source.length / rows, cost: 4 * (rows + 1), compute }] };
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

/** Stores the sums [first, end) of the row that begins at `start`; `rowScale`: that of a hybrid row. */
function storeOf(
  x: TensorInfo,
  y: TensorInfo,
  { type, data, scale: step, zeroPoint }: OutputTensor,
  columns: number,
): (sums: Float64Array, first: number, end: number, rowScale: number | undefined, start: number) => void {
  const scales = channelScales(y, columns);
  if (isFloat(type) || type === INT32) {
    return (sums, first, end, rowScale, start) => {
      for (let index = first; index < end; index++)
        data[start + index] = rowScale === undefined ? sums[index] : sums[index] * (rowScale * scales[index]);
    };
  }
  const [least, greatest] = integerRange(type);
  const scaling = type === INT16 ? wideScaling : exactScaling;
  const scaled = scales.map((scale) => scaling((x.scale * scale) / step));
  return (sums, first, end, _, start) => {
    for (let index = first; index < end; index++) {
      data[start + index] = clamp(scaled[index](sums[index]) + zeroPoint, least, greatest);
    }
  };
}
