/** Products of integers with the multipliers of fixed point, as expressions: rounded twice, as the reference does. */
import { quantiseMultiplier } from "@nnhal/operations/compiling";
import { type Expression, makeInteger, on, select, shiftBits } from "./expression.ts";

const [LEAST, GREATEST] = [-(2 ** 31), 2 ** 31 - 1];

/** value · 2^bits, or the nearest number of 32 bits. */
export function shiftUp(value: Expression, bits: number): Expression {
  const isHigh = on("gt", value, makeInteger(GREATEST >> bits));
  const isLow = on("lt", value, makeInteger(LEAST >> bits));
  return select(isHigh, makeInteger(GREATEST), select(isLow, makeInteger(LEAST), shiftBits("shl", value, bits)));
}

/** value / 2^bits to the nearest integer, halves away from zero. */
export function divideByPower(value: Expression, bits: number): Expression {
  if (bits === 0) return value;
  const mask = bits === 31 ? GREATEST : 2 ** bits - 1;
  const isNegative = on("and", shiftBits("shr", value, 31), makeInteger(1));
  const isUp = on("gt", on("and", value, makeInteger(mask)), on("add", makeInteger(mask >> 1), isNegative));
  return on("add", shiftBits("shr", value, bits), on("and", isUp, makeInteger(1)));
}

/** The same for a number of bits in each lane, from 0 to 31. */
export function divideByPowerOf(value: Expression, bits: Expression): Expression {
  const mask = on("sub", on("shlBy", makeInteger(1), bits), makeInteger(1));
  const isNegative = on("and", shiftBits("shr", value, 31), makeInteger(1));
  const isUp = on("gt", on("and", value, mask), on("add", shiftBits("shr", mask, 1), isNegative));
  return on("add", on("shrBy", value, bits), on("and", isUp, makeInteger(1)));
}

/** An integer of 32 bits times a real multiplier of at least 0. */
export function fixedMultiple(value: Expression, multiplier: number): Expression {
  const { mantissa, shift } = quantiseMultiplier(multiplier);
  if (shift > 0) return on("highMul", shiftUp(value, shift), makeInteger(mantissa));
  return divideByPower(on("highMul", value, makeInteger(mantissa)), -shift);
}
