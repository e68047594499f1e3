/**
 * Allowances of results against an example's expected ones, as a table: by output type, and for float32 by the precision that
 * the model asks for.
 */
import type { OperandTypeName } from "@nnhal/types";
import { type Allowance, type Example, subgraphsOf } from "./example.ts";

/** The units in the last place of 1.0. */
const float32Epsilon = 2 ** -23;
const float16Epsilon = 2 ** -10;

const float32: Allowance = { absolute: 1e-5, relative: 5 * float32Epsilon };
const float16: Allowance = { absolute: 5 * float16Epsilon, relative: 5 * float16Epsilon };
const offByOne: Allowance = { absolute: 1, relative: 0 };
const exact: Allowance = { absolute: 0, relative: 0 };

/** Tolerances by output type; `reduced` where float32 need only be as precise as float16. */
export const tolerances: Readonly<Partial<Record<OperandTypeName, { full: Allowance; reduced: Allowance }>>> = {
  FLOAT32: { full: float32, reduced: float16 },
  TENSOR_FLOAT32: { full: float32, reduced: float16 },
  FLOAT16: { full: float16, reduced: float16 },
  TENSOR_FLOAT16: { full: float16, reduced: float16 },
  TENSOR_QUANT8_ASYMM: { full: offByOne, reduced: offByOne },
  TENSOR_QUANT8_ASYMM_SIGNED: { full: offByOne, reduced: offByOne },
  TENSOR_QUANT8_SYMM: { full: offByOne, reduced: offByOne },
  TENSOR_QUANT16_ASYMM: { full: offByOne, reduced: offByOne },
  TENSOR_QUANT16_SYMM: { full: offByOne, reduced: offByOne },
  INT32: { full: offByOne, reduced: offByOne },
  TENSOR_INT32: { full: offByOne, reduced: offByOne },
};

/** The tolerance of an output of an example; types without a row are compared exactly. */
export function toleranceOf(example: Example, type: OperandTypeName): Allowance {
  return tolerances[type]?.[hasReducedPrecision(example) ? "reduced" : "full"] ?? exact;
}

/** A relaxed model, or one with a float16 tensor anywhere, need only be computed as precisely as float16 allows. */
function hasReducedPrecision(example: Example): boolean {
  return (
    example.isRelaxed ||
    subgraphsOf(example).some(({ operands }) => operands.some(({ type }) => type === "TENSOR_FLOAT16"))
  );
}
