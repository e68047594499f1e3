/**
 * @nnhal/backend/float32: exact 8-bit arithmetic for engines that compute in float32. Apart from the rest, so that a page with an engine
 * that computes integers does not load it.
 */
export { type Float32Prelu, float32Prelu } from "./prelu.ts";
export {
  BIAS_UNIT,
  divideBias,
  divideSums,
  GREATEST_FLOAT,
  greatestSum,
  MOST_WHOLE,
  needsDivision,
  type ProductOperands,
  type SumParts,
  type WeightDigits,
  whyIndivisible,
  whyTooManyAlong,
  whyTooManySummed,
} from "./products.ts";
export { type Float32Sum, float32Sum, hasFrequentTies, type MultiplierParts } from "./sum.ts";
export { type ElementTable, elementTable } from "./table.ts";
