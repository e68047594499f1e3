/**
 * The six comparisons of two tensors that broadcast. Quantised elements are compared as the float32 numbers they
 * represent, booleans as 0 and 1.
 */
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { isQuant8, type Tensor, type TensorData } from "../tensor.ts";
import { broadcastData, inferBroadcast } from "./_broadcast.ts";
import { inChunks } from "./_chunks.ts";

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
    *reference({ left, right }, { output }) {
      const leftData = yield* broadcastData(yield* comparable(left), output.dimensions);
      const rightData = yield* broadcastData(yield* comparable(right), output.dimensions);
      yield* inChunks(output.data.length, (part) =>
        compare(part(leftData), part(rightData), answers, part(output.data)),
      );
    },
  });
}

function* comparable(operand: Tensor): Generator<void, Tensor> {
  const { type, data, scale, zeroPoint } = operand;
  if (type === "TENSOR_BOOL8") {
    const bits = new Uint8Array(data.length);
    yield* inChunks(data.length, (part) => {
      const [from, to] = [part(data), part(bits)];
      for (let index = 0; index < to.length; index++) to[index] = from[index] === 0 ? 0 : 1;
    });
    return { ...operand, data: bits };
  }
  if (!isQuant8(type)) return operand;
  const real = new Float32Array(data.length);
  yield* inChunks(data.length, (part) => {
    const [from, to] = [part(data), part(real)];
    for (let index = 0; index < to.length; index++) to[index] = (from[index] - zeroPoint) * scale;
  });
  return { ...operand, type: "TENSOR_FLOAT32", data: real };
}

function compare(left: TensorData, right: TensorData, answers: Answers, result: TensorData): void {
  const less = answers.less ? 1 : 0;
  const equal = answers.equal ? 1 : 0;
  const greater = answers.greater ? 1 : 0;
  const unordered = answers.unordered ? 1 : 0;
  for (let index = 0; index < result.length; index++) {
    const a = left[index];
    const b = right[index];
    result[index] = a < b ? less : a > b ? greater : a === b ? equal : unordered;
  }
}
