/**
 * IEEE half precision: rounding a number to the nearest float16 (ties to even), and the bits of float16 values. Kernels
 * compute on float32 or float64 and round once, on the way out.
 */

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);

/** The bits of the float16 nearest to a number, ties to even; infinity on overflow. */
export function toFloat16Bits(value: number): number {
  float[0] = roundToFloat16(value);
  const word = bits[0];
  const sign = (word >>> 16) & 0x8000;
  const exponent = (word >>> 23) & 0xff;
  const fraction = word & 0x7f_ffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction === 0 ? 0 : 0x200);
  // The value is a float16 already, so every shift below drops zeros only.
  if (exponent >= 113) return sign | ((exponent - 112) << 10) | (fraction >>> 13);
  if (exponent < 103) return sign;
  return sign | ((fraction | 0x80_0000) >>> (126 - exponent));
}

/** The number that float16 bits represent. */
export function fromFloat16Bits(half: number): number {
  const magnitude = half & 0x7fff;
  const sign = (half & 0x8000) << 16;
  if (magnitude >= 0x7c00) bits[0] = sign | 0x7f80_0000 | ((magnitude & 0x3ff) << 13);
  else if (magnitude >= 0x400) bits[0] = sign | ((magnitude << 13) + (112 << 23));
  else return (sign < 0 ? -1 : 1) * magnitude * 2 ** -24;
  return float[0];
}

/** The float16 nearest to a number, ties to even. One rounding, whatever the number's own precision. */
export function roundToFloat16(value: number): number {
  const magnitude = Math.abs(value);
  if (!(magnitude < Number.POSITIVE_INFINITY) || magnitude === 0) return value;
  if (magnitude >= 65520) return value < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  // Below 2^-14 the unit of the last place stays 2^-24. The exponent is that of the float32 nearest to the number: where
  // that is a power of two above it, so is the result, in either unit.
  float[0] = magnitude;
  const exponent = Math.max(bits[0] >>> 23, 113);
  // Adding and taking away 2^52 units of the last place leaves a multiple of the unit, rounded to nearest even.
  bits[0] = (exponent + 42) << 23;
  const big = float[0];
  const rounded = magnitude + big - big;
  return value < 0 ? -rounded : rounded;
}

/** Rounds every element to the nearest float16 in place. */
export function roundAllToFloat16(values: Float32Array): void {
  for (let index = 0; index < values.length; index++) values[index] = roundToFloat16(values[index]);
}
