/**
 * The common parts of operations that move elements without changing them: their types, and an output with the input's quantisation.
 */
import type { HalVersion } from "@nnhal/types";
import type { OutputInfo, RowOfLength } from "../define.ts";
import type { TensorInfo } from "../tensor.ts";

/** Rows of one input and one output of the same type; `since`: the version that introduced the operation. */
export function floatAndQuant8Types(since: HalVersion): readonly RowOfLength<2>[] {
  return [
    [since, "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    [since, "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ];
}

/** The same with TENSOR_INT32, of the operations that HAL 1.2 introduced. */
export const floatIntegerAndQuant8Types: readonly RowOfLength<2>[] = [
  ...floatAndQuant8Types("1.2"),
  ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
];

/** An output with the quantisation of `input`. */
export function movedInfo({ scale, zeroPoint }: TensorInfo, dimensions: readonly number[]): OutputInfo {
  return { dimensions, scale, zeroPoint };
}

/** Rows of the operations of AIDL that move elements. */
export function movedTypesSince(since: HalVersion): readonly RowOfLength<2>[] {
  return floatIntegerAndQuant8Types.map(([, input, output]) => [since, input, output] as const);
}
