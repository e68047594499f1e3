/**
 * ROUND: the nearest integer, of two equally near ones the even one.
 */
import { unary } from "./_unary.ts";

export const round = unary(
  "ROUND",
  1116,
  "The nearest integer, halves to the even one.",
  ["TENSOR_FLOAT32", "TENSOR_FLOAT16"],
  { real: roundHalfEven },
);

function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const part = value - below;
  return part < 0.5 || (part === 0.5 && below % 2 === 0) ? below : Math.ceil(value);
}
