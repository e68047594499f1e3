/**
 * Sum and difference of quantised tensors in the reference's fixed point: both operands are brought to one scale with 20
 * bits to spare, added there, and the sum is brought to the output's scale.
 */
import { ensure } from "../fail.ts";
import { clamp, multiplyByQuantisedMultiplier, type QuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import { integerRange, type OutputTensor, type Tensor } from "../tensor.ts";

const SPARE_BITS = 20;

/** left + right or, with sign -1, left - right, of elements side by side. */
export function quantisedSum(
  left: Tensor,
  right: Tensor,
  sign: 1 | -1,
  output: OutputTensor,
  [least, greatest]: readonly [least: number, greatest: number],
): void {
  // Twice the greater scale: so that the sum of two multiples of it cannot overflow.
  const commonScale = 2 * Math.max(left.scale, right.scale);
  const ratio = commonScale / (2 ** SPARE_BITS * output.scale);
  ensure(
    ratio < 1,
    () => `the output's scale is ${output.scale} where more than ${commonScale / 2 ** SPARE_BITS} is needed`,
  );
  const toOutput = quantiseMultiplier(ratio);
  const rightMultiplier = quantiseMultiplier(right.scale / commonScale);
  const leftTerms = termsOf(left, quantiseMultiplier(left.scale / commonScale));
  const rightTerms = termsOf(right, { ...rightMultiplier, mantissa: sign * rightMultiplier.mantissa });
  const [lowest] = integerRange(output.type);
  const { data: leftData } = left;
  const { data: rightData } = right;
  const { data, zeroPoint } = output;
  for (let index = 0; index < data.length; index++) {
    const sum = leftTerms[leftData[index] - lowest] + rightTerms[rightData[index] - lowest];
    data[index] = clamp(multiplyByQuantisedMultiplier(sum, toOutput) + zeroPoint, least, greatest);
  }
}

/** The contribution of each of an element's 256 possible values to the sum, from the least value up. */
function termsOf({ type, zeroPoint }: Tensor, multiplier: QuantisedMultiplier): Int32Array {
  const [lowest] = integerRange(type);
  return Int32Array.from({ length: 256 }, (_, index) =>
    multiplyByQuantisedMultiplier((index + lowest - zeroPoint) << SPARE_BITS, multiplier),
  );
}
