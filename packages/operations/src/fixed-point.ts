/**
 * Fixed-point arithmetic of the quantised kernels: 32-bit integers stand for numbers in [-1, 1) scaled by 2^31, and a
 * real multiplier becomes such a number and a power of two. Functions such as exp are in fixed-point-functions.ts.
 */

const INT32_MAX = 0x7fff_ffff;
const INT32_MIN = -0x8000_0000;
const INT16_MAX = 0x7fff;

/** The nearest integer, halves away from zero. (`Math.round` sends -0.5 to 0, and 0.49999999999999994 + 0.5 is 1.) */
export function roundHalfAway(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

/** The nearest integer, halves to the even one. For |value| < 2^51. */
export function roundHalfEven(value: number): number {
  // Near 1.5 · 2^52 doubles are integers, and additions round to the nearest, halves to even.
  return value + 6755399441055744 - 6755399441055744;
}

/** `value` within [least, greatest]. */
export function clamp(value: number, least: number, greatest: number): number {
  return value < least ? least : value > greatest ? greatest : value;
}

/**
 * floor(a * b / 2^31 + 1/2) for 32-bit a and b: the product of two numbers in [-1, 1), rounded to nearest with halves
 * up. Saturates in the one case that overflows, both -2^31.
 */
export function saturatingRoundingDoublingHighMultiply(a: number, b: number): number {
  if (a === INT32_MIN && b === INT32_MIN) return INT32_MAX;
  // The product may need 63 bits, which a double rounds; its low 31 bits, plus a half, are exact in `rest`. Without them
  // the quotient is a whole number plus a half, far from any other whole number, so that floor cannot miss.
  const rest = (Math.imul(a, b) + 0x4000_0000) & INT32_MAX;
  return Math.floor((a * b - rest) / 0x8000_0000 + 1);
}

/** The same for 16-bit a and b: floor(a * b / 2^15 + 1/2); both -2^15 saturate. */
export function saturatingRoundingDoublingHighMultiply16(a: number, b: number): number {
  return Math.min((a * b + 0x4000) >> 15, INT16_MAX);
}

/** value / 2^exponent to the nearest integer, halves away from zero, for a 32-bit value and 0 ≤ exponent ≤ 31. */
export function roundingDivideByPowerOfTwo(value: number, exponent: number): number {
  if (exponent === 0) return value;
  const mask = exponent === 31 ? INT32_MAX : (1 << exponent) - 1;
  const threshold = (mask >> 1) + (value < 0 ? 1 : 0);
  return (value >> exponent) + ((value & mask) > threshold ? 1 : 0);
}

/** A real multiplier as `mantissa` * 2^(`shift` - 31), with 2^30 ≤ mantissa < 2^31, or mantissa 0. */
export interface QuantisedMultiplier {
  readonly mantissa: number;
  readonly shift: number;
}

/** The quantised form of a real multiplier ≥ 0. Multipliers below 2^-32 become 0. */
export function quantiseMultiplier(multiplier: number): QuantisedMultiplier {
  if (multiplier === 0) return { mantissa: 0, shift: 0 };
  let shift = Math.floor(Math.log2(multiplier)) + 1;
  let fraction = multiplier / 2 ** shift;
  if (fraction >= 1) {
    fraction /= 2;
    shift++;
  } else if (fraction < 0.5) {
    fraction *= 2;
    shift--;
  }
  let mantissa = roundHalfAway(fraction * 2 ** 31);
  if (mantissa === 2 ** 31) {
    mantissa = 2 ** 30;
    shift++;
  }
  return shift < -31 ? { mantissa: 0, shift: 0 } : { mantissa, shift };
}

/** left * right / result in numbers of 32 bits, as the HAL's reference and .tflite compute the multiplier of a sum from scales. */
export function effectiveScale(left: number, right: number, result: number): number {
  return Math.fround(Math.fround(left * right) / result);
}

/**
 * value * multiplier for a 32-bit value, rounded twice as the HAL's reference does: in the product, then in the shift.
 * Saturates if a multiplier ≥ 1 makes it overflow.
 */
export function multiplyByQuantisedMultiplier(value: number, { mantissa, shift }: QuantisedMultiplier): number {
  return shift > 0
    ? saturatingRoundingDoublingHighMultiply(clamp(value * 2 ** shift, INT32_MIN, INT32_MAX), mantissa)
    : roundingDivideByPowerOfTwo(saturatingRoundingDoublingHighMultiply(value, mantissa), -shift);
}
