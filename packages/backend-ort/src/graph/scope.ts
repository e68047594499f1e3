/**
 * The lowerings' view of the graph: tensors of the HAL as values of ONNX. The HAL stores images as NHWC, and the
 * convolutions and pools of ONNX want NCHW. A tensor is held in the order in which it was computed, and in the other
 * one only if an operation reads that, so transpositions stay at the edges of a network.
 */
import type { KernelTensor } from "@nnhal/backend";
import { type AnyOperandType, elementAt, isExtensionType, type TensorInfo } from "@nnhal/operations";
import type { Forms } from "../forms.ts";
import type { Elements, ElementType } from "../onnx/types.ts";
import { type Builder, type Result, transpose, type Value } from "./builder.ts";

/** The result of a lowering: the value in the order of the HAL, or an image whose order in the HAL is NHWC as NCHW. */
export type Lowered = Value | { readonly image: Value };

/** The values of the tensors of a subgraph. */
export interface Scope {
  readonly builder: Builder;
  readonly forms: Forms;
  /** The value of a tensor in the order of the HAL. */
  read(tensor: KernelTensor): Value;
  /** The image in a tensor of rank 4 as NCHW; `nchw` is the layout operand of the HAL. */
  image(tensor: KernelTensor, nchw: boolean): Value;
  /** Returns whether a tensor has the order NHWC in the HAL, and is held as NCHW only. */
  isImage(tensor: KernelTensor): boolean;
  /** Sets the value of an operand. */
  define(index: number, lowered: Lowered): void;
}

/** Thrown by a lowering for an operation that ONNX cannot express. The message is the reason. */
export class Refusal extends Error {}

/** Refuses an operation. */
export function refuse(reason: string): never {
  throw new Refusal(reason);
}

const channelsFirst = [0, 3, 1, 2];
const channelsLast = [0, 2, 3, 1];

/** Creates the scope of a subgraph. */
export function createScope(building: Builder, forms: Forms): Scope {
  const builder = addRefusals(building, forms);
  const held = new Map<number, { hal?: Value; image?: Value }>();
  const entryOf = (tensor: KernelTensor) => {
    let entry = held.get(tensor.index);
    if (entry === undefined) {
      entry = { hal: constantOf(builder, tensor) };
      held.set(tensor.index, entry);
    }
    return entry;
  };
  const read = (tensor: KernelTensor): Value => {
    const entry = entryOf(tensor);
    if (entry.hal === undefined) {
      if (entry.image === undefined) throw new Error(`operand ${tensor.index} has no value`);
      entry.hal = transpose(builder, entry.image, channelsLast);
    }
    return entry.hal;
  };
  return {
    builder,
    forms,
    read,
    image(tensor, nchw) {
      if (nchw) return read(tensor);
      const entry = entryOf(tensor);
      entry.image ??= transpose(builder, read(tensor), channelsFirst);
      return entry.image;
    },
    isImage: (tensor) => held.get(tensor.index)?.image !== undefined && held.get(tensor.index)?.hal === undefined,
    define: (index, lowered) => held.set(index, "image" in lowered ? { image: lowered.image } : { hal: lowered }),
  };
}

/** A builder that refuses operators which are wrong on this processor. */
function addRefusals(builder: Builder, { refusalOf }: Forms): Builder {
  const nodes: Builder["nodes"] = (operator, ...more) => {
    const reason = refusalOf(operator);
    return reason === undefined ? builder.nodes(operator, ...more) : refuse(reason);
  };
  return {
    ...builder,
    nodes,
    node: (operator, from, result, options) => elementAt(nodes(operator, from, [result], options), 0),
  };
}

/** An image as the result of a lowering. */
export function asLowered(image: Value, nchw: boolean): Lowered {
  return nchw ? image : { image };
}

/**
 * The element type of a tensor's value. float16 is computed in float32. TENSOR_QUANT8_ASYMM_SIGNED is held as unsigned, with 128 added,
 * because the fast kernels take unsigned activations.
 */
export function valueType(type: AnyOperandType): ElementType {
  const known = isExtensionType(type) ? extensionTypes[`${type.extension} ${type.name}`] : valueTypes[type];
  return known ?? refuse(`${isExtensionType(type) ? type.name : type} is not available`);
}

/** The type and the extents of a tensor's value. A complex number is two floats along the last axis. */
export function resultOf(type: AnyOperandType, dimensions: readonly number[]): Result {
  const isPair = isExtensionType(type) && type.name === "TENSOR_COMPLEX64";
  return { type: valueType(type), dims: isPair ? [...dimensions, 2] : dimensions };
}

/** Types of the extension of .tflite, with its name. */
const extensionTypes: { readonly [type: string]: ElementType | undefined } = {
  "nnhal.tflite TENSOR_INT64": "int64",
  "nnhal.tflite TENSOR_UINT32": "uint32",
  "nnhal.tflite TENSOR_COMPLEX64": "float32",
};

const valueTypes: { readonly [type: string]: ElementType | undefined } = {
  FLOAT32: "float32",
  FLOAT16: "float32",
  TENSOR_FLOAT32: "float32",
  TENSOR_FLOAT16: "float32",
  INT32: "int32",
  TENSOR_INT32: "int32",
  UINT32: "uint32",
  BOOL: "bool",
  TENSOR_BOOL8: "bool",
  TENSOR_QUANT8_ASYMM: "uint8",
  TENSOR_QUANT8_ASYMM_SIGNED: "uint8",
  TENSOR_QUANT8_SYMM: "int8",
  TENSOR_QUANT8_SYMM_PER_CHANNEL: "int8",
  TENSOR_QUANT16_SYMM: "int16",
  TENSOR_QUANT16_ASYMM: "uint16",
};

/** Returns whether the elements of a tensor are held with 128 added. */
export function isShifted(type: AnyOperandType): boolean {
  return type === "TENSOR_QUANT8_ASYMM_SIGNED";
}

/** The zero point of a tensor's value. */
export function zeroPointOf({ type, zeroPoint }: TensorInfo): number {
  return isShifted(type) ? zeroPoint + 128 : zeroPoint;
}

function constantOf(builder: Builder, tensor: KernelTensor): Value {
  const { type, dimensions, data, index } = tensor;
  if (data === undefined) throw new Error(`operand ${index} has no value`);
  const { type: held, dims } = resultOf(type, dimensions);
  return builder.constant(held, dims, () => elementsOf(data, type));
}

/** The elements of a value from those of a tensor. */
function elementsOf(data: NonNullable<KernelTensor["data"]>, type: AnyOperandType): Elements {
  if (isShifted(type)) return Uint8Array.from(data, (element) => element + 128);
  if (type === "BOOL" || type === "TENSOR_BOOL8") return Uint8Array.from(data, (element) => (element === 0 ? 0 : 1));
  if (data instanceof Float64Array) return new Float32Array(data);
  return data;
}
