/**
 * PRELU: negative elements are multiplied by a learned factor.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { clamp } from "../fixed-point.ts";
import { tensor } from "../params.ts";
import { integerRange, isQuant8, type TensorData, type TensorInfo } from "../tensor.ts";
import { broadcastData, inferBroadcast, type PairLoop, pairPhases } from "./_broadcast.ts";
import { preluSteps } from "./_prelu-steps.ts";
import { rowsOfOneType } from "./_types.ts";

export const prelu = defineOperation({
  name: "PRELU",
  code: OperationType.PRELU,
  summary: "x where x ≥ 0, else alpha · x; the tensors broadcast.",
  params: [tensor("input"), tensor("alpha")],
  outputs: [tensor("output")],
  types: rowsOfOneType(3, [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ]),
  broadcasts: ["input", "alpha"],
  infer: ({ input, alpha }) => inferBroadcast(input, alpha),
  reference({ input, alpha }, { output }) {
    const operands = [input, alpha].map((operand) => broadcastData(operand, output.dimensions));
    return pairPhases(operands, output.data, isQuant8(output.type) ? quantisePairs(input, alpha, output) : float);
  },
});

/** x where x >= 0, else alpha · x */
function float(input: TensorData, alpha: TensorData, output: TensorData, first: number, end: number): void {
  for (let index = first; index < end; index++) {
    const x = input[index];
    output[index] = x < 0 ? x * alpha[index] : x;
  }
}

function quantisePairs(input: TensorInfo, alpha: TensorInfo, output: TensorInfo): PairLoop {
  const { positive, negative } = preluSteps(input, alpha, output);
  const [least, greatest] = integerRange(output.type);
  return (inputData, alphaData, result, first, end) => {
    for (let index = first; index < end; index++) {
      const value = inputData[index] - input.zeroPoint;
      const steps = value < 0 ? negative(value * (alphaData[index] - alpha.zeroPoint)) : positive(value);
      result[index] = clamp(steps + output.zeroPoint, least, greatest);
    }
  };
}
