/** Products of matrices. */
import type { KernelTensor } from "@nnhal/backend";
import type { TensorInfo } from "@nnhal/operations";
import { transpose, type Value } from "../graph/builder.ts";
import { type Lowered, refuse, type Scope } from "../graph/scope.ts";
import { typeName } from "./_lowering.ts";

interface Matrices {
  readonly x: KernelTensor;
  readonly y: KernelTensor;
  readonly adjX: boolean;
  readonly adjY: boolean;
}

export function lowerBatchMatmul(
  { x, y, adjX, adjY }: Matrices,
  { output }: { readonly output: TensorInfo },
  { builder, read }: Scope,
): Lowered {
  if (![x, y, output].every(({ type }) => type === "TENSOR_FLOAT32")) refuse(`${typeName(y)} is not available`);
  const matrixOf = (tensor: KernelTensor, isTransposed: boolean): Value => {
    const value = read(tensor);
    const axes = value.dims.map((_, axis) => axis);
    return isTransposed ? transpose(builder, value, [...axes.slice(0, -2), ...axes.slice(-2).toReversed()]) : value;
  };
  const inputs = [matrixOf(x, adjX), matrixOf(y, adjY)];
  return builder.node("MatMul", inputs, { type: "float32", dims: output.dimensions });
}
