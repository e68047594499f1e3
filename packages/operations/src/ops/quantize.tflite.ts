/**
 * QUANTIZE to 16-bit elements and to channels of their own scale, and from one quantisation to another in one step.
 */

import type { TypeRow } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp, multiplyByQuantisedMultiplier, quantiseMultiplier, roundHalfAway } from "../fixed-point.ts";
import type { AnyOperandType } from "../operand-type.ts";
import type { Phase } from "../phases.ts";
import { elementCount, integerRange } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { channelsOf } from "./_channels.tflite.ts";
import { type AnyOutput, type AnyTensor, withQuantisation } from "./_elements.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { wider } from "./_wider.tflite.ts";
import { quantize as base } from "./quantize.ts";

const [UINT8, INT8, INT16, INT32] = [
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_INT32",
] as const;

const targets: readonly (readonly [from: AnyOperandType, ...to: AnyOperandType[]])[] = [
  ["TENSOR_FLOAT32", INT16, "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
  [UINT8, UINT8, INT8, INT16],
  [INT8, UINT8, INT8, INT16],
  [INT16, INT8, INT16, INT32],
  [tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED, INT8, INT16, INT32],
  [INT32, INT8, INT16],
];

export const quantize = wider(base, {
  from: "TENSOR_FLOAT32",
  types: [],
  rows: targets.flatMap(([from, ...to]) => to.map((type): TypeRow => ["1.2", from, type])),
  reference: ({ input }, { output }) =>
    input.type === "TENSOR_FLOAT32" ? quantise(input, output) : requantise(withQuantisation(input), output),
});

function quantise(input: AnyTensor, output: AnyOutput): Phase {
  const [least, greatest] = integerRange(output.type);
  const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
  const scaleOf = channelsOf(output);
  const { zeroPoint } = output;
  return {
    units: elementCount(output.dimensions),
    compute(first, end) {
      for (let index = first; index < end; index++) {
        // The quotient is a float32 in the operator.
        const units = roundHalfAway(Math.fround(from[index] / scaleOf(index)));
        to[index] = clamp(units + zeroPoint, least, greatest);
      }
    },
  };
}

function requantise(input: AnyTensor, output: AnyOutput): Phase {
  for (const [name, { type, scale }] of Object.entries({ input, output })) {
    ensure(scale > 0, () => `the ${name}: expected a scale > 0, got ${type} of scale ${scale}`);
  }
  const [least, greatest] = integerRange(output.type);
  const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
  const ratio = quantiseMultiplier(input.scale / output.scale);
  return {
    units: to.length,
    compute(first, end) {
      for (let index = first; index < end; index++) {
        const units = multiplyByQuantisedMultiplier(from[index] - input.zeroPoint, ratio);
        to[index] = clamp(units + output.zeroPoint, least, greatest);
      }
    },
  };
}
