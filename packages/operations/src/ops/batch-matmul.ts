/**
 * BATCH_MATMUL: products of matrices.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { bool, tensor } from "../params.ts";
import { formatShape, sameShape } from "../shape.ts";
import { elementCount, integerRange, isQuant8, type OutputTensor, type TensorInfo } from "../tensor.ts";
import { type BatchProduct, matricesOf, multiplyBatches, rowsOfMatrices } from "./_batch-product.ts";
import { rowsOfOneType } from "./_types.ts";
import { widen } from "./_widen.ts";

export const batchMatmul = defineOperation({
  name: "BATCH_MATMUL",
  code: OperationType.BATCH_MATMUL,
  summary: "Multiplies matrices: x by y, each transposed if its flag says so. All other axes are batches.",
  params: [tensor("x"), tensor("y"), bool("adjX"), bool("adjY")],
  outputs: [tensor("output")],
  types: rowsOfOneType(3, [
    ["aidl2", "TENSOR_FLOAT32"],
    ["aidl2", "TENSOR_FLOAT16"],
    ["aidl2", "TENSOR_INT32"],
    ["aidl2", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ]),
  ranks: { x: [2, 4], y: [2, 4] },
  work: ({ x }, { output }) => ({ multiplyAdd: elementCount(output) * (x[x.length - 1] ?? 1) }),
  infer({ x, y, adjX, adjY }) {
    const left = matricesOf(x, adjX);
    const right = matricesOf(y, !adjY);
    ensure(
      sameShape(left.batches, right.batches),
      () => `the batches of x have shape ${formatShape(left.batches)}, those of y ${formatShape(right.batches)}`,
    );
    ensure(
      left.depth === right.depth,
      () => `the matrices of x have ${left.depth} columns where those of y have ${right.depth} rows`,
    );
    ensure(
      left.rows > 0 && left.depth > 0 && right.rows > 0,
      () => `the matrices of x and y have no elements: ${formatShape(x.dimensions)} and ${formatShape(y.dimensions)}`,
    );
    return { output: { dimensions: [...left.batches, left.rows, right.rows] } };
  },
  reference({ x, y, adjX, adjY }, { output }) {
    const left = matricesOf(x, adjX);
    const right = matricesOf(y, !adjY);
    const lefts = rowsOfMatrices(widen(x), left);
    const rights = rowsOfMatrices(widen(y), right);
    const batches = Int32Array.from({ length: elementCount(left.batches) }, (_, batch) => batch);
    const product = multiplyBatches({
      lefts: lefts.data,
      rights: rights.data,
      depth: left.depth,
      rows: left.rows,
      columns: right.rows,
      leftBatches: batches,
      rightBatches: batches,
      wraps: output.type === "TENSOR_INT32",
      store: storeOf(x, y, output),
    });
    return [...lefts.phases, ...rights.phases, product];
  },
});

/** Stores sums as they are, or in steps of a quantised result, rounded once, halves away from 0. */
function storeOf(x: TensorInfo, y: TensorInfo, { type, data, scale, zeroPoint }: OutputTensor): BatchProduct["store"] {
  if (!isQuant8(type)) return (sums, first, end, start) => data.set(sums.subarray(first, end), start + first);
  const multiplier = (x.scale * y.scale) / scale;
  const [least, greatest] = integerRange(type);
  return (sums, first, end, start) => {
    for (let column = first; column < end; column++) {
      data[start + column] = clamp(roundHalfAway(sums[column] * multiplier) + zeroPoint, least, greatest);
    }
  };
}
