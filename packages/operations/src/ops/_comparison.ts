/**
 * The six comparisons of two tensors that broadcast. Quantised elements are compared as the float32 numbers they
 * represent, booleans as 0 and 1.
 */
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import { isQuant8, type Tensor } from "../tensor.ts";
import { broadcastData, inferBroadcast, type PairLoop, pairPhases } from "./_broadcast.ts";

/** The results of a comparison if the left element is less than, equal to or greater than the right one, and for NaN. */
export interface Answers {
  readonly less: boolean;
  readonly equal: boolean;
  readonly greater: boolean;
  readonly unordered: boolean;
}

/** Defines one of the comparisons. */
export function comparison<const Name extends OperationTypeName>(name: Name, summary: string, answers: Answers) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("left"), tensor("right")],
    outputs: [tensor("output", "TENSOR_BOOL8")],
    types: [
      ["1.2", "TENSOR_BOOL8", "TENSOR_BOOL8"],
      ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
      ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
      ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ],
    broadcasts: ["left", "right"],
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference({ left, right }, { output }) {
      const operands = [left, right].map((operand) => {
        const values = comparable(operand);
        const { data, phases } = broadcastData({ ...operand, ...values.tensor }, output.dimensions);
        return { data, phases: [...values.phases, ...phases] };
      });
      return pairPhases(operands, output.data, compareWith(answers));
    },
  });
}

/** Elements that compare as what they stand for. */
function comparable({ type, data, scale, zeroPoint }: Tensor): {
  readonly tensor: Pick<Tensor, "type" | "data">;
  readonly phases: readonly Phase[];
} {
  if (type === "TENSOR_BOOL8") {
    const bits = new Uint8Array(data.length);
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) bits[index] = data[index] === 0 ? 0 : 1;
    };
    return { tensor: { type, data: bits }, phases: [{ units: data.length, compute }] };
  }
  if (!isQuant8(type)) return { tensor: { type, data }, phases: [] };
  const real = new Float32Array(data.length);
  const compute = (first: number, end: number) => {
    for (let index = first; index < end; index++) real[index] = (data[index] - zeroPoint) * scale;
  };
  return { tensor: { type: "TENSOR_FLOAT32", data: real }, phases: [{ units: data.length, compute }] };
}

function compareWith(answers: Answers): PairLoop {
  const less = answers.less ? 1 : 0;
  const equal = answers.equal ? 1 : 0;
  const greater = answers.greater ? 1 : 0;
  const unordered = answers.unordered ? 1 : 0;
  return (left, right, result, first, end) => {
    for (let index = first; index < end; index++) {
      const a = left[index];
      const b = right[index];
      result[index] = a < b ? less : a > b ? greater : a === b ? equal : unordered;
    }
  };
}
