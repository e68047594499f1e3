/**
 * ADD, SUB, MUL and DIV: two tensors that broadcast, and an activation of the result.
 */
import { FusedActivationFunc, OperationType, type OperationTypeName } from "@nnhal/types";
import { activationRange, quantisedActivationRange } from "../activation.ts";
import { defineOperation } from "../define.ts";
import { OperationError } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { int32, tensor } from "../params.ts";
import { isQuant8, type OutputTensor, type Tensor, type TensorData, type TensorInfo } from "../tensor.ts";
import { broadcastData, inferBroadcast } from "./_broadcast.ts";
import { inChunks } from "./_chunks.ts";
import { rowsOfOneType, type SinceType } from "./_types.ts";

/** The part of a definition that differs within the family. */
export interface Arithmetic<Name extends OperationTypeName> {
  readonly name: Name;
  readonly summary: string;
  readonly types: readonly SinceType[];
  /** The rule that quantised operands break. */
  readonly scaleRule?: (left: TensorInfo, right: TensorInfo, output: TensorInfo) => string | undefined;
  /** The result of each pair of elements, of floats. */
  readonly float: (left: TensorData, right: TensorData, result: TensorData) => void;
  /** The same of 32-bit integers; results wrap. */
  readonly integer: (left: TensorData, right: TensorData, result: TensorData) => void;
  /** The same of quantised elements, clamped to the bounds; absent if the operation has no such types. */
  readonly quantised?: (
    left: Tensor,
    right: Tensor,
    output: OutputTensor,
    bounds: readonly [least: number, greatest: number],
  ) => void;
}

/** Defines one of the operations. */
export function arithmetic<const Name extends OperationTypeName>({
  name,
  summary,
  types,
  scaleRule,
  float,
  integer,
  quantised,
}: Arithmetic<Name>) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("left"), tensor("right"), int32("activation")],
    outputs: [tensor("output")],
    types: rowsOfOneType(3, types),
    ranks: { left: [1, 4], right: [1, 4] },
    broadcasts: ["left", "right"],
    check({ left, right, activation }, { output }) {
      return integerRule(left, activation) ?? (isQuant8(left.type) ? scaleRule?.(left, right, output) : undefined);
    },
    infer({ left, right, activation }) {
      enforce(integerRule(left, activation));
      return inferBroadcast(left, right);
    },
    *reference({ left, right, activation }, { output }) {
      const leftData = yield* broadcastData(left, output.dimensions);
      const rightData = yield* broadcastData(right, output.dimensions);
      const { length } = output.data;
      if (output.type === "TENSOR_INT32") {
        yield* inChunks(length, (part) => integer(part(leftData), part(rightData), part(output.data)));
      } else if (quantised !== undefined && isQuant8(output.type)) {
        enforce(scaleRule?.(left, right, output));
        const bounds = quantisedActivationRange(activation, output);
        yield* inChunks(length, (part) => {
          const of = <T extends Tensor>(tensor: T, data = tensor.data) => ({ ...tensor, data: part(data) });
          quantised(of(left, leftData), of(right, rightData), of(output), bounds);
        });
      } else {
        yield* inChunks(length, (part) => {
          const results = part(output.data);
          float(part(leftData), part(rightData), results);
          activate(results, activation);
        });
      }
    },
  });
}

function integerRule({ type }: TensorInfo, activation: number | undefined): string | undefined {
  if (type !== "TENSOR_INT32" || activation === undefined || activation === FusedActivationFunc.NONE) return undefined;
  return `activation ${activation} is given where TENSOR_INT32 allows only NONE 0`;
}

function enforce(brokenRule: string | undefined): void {
  if (brokenRule !== undefined) throw new OperationError(brokenRule);
}

function activate(data: TensorData, activation: number): void {
  const [least, greatest] = activationRange(activation);
  if (activation === FusedActivationFunc.NONE) return;
  for (let index = 0; index < data.length; index++) data[index] = clamp(data[index], least, greatest);
}
