/**
 * RELU, RELU1 and RELU6: elements within the bounds of an activation. The output has the input's scale and zero point.
 */
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { activationRange, quantisedActivationRange } from "../activation.ts";
import { defineOperation } from "../define.ts";
import { clamp } from "../fixed-point.ts";
import { tensor } from "../params.ts";
import { isQuant8 } from "../tensor.ts";
import { rowsOfOneType } from "./_types.ts";

/** Defines one of the operations; `activation` is a fused activation code. */
export function rectifier<const Name extends OperationTypeName>(name: Name, summary: string, activation: number) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("input")],
    outputs: [tensor("output")],
    types: rowsOfOneType(2, [
      ["1.0", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16"],
      ["1.0", "TENSOR_QUANT8_ASYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ]),
    ranks: { input: [1, 4] },
    infer({ input: { dimensions, scale, zeroPoint } }) {
      return { output: { dimensions, scale, zeroPoint } };
    },
    reference({ input }, { output }) {
      const [least, greatest] = isQuant8(input.type)
        ? quantisedActivationRange(activation, input)
        : activationRange(activation);
      return {
        units: output.data.length,
        apart: true,
        compute(first, end) {
          for (let index = first; index < end; index++) output.data[index] = clamp(input.data[index], least, greatest);
        },
      };
    },
  });
}
