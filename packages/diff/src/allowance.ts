/** The bounds within which a result counts as right. */
import { type AnyOperandType, elementCount, isExtensionType, isFloat } from "@nnhal/operations";
import { type Arithmetic, arithmeticIn, floatPrecision, type Terms } from "./arithmetic.ts";

/** The greatest differences of an operation that computes on the judge's values. */
export interface Allowance {
  /**
   * Of quantised elements: the greatest difference in steps. Operations that only move elements must move the right ones. Infinity:
   * differences of all elements, floats too, are measured, and none is wrong. Default: 1.
   */
  readonly steps: number;
  /**
   * Of quantised elements: the mean of all signed differences, in steps. More says that an operation rounds in one direction, though no
   * element is further off than a step. Tensors of fewer than 64 elements are not judged by it. Default: 0.25.
   */
  readonly bias: number;
  /**
   * Of floats: the greatest difference, as a part of the expected element and of the root mean square of its tensor together. Default: as
   * the operation's arithmetic says, from the number of roundings and of terms of a sum; 2^-12 of float32 and 2^-7 of float16 for an
   * operation of which it is not known, for several operations one after the other, and for models that allow float16.
   */
  readonly relative: number | undefined;
}

/** The defaults of Allowance. */
export const defaultAllowance: Allowance = { steps: 1, bias: 0.25, relative: undefined };

/** Of operations without a known arithmetic. */
const standard = { float32: 2 ** -12, float16: 2 ** -7 } as const;

/** The type of a tensor as it is compared. */
export interface Compared {
  readonly type: AnyOperandType;
  readonly scale: number;
  readonly zeroPoint: number;
  /** True if its float32 elements may be of the precision of float16. */
  readonly isRelaxed: boolean;
}

/** The bound of a difference: absolute + relative * |expected|, in elements as they are stored. */
export interface Bound {
  readonly absolute: number;
  readonly relative: number;
  /** See Allowance. */
  readonly bias: number;
}

/** An operation with what it computes on. */
export interface JudgedOperation {
  readonly name: string;
  /** Its operands in order; undefined: one that is omitted, or of which nothing is known. */
  readonly inputs: readonly (JudgedOperand | undefined)[];
}

/** An operand with the sizes of its elements in real numbers. */
export interface JudgedOperand {
  readonly dimensions: readonly number[];
  readonly rootMeanSquare: number;
  readonly greatest: number;
}

/** Returns true for a type whose elements are floats, those of an extension too, such as the parts of complex numbers. */
export function hasFloats(type: AnyOperandType): boolean {
  if (!isExtensionType(type)) return isFloat(type);
  return type.array === Float32Array || type.array === Float64Array;
}

/** The bound of an output. `operation`: undefined for the result of several. `rootMeanSquare`: of the expected elements. */
export function boundOf(
  { type, scale, isRelaxed }: Compared,
  rootMeanSquare: number,
  allowance: Allowance,
  operation?: JudgedOperation,
): Bound {
  const arithmetic = operation && arithmeticIn(operation);
  const { steps, bias, relative } = allowance;
  if (steps === Number.POSITIVE_INFINITY) return { absolute: steps, relative: 0, bias: steps };
  const none = { absolute: 0, relative: 0, bias };
  if (isExtensionType(type) && !hasFloats(type)) return none;
  const isHalf = type === "TENSOR_FLOAT16" || type === "FLOAT16";
  if (!hasFloats(type)) {
    if (arithmetic?.kind === "moved" && !(arithmetic.rescales && scale > 0)) return none;
    return { ...none, absolute: scale > 0 || arithmetic === undefined ? steps : 0 };
  }
  const part = relative ?? (isHalf || isRelaxed ? standard.float16 : standard.float32);
  const usual = { ...none, absolute: part * rootMeanSquare, relative: part };
  if (relative !== undefined || isRelaxed || operation === undefined) return usual;
  return findArithmeticBound(arithmetic, operation, isHalf, usual);
}

function findArithmeticBound(
  arithmetic: Arithmetic | undefined,
  { name, inputs }: JudgedOperation,
  isHalf: boolean,
  usual: Bound,
): Bound {
  const { unit, least } = floatPrecision[isHalf ? "TENSOR_FLOAT16" : "TENSOR_FLOAT32"];
  switch (arithmetic?.kind) {
    case "moved":
      return { ...usual, absolute: 0, relative: 0 };
    case "rounded":
      return { ...usual, absolute: least, relative: arithmetic.roundings * unit };
    case "summed": {
      const sum = sumOf(arithmetic.terms, inputs, name === "DEPTHWISE_CONV_2D");
      if (sum === undefined || isHalf) return usual;
      // Roundings of a long sum are as often up as down, so they grow with the root of their number.
      return { ...usual, absolute: margin * unit * Math.sqrt(sum.count) * sum.size, relative: 2 * unit };
    }
    default:
      return usual;
  }
}

/** Single terms are larger than the mean of all. */
const margin = 4;

/** The number of terms of a sum, and about the sum of their magnitudes; undefined: an operand is not known. */
function sumOf(
  terms: Terms,
  [image, filter, bias]: JudgedOperation["inputs"],
  isDepthwise: boolean,
): { readonly count: number; readonly size: number } | undefined {
  if (image === undefined) return undefined;
  if (terms === "filter") {
    if (filter === undefined) return undefined;
    // A depthwise filter has its output channels last, all others first.
    const outputs = filter.dimensions.at(isDepthwise ? -1 : 0) ?? 1;
    const count = Math.max(1, elementCount(filter.dimensions) / Math.max(1, outputs));
    return { count, size: count * image.rootMeanSquare * filter.rootMeanSquare + (bias?.greatest ?? 0) };
  }
  const count = typeof terms === "number" ? terms : Math.max(1, elementCount(image.dimensions));
  // Of means and windows the terms are divided by their number.
  return { count, size: image.greatest };
}
