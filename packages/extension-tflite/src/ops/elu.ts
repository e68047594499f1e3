/**
 * ELU of quantised elements. Halves go to the even element, as in XNNPACK, which computes this operator in TensorFlow Lite.
 */
import { roundHalfEven } from "@nnhal/operations";
import { wider } from "../_wider.ts";
import { byteTableOf, mapByTable } from "./_table.ts";

export const elu = wider("ELU", {
  from: "TENSOR_FLOAT32",
  types: ["TENSOR_QUANT8_ASYMM_SIGNED"],
  reference: ({ input, alpha }, { output }) => {
    const real = (value: number) => (value < 0 ? alpha * Math.expm1(value) : value);
    return mapByTable(input, output, byteTableOf(input, output, real, roundHalfEven));
  },
});
