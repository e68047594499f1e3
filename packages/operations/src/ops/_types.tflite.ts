/**
 * Groups of types for the type rows of operations.
 */
import type { AnyOperandType } from "../operand-type.ts";
import { tfliteTypes } from "../tflite-types.ts";

/** Types of quantised elements with one scale. A tensor without quantisation has scale 1 and zero point 0. */
export const quantisedTypes = [
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_QUANT16_ASYMM",
] as const;

/** Types of integers without quantisation. */
export const integerTypes = [
  "TENSOR_INT32",
  tfliteTypes.TENSOR_INT64,
  tfliteTypes.TENSOR_UINT32,
  tfliteTypes.TENSOR_UINT64,
] as const;

/** Types of real floating point numbers. */
export const floatTypes = ["TENSOR_FLOAT32", "TENSOR_FLOAT16", tfliteTypes.TENSOR_FLOAT64] as const;

/** Types of complex numbers. */
export const complexTypes = [tfliteTypes.TENSOR_COMPLEX64, tfliteTypes.TENSOR_COMPLEX128] as const;

/** Every type of a tensor whose elements are one number each. */
export const realTypes = [
  ...floatTypes,
  ...integerTypes,
  ...quantisedTypes,
  "TENSOR_BOOL8",
] as const satisfies readonly AnyOperandType[];

/** Types of SPLIT and SPLIT_V. */
export const splitTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_INT32",
  tfliteTypes.TENSOR_INT64,
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
] as const satisfies readonly AnyOperandType[];

/** Types of MATRIX_DIAG and MATRIX_SET_DIAG, and of PACK. */
export const packTypes = [...splitTypes, tfliteTypes.TENSOR_UINT32] as const;

/** Types of UNPACK. */
export const unpackTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT16",
  "TENSOR_INT32",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_BOOL8",
] as const;

/** Types of SPACE_TO_DEPTH and DEPTH_TO_SPACE. */
export const depthTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_INT32",
  tfliteTypes.TENSOR_INT64,
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
] as const;

/** Types whose elements GATHER, GATHER_ND, PAD, PAD_V2 and REVERSE_V2 move. */
export const movedTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT16",
  "TENSOR_INT32",
  tfliteTypes.TENSOR_INT64,
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_BOOL8",
] as const satisfies readonly AnyOperandType[];

/** Types of integers of at most 32 bits. */
export const smallIntegerTypes = [
  "TENSOR_INT32",
  tfliteTypes.TENSOR_UINT32,
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_QUANT16_ASYMM",
] as const satisfies readonly AnyOperandType[];

/** The types that the arithmetic of most kernels takes. */
export const arithmeticTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_INT32",
  tfliteTypes.TENSOR_INT64,
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
] as const satisfies readonly AnyOperandType[];

/** The types that most activations take. */
export const activationTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
] as const satisfies readonly AnyOperandType[];

/** The types of StableHLO's arithmetic. */
export const stablehloTypes = realTypes.filter((type) => type !== "TENSOR_BOOL8");
