/**
 * PRELU: negative elements are multiplied by a learned factor.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { clamp } from "../fixed-point.ts";
import { tensor } from "../params.ts";
import { integerRange, isQuant8, type OutputTensor, type Tensor, type TensorData } from "../tensor.ts";
import { broadcastData, inferBroadcast } from "./_broadcast.ts";
import { inChunks } from "./_chunks.ts";
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
  *reference({ input, alpha }, { output }) {
    const inputData = yield* broadcastData(input, output.dimensions);
    const alphaData = yield* broadcastData(alpha, output.dimensions);
    yield* inChunks(output.data.length, (part) => {
      const of = <T extends Tensor>(tensor: T, data = tensor.data) => ({ ...tensor, data: part(data) });
      if (isQuant8(output.type)) quantise(of(input, inputData), of(alpha, alphaData), of(output));
      else float(part(inputData), part(alphaData), part(output.data));
    });
  },
});

function float(input: TensorData, alpha: TensorData, output: TensorData): void {
  for (let index = 0; index < output.length; index++) {
    const value = input[index];
    output[index] = value < 0 ? value * alpha[index] : value;
  }
}

function quantise(input: Tensor, alpha: Tensor, output: OutputTensor): void {
  const { positive, negative } = preluSteps(input, alpha, output);
  const [least, greatest] = integerRange(output.type);
  const { data, zeroPoint } = output;
  for (let index = 0; index < data.length; index++) {
    const value = input.data[index] - input.zeroPoint;
    const steps = value < 0 ? negative(value * (alpha.data[index] - alpha.zeroPoint)) : positive(value);
    data[index] = clamp(steps + zeroPoint, least, greatest);
  }
}
