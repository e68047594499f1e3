/** Products of integers with the multipliers of fixed point, as expressions: rounded twice, as the reference does. */
import { quantiseMultiplier } from "@nnhal/operations/compiling";
import { type Expression, on, select, shifted, whole } from "./expression.ts";

const [LEAST, GREATEST] = [-(2 ** 31), 2 ** 31 - 1];

/** value · 2^bits, or the nearest number of 32 bits. */
function shiftedUp(value: Expression, bits: number): Expression {
  const isHigh = on("gt", value, whole(GREATEST >> bits));
  const isLow = on("lt", value, whole(LEAST >> bits));
  return select(isHigh, whole(GREATEST), select(isLow, whole(LEAST), shifted("shl", value, bits)));
}

/** value / 2^bits to the nearest integer, halves away from zero. */
function dividedByPower(value: Expression, bits: number): Expression {
  if (bits === 0) return value;
  const mask = bits === 31 ? GREATEST : 2 ** bits - 1;
  const isNegative = on("and", shifted("shr", value, 31), whole(1));
  const isUp = on("gt", on("and", value, whole(mask)), on("add", whole(mask >> 1), isNegative));
  return on("add", shifted("shr", value, bits), on("and", isUp, whole(1)));
}

/** An integer of 32 bits times a real multiplier of at least 0. */
export function fixedMultiple(value: Expression, multiplier: number): Expression {
  const { mantissa, shift } = quantiseMultiplier(multiplier);
  if (shift > 0) return on("highMul", shiftedUp(value, shift), whole(mantissa));
  return dividedByPower(on("highMul", value, whole(mantissa)), -shift);
}
