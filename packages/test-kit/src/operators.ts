/** Models of one operator of an extension, random elements for it, and the difference of two results: for engines that are held against its kernels. */
import {
  type AnyOperandType,
  type AnyTensorData,
  byteLength,
  dataConstructor,
  type ExtensionDefinition,
  elementCount,
  encodeTensorData,
  extensionCode,
  isExtensionType,
  numbersPerElement,
} from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime, OperandType, type SymmPerChannelQuantParams } from "@nnhal/types";
import { modelOf, operand, subgraphOf } from "./models.ts";

/** A tensor of a test. */
export interface Tensor {
  readonly type: AnyOperandType;
  readonly dimensions: readonly number[];
  readonly scale?: number;
  readonly zeroPoint?: number;
  readonly channelQuant?: SymmPerChannelQuantParams;
}

/** An operand of an operator: with a value, a constant. */
export interface Given extends Tensor {
  readonly value?: AnyTensorData;
  /** True if it is omitted. */
  readonly isOmitted?: boolean;
}

/** Tensors and scalars of the HAL's types. */
export const float = (...dimensions: number[]): Tensor => ({ type: "TENSOR_FLOAT32", dimensions });
export const int = (...dimensions: number[]): Tensor => ({ type: "TENSOR_INT32", dimensions });
export const short = (scale: number, ...dimensions: number[]): Tensor => ({
  type: "TENSOR_QUANT16_SYMM",
  dimensions,
  scale,
});
export const flags = (...dimensions: number[]): Tensor => ({ type: "TENSOR_BOOL8", dimensions });
export const byte = (scale: number, zeroPoint: number, ...dimensions: number[]): Tensor => ({
  type: "TENSOR_QUANT8_ASYMM_SIGNED",
  dimensions,
  scale,
  zeroPoint,
});
export const list = (...numbers: number[]): Given => ({ ...int(numbers.length), value: Int32Array.from(numbers) });
export const number = (value: number): Given => ({ type: "INT32", dimensions: [], value: Int32Array.of(value) });
export const real = (value: number): Given => ({ type: "FLOAT32", dimensions: [], value: Float32Array.of(value) });
export const flag = (value: boolean): Given => ({
  type: "BOOL",
  dimensions: [],
  value: Uint8Array.of(value ? 1 : 0),
});

const prefix = 1;

/** A model of one operator of an extension. Operands without values are its inputs. */
export function operatorModel(
  extension: ExtensionDefinition,
  name: string,
  inputs: readonly Given[],
  outputs: readonly Tensor[],
): Model {
  const definition = extension.operations.find((each) => each.name === name);
  if (definition === undefined) throw new RangeError(`the extension has no operation ${name}`);
  const values: number[] = [];
  const { CONSTANT_COPY, NO_VALUE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;
  const operandOf = (tensor: Tensor, lifetime: Operand["lifetime"]): Operand =>
    operand({
      type: isExtensionType(tensor.type) ? extensionCode(prefix, tensor.type.code) : OperandType[tensor.type],
      dimensions: tensor.dimensions,
      scale: tensor.scale ?? 0,
      zeroPoint: tensor.zeroPoint ?? 0,
      lifetime,
      ...(tensor.channelQuant && { extraParams: { kind: "channelQuant", channelQuant: tensor.channelQuant } }),
    });
  const operands = inputs.map((input) => {
    const { value, type, dimensions } = input;
    if (input.isOmitted) return operandOf(input, NO_VALUE);
    if (value === undefined) return operandOf(input, SUBGRAPH_INPUT);
    const bytes = new Uint8Array(byteLength(type, elementCount(dimensions)));
    encodeTensorData(type, value, bytes);
    // Elements of 64 bits lie at multiples of 8 bytes.
    while (values.length % 8 > 0) values.push(0);
    const location = { poolIndex: 0, offset: values.length, length: bytes.length };
    values.push(...bytes);
    return { ...operandOf(input, CONSTANT_COPY), location };
  });
  const results = outputs.map((output) => operandOf(output, SUBGRAPH_OUTPUT));
  const operation = {
    type: extensionCode(prefix, definition.code),
    inputs: [...operands.keys()],
    outputs: [...results.keys()].map((place) => operands.length + place),
  };
  return modelOf(subgraphOf([...operands, ...results], [operation]), {
    operandValues: Uint8Array.from(values),
    extensionNameToPrefix: [{ name: extension.name, prefix }],
  });
}

/** Numbers of a fixed sequence within [0, 1). */
export function createNumbers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Elements with few different values among them, so that some are equal. */
export function elementsOf({ type, dimensions }: Tensor, next: () => number): AnyTensorData {
  const count = elementCount(dimensions) * numbersPerElement(type);
  const data = new (dataConstructor(type))(count) as AnyTensorData;
  if (data instanceof BigInt64Array) {
    return data.map(() => {
      const small = BigInt(Math.floor(next() * 7) - 3);
      return next() < 0.5 ? small : BigInt.asIntN(64, small * 0x3fff_ffff_ffff_fff7n);
    });
  }
  const draw = (): number => {
    if (type === "TENSOR_BOOL8") return next() < 0.5 ? 0 : 1;
    if (type === "TENSOR_INT32") return Math.floor(next() * 2 ** 32) - 2 ** 31;
    if (data instanceof Int16Array) return Math.floor(next() * 65536) - 32768;
    if (data instanceof Int8Array) return Math.floor(next() * 256) - 128;
    if (data instanceof Uint8Array) return Math.floor(next() * 256);
    return Math.round(next() * 64 - 32) / 8;
  };
  for (let place = 0; place < count; place++) data[place] = draw();
  return data;
}

/** The greatest difference of two lists; integers of 64 bits must be equal. */
export function difference(one: readonly (number | bigint)[], other: readonly (number | bigint)[]): number {
  let most = one.length === other.length ? 0 : Number.POSITIVE_INFINITY;
  for (const [place, element] of one.entries()) {
    const right = other[place];
    if (typeof element === "bigint" || typeof right === "bigint") {
      if (element !== right) return Number.POSITIVE_INFINITY;
    } else if (!Object.is(element, right)) most = Math.max(most, Math.abs(element - (right ?? Number.NaN)));
  }
  return most;
}
