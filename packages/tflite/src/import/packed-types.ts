/** Types with elements of less than 8 bits, which are packed in a file. */
import type { TensorTypeName } from "../schema/codes.ts";

/** Packing of elements of less than 8 bits: the first one in the lowest bits of a byte. */
export interface Packing {
  readonly bits: 2 | 4;
  readonly isSigned: boolean;
}

/** The packing of a type; none for a type whose elements have 8 bits or more. */
export const packings: { readonly [Name in TensorTypeName]?: Packing } = {
  INT4: { bits: 4, isSigned: true },
  UINT4: { bits: 4, isSigned: false },
  INT2: { bits: 2, isSigned: true },
};

/** The least and the greatest element of a type of less than 8 bits; undefined for any other type. */
export function packedRange(type: TensorTypeName): readonly [least: number, greatest: number] | undefined {
  const packing = packings[type];
  if (packing === undefined) return undefined;
  const count = 2 ** packing.bits;
  return packing.isSigned ? [-count / 2, count / 2 - 1] : [0, count - 1];
}
