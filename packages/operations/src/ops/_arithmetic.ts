/**
 * ADD, SUB, MUL and DIV: two tensors that broadcast, and an activation of the result.
 */
import { FusedActivationFunc, OperationType, type OperationTypeName } from "@nnhal/types";
import { activationRange, quantisedActivationRange } from "../activation.ts";
import { defineOperation } from "../define.ts";
import { OperationError } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { int32, tensor } from "../params.ts";
import { isQuant8, type TensorInfo } from "../tensor.ts";
import { broadcastData, inferBroadcast, type PairLoop, pairPhases } from "./_broadcast.ts";
import { rowsOfOneType, type SinceType } from "./_types.ts";

/** The part of a definition that differs within the family. */
export interface Arithmetic<Name extends OperationTypeName> {
  readonly name: Name;
  readonly summary: string;
  readonly types: readonly SinceType[];
  /** The rule that quantised operands break. */
  readonly scaleRule?: (left: TensorInfo, right: TensorInfo, output: TensorInfo) => string | undefined;
  /** Computes the results of floats. */
  readonly float: PairLoop;
  /** The same of 32-bit integers; results wrap. */
  readonly integer: PairLoop;
  /** The same of quantised elements, clamped to the bounds; absent if the operation has no such types. */
  readonly pairQuantised?: (
    left: TensorInfo,
    right: TensorInfo,
    output: TensorInfo,
    bounds: readonly [least: number, greatest: number],
  ) => PairLoop;
}

/** Defines one of the operations. */
export function arithmetic<const Name extends OperationTypeName>({
  name,
  summary,
  types,
  scaleRule,
  float,
  integer,
  pairQuantised: quantised,
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
    reference({ left, right, activation }, { output }) {
      const operands = [broadcastData(left, output.dimensions), broadcastData(right, output.dimensions)];
      if (output.type === "TENSOR_INT32") return pairPhases(operands, output.data, integer);
      if (quantised !== undefined && isQuant8(output.type)) {
        enforce(scaleRule?.(left, right, output));
        const bounds = quantisedActivationRange(activation, output);
        return pairPhases(operands, output.data, quantised(left, right, output, bounds));
      }
      return pairPhases(
        operands,
        output.data,
        activation === FusedActivationFunc.NONE ? float : addActivation(float, activation),
      );
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

/** The loop, then the activation of its results. */
function addActivation(loop: PairLoop, activation: number): PairLoop {
  const [least, greatest] = activationRange(activation);
  return (left, right, result, first, end) => {
    loop(left, right, result, first, end);
    for (let index = first; index < end; index++) result[index] = clamp(result[index], least, greatest);
  };
}
