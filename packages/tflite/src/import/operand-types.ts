/**
 * From a tensor's type and quantisation to an operand's: the element types that the HAL has, and under which name.
 */
import { type AnyOperandType, elementFactsOf, isExtensionType } from "@nnhal/operations";
import { type OperandTypeName, operandTypes, type SymmPerChannelQuantParams } from "@nnhal/types";
import { ensure, fail, listText, type Place, quote } from "../error.ts";
import type { TfliteTensor } from "../model.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import type { Dialect } from "./dialect.ts";

/** The description of an operand without its lifetime and value. */
export interface OperandSpec {
  readonly type: AnyOperandType;
  /** 0 is an unknown extent. */
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  readonly channelQuant?: SymmPerChannelQuantParams;
  /** The quantisation of a type of the extension that has one. */
  readonly params?: { readonly scale: number; readonly zeroPoint: number };
  /** Set on an optional operand that is omitted. */
  readonly isOmitted?: true;
}

/** The HAL's type for each element type that it has; 8-bit types with a scale per channel have another. */
const typesByElement: { readonly [Name in TensorTypeName]?: OperandTypeName } = {
  FLOAT32: "TENSOR_FLOAT32",
  FLOAT16: "TENSOR_FLOAT16",
  INT32: "TENSOR_INT32",
  UINT8: "TENSOR_QUANT8_ASYMM",
  INT8: "TENSOR_QUANT8_ASYMM_SIGNED",
  // Elements of less than 8 bits have 8 bits here: see `stored.ts`.
  INT4: "TENSOR_QUANT8_ASYMM_SIGNED",
  INT2: "TENSOR_QUANT8_ASYMM_SIGNED",
  UINT4: "TENSOR_QUANT8_ASYMM",
  INT16: "TENSOR_QUANT16_SYMM",
  UINT16: "TENSOR_QUANT16_ASYMM",
  BOOL: "TENSOR_BOOL8",
};

/** Bytes of one element of a type that the dialect has, or of INT64, whose constants are narrowed. */
export function elementSize(type: TensorTypeName, dialect: Dialect): number | undefined {
  if (type === "INT64") return 8;
  const operandType = typesByElement[type] ?? dialect.typeOf(type);
  return operandType && elementFactsOf(operandType).elementSize;
}

/** Remedies for types that the HAL lacks. */
export const typeHelp: { readonly [Name in TensorTypeName]?: string } = {
  INT64: "convert the model with 32-bit integers",
  FLOAT64: "convert the model with 32-bit floats",
  BFLOAT16: "convert the model with FLOAT32 or FLOAT16 weights",
};

/** Name of a tensor in messages. */
export function describeTensor(tensor: TfliteTensor, index: number): string {
  return `tensor ${index} ${quote(tensor.name)} (${tensor.type}${listText(tensor.shape)})`;
}

/**
 * In place of the scale 0 of a channel, which the HAL does not have: the least float32 of full precision. Products with it are 0 in each type of
 * 8 and 16 bits, and less than floats can show beside other numbers.
 */
const SCALE_OF_ZEROS = 2 ** -126;

function perChannel(tensor: TfliteTensor, dimensions: readonly number[], place: Place): OperandSpec {
  const { scale, zeroPoint, quantizedDimension } = tensor.quantization ?? {
    scale: [],
    zeroPoint: [],
    quantizedDimension: 0,
  };
  ensure(
    typesByElement[tensor.type] === "TENSOR_QUANT8_ASYMM_SIGNED",
    place,
    () => `${tensor.type} has ${scale.length} scales; the HAL has a scale per channel for INT8 only`,
  );
  ensure(
    quantizedDimension >= 0 && dimensions[quantizedDimension] === scale.length,
    place,
    () => `${scale.length} scales do not match dimension ${quantizedDimension} of ${listText(dimensions)}`,
  );
  const shifted = zeroPoint.findIndex((value) => value !== 0);
  ensure(
    shifted < 0,
    place,
    () =>
      `with a scale per channel the HAL needs zero points of 0, that of channel ${shifted} is ${zeroPoint[shifted]}`,
  );
  const bad = scale.findIndex((value) => !(value >= 0 && Number.isFinite(value)));
  ensure(bad < 0, place, () => `expected a finite scale of channel ${bad} that is not below 0, got ${scale[bad]}`);
  return {
    type: "TENSOR_QUANT8_SYMM_PER_CHANNEL",
    dimensions,
    scale: 0,
    zeroPoint: 0,
    channelQuant: {
      scales: scale.includes(0) ? scale.map((value) => value || SCALE_OF_ZEROS) : scale,
      channelDim: quantizedDimension,
    },
  };
}

/** The operand for a tensor. */
export function operandSpecOf(
  tensor: TfliteTensor,
  dimensions: readonly number[],
  place: Place,
  dialect: Dialect,
): OperandSpec {
  const added = dialect.typeOf(tensor.type);
  // The bytes of a row are known for constants only.
  if (added !== undefined && tensor.type === "STRING") {
    return { type: added, dimensions: [...dimensions, 0], scale: 0, zeroPoint: 0 };
  }
  if (added !== undefined) return { type: added, dimensions, scale: 0, zeroPoint: 0 };
  const type = typesByElement[tensor.type];
  if (type === undefined) fail(place, `the HAL has no tensors of type ${tensor.type}`, typeHelp[tensor.type]);
  const { quantisation, ...row } = operandTypes[type];
  if (quantisation === "none") return { type, dimensions, scale: 0, zeroPoint: 0 };
  // Integers without quantisation represent themselves. The HAL requires a scale for all types except TENSOR_INT32.
  const unquantised = quantisation === "bias" ? 0 : 1;
  const { scale = [], zeroPoint = [] } = tensor.quantization ?? {};
  if (scale.length > 1 && quantisation !== "bias") return perChannel(tensor, dimensions, place);
  const [firstScale = 0] = scale;
  const { shiftedInt16 } = dialect;
  if (tensor.type === "INT16" && shiftedInt16 !== undefined && zeroPoint[0] && firstScale > 0) {
    return {
      type: shiftedInt16,
      dimensions,
      scale: 0,
      zeroPoint: 0,
      params: { scale: firstScale, zeroPoint: zeroPoint[0] },
    };
  }
  const operand = {
    type,
    dimensions,
    scale: scale.length === 1 && firstScale !== 0 ? firstScale : unquantised,
    zeroPoint: zeroPoint[0] ?? 0,
  };
  // A TENSOR_INT32 with a scale per channel is a bias; its operation knows the scales from the filter.
  ensure(
    operand.scale >= 0 && Number.isFinite(operand.scale),
    place,
    () => `the scale ${operand.scale} is not above 0`,
  );
  const [least, greatest] = "zeroPointRange" in row ? row.zeroPointRange : [0, 0];
  ensure(
    operand.zeroPoint >= least && operand.zeroPoint <= greatest,
    place,
    () => `the zero point ${operand.zeroPoint} of a ${type} is not within ${least} to ${greatest}`,
  );
  return operand;
}

/** Quantisation of elements; those of the extension's types have none. */
export function quantisationOf(type: AnyOperandType): (typeof operandTypes)[OperandTypeName]["quantisation"] {
  return isExtensionType(type) ? "none" : operandTypes[type].quantisation;
}

/** True if elements are integers with one scale and zero point. */
export function isQuantised(type: AnyOperandType): boolean {
  const quantisation = quantisationOf(type);
  return quantisation === "asymmetric" || quantisation === "symmetric";
}

/** True if elements are 8-bit integers with one scale and zero point, as the results of layers are. */
export function isQuant8(type: AnyOperandType): boolean {
  return type === "TENSOR_QUANT8_ASYMM" || type === "TENSOR_QUANT8_ASYMM_SIGNED";
}

/** True if an operand is a tensor, not a scalar or a subgraph. */
export function isTensorSpec({ type }: OperandSpec): boolean {
  return elementFactsOf(type).kind === "tensor";
}
