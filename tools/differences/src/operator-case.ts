/** One operator that is compared, and the tensors of its variants. */
import { ranges } from "./elements.ts";
import type { TensorGiven, Variant } from "./model.ts";

/** Types of quantised activations. */
export type QuantisedType = keyof typeof ranges;

export interface OperatorCase {
  readonly types: readonly QuantisedType[];
  variants(type: QuantisedType): readonly Variant[];
}

/** A range of real numbers. */
export type Real = readonly [least: number, greatest: number];

/** A tensor whose elements stand for a range of real numbers; INT16 is symmetric. */
export function tensor(type: QuantisedType, shape: readonly number[], [least, greatest]: Real): TensorGiven {
  if (type === "INT16") return { type, shape, scale: Math.max(-least, greatest) / 32767, zeroPoint: 0 };
  const scale = (greatest - least) / 255;
  return { type, shape, scale, zeroPoint: Math.round(-least / scale) + ranges[type][0] };
}
