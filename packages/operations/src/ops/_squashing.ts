/**
 * LOGISTIC and TANH. Quantised elements go through the reference's fixed point: 32 bits, 4 of them integer bits
 * (beyond ±16 the functions are flat), and the result to the output's scale, which the operation fixes.
 */
import { type HalVersion, OperationType, type OperationTypeName } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { multiplyByQuantisedMultiplier, quantiseMultiplier, roundingDivideByPowerOfTwo } from "../fixed-point.ts";
import { tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import { isQuant8, type OutputTensor, type Tensor, type TensorData } from "../tensor.ts";
import { fixedOutputQuantisation } from "./_fixed-quantisation.ts";
import { mapByTable } from "./_table.ts";
import { rowsOfOneType } from "./_types.ts";

const INTEGER_BITS = 4;

/** The part of a definition that differs within the family. */
export interface Squashing<Name extends OperationTypeName> {
  readonly name: Name;
  readonly summary: string;
  /** The HAL version since which it takes TENSOR_QUANT8_ASYMM. */
  readonly quantisedSince: HalVersion;
  /** The scale of a quantised output is 2^-`outputBits`. */
  readonly outputBits: number;
  /** Its zero point if the type is TENSOR_QUANT8_ASYMM. */
  readonly outputZeroPoint: number;
  /** Computes the results of the float elements [first, end). */
  readonly float: (input: TensorData, output: TensorData, first: number, end: number) => void;
  /** The function on 32 bits: see `FixedPointFunctions`. */
  readonly computeFixed: (value: number, integerBits: number) => number;
}

/** Defines one of the operations. */
export function defineSquashing<const Name extends OperationTypeName>(operation: Squashing<Name>) {
  const { name, summary, quantisedSince, outputBits, outputZeroPoint, float, computeFixed: fixed } = operation;
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("input")],
    outputs: [tensor("output")],
    types: rowsOfOneType(2, [
      ["1.0", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16"],
      [quantisedSince, "TENSOR_QUANT8_ASYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ]),
    ranks: { input: [1, 4] },
    work: "functionElement",
    infer({ input: { type, dimensions } }) {
      return { output: { dimensions, ...fixedOutputQuantisation(type, 2 ** -outputBits, outputZeroPoint) } };
    },
    reference({ input }, { output }) {
      if (!isQuant8(input.type)) {
        return {
          units: output.data.length,
          apart: true,
          compute: (first, end) => float(input.data, output.data, first, end),
        };
      }
      return quantise(input, output, fixed, outputBits);
    },
  });
}

function quantise(
  input: Tensor,
  output: OutputTensor,
  fixed: Squashing<OperationTypeName>["computeFixed"],
  outputBits: number,
): Phase {
  const multiplier = quantiseMultiplier(input.scale * 2 ** (31 - INTEGER_BITS));
  return mapByTable(input, output, (value) => {
    const result = fixed(multiplyByQuantisedMultiplier(value, multiplier), INTEGER_BITS);
    return roundingDivideByPowerOfTwo(result, 31 - outputBits);
  });
}
