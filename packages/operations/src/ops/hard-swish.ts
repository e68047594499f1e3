/**
 * HARD_SWISH: x times a ramp from 0 at -3 to 1 at 3. Quantised: the reference's arithmetic on 16 bits.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import {
  clamp,
  saturatingRoundingDoublingHighMultiply16 as multiply,
  quantiseMultiplier,
  roundingDivideByPowerOfTwo,
} from "../fixed-point.ts";
import { tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import { isQuant8, type OutputTensor, type Tensor, type TensorData } from "../tensor.ts";
import { mapByTable } from "./_table.ts";
import { rowsOfOneType } from "./_types.ts";

export const hardSwish = defineOperation({
  name: "HARD_SWISH",
  code: OperationType.HARD_SWISH,
  summary: "x · max(0, min(6, x + 3)) / 6.",
  params: [tensor("input")],
  outputs: [tensor("output")],
  types: rowsOfOneType(2, [
    ["1.3", "TENSOR_FLOAT16"],
    ["1.3", "TENSOR_FLOAT32"],
    ["1.3", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ]),
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input }, { output }) {
    if (!isQuant8(input.type)) {
      return { units: output.data.length, compute: (first, end) => float(input.data, output.data, first, end) };
    }
    return quantise(input, output);
  },
});

/** x · max(0, min(6, x + 3)) / 6 */
function float(input: TensorData, output: TensorData, first: number, end: number): void {
  for (let index = first; index < end; index++) {
    const x = input[index];
    output[index] = (x * clamp(x + 3, 0, 6)) / 6;
  }
}

/** The element is shifted up 7 bits; 32768 represents 3 in the ramp before it is moved from [-1, 1] to [0, 1]. */
function quantise(input: Tensor, output: OutputTensor): Phase {
  const fineScale = input.scale / 128;
  const toOutput = quantiseMultiplier16(fineScale / output.scale);
  const toRamp = quantiseMultiplier16(fineScale / (3 / 32768));
  ensure(
    toOutput.shift <= 0,
    () => `the output's scale: expected more than 1/128 of the input's, ${input.scale}, got ${output.scale}`,
  );
  return mapByTable(input, output, (value) => {
    const fine = value << 7;
    const ramp = (rampOf(fine, toRamp) + 0x8000) >> 1;
    const unshifted = Math.trunc((ramp * multiply(fine, toOutput.mantissa)) / 0x8000);
    return roundingDivideByPowerOfTwo(unshifted, -toOutput.shift);
  });
}

/** value · multiplier on 16 bits. One bit of a shift to the left is applied last: a value that has saturated saturates again. */
function rampOf(value: number, { mantissa, shift }: { mantissa: number; shift: number }): number {
  if (shift <= 0) return roundingDivideByPowerOfTwo(multiply(value, mantissa), Math.min(-shift, 31));
  return saturate16(2 * multiply(saturate16(value * 2 ** (shift - 1)), mantissa));
}

/** A real multiplier, taken as a float32, as `mantissa` · 2^(`shift` - 15). */
function quantiseMultiplier16(multiplier: number): { mantissa: number; shift: number } {
  const { mantissa, shift } = quantiseMultiplier(Math.fround(multiplier));
  return { mantissa: Math.min((mantissa + 0x8000) >> 16, 0x7fff), shift };
}

function saturate16(value: number): number {
  return clamp(value, -0x8000, 0x7fff);
}
