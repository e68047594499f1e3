/** @nnhal/diff/noise: inputs of seeded noise, the same on every machine. */
import {
  type AnyOperandType,
  type AnyTensorData,
  byteLength,
  createData,
  elementCount,
  encodeTensorData,
  isExtensionType,
} from "@nnhal/operations";
import { operandTypes } from "@nnhal/types";

/** Whole numbers in an input of INT32 are often indexes: small ones have a chance to be within bounds. */
const INDEXES = 10;

/** A tensor that gets noise. */
export interface NoisyTensor {
  readonly type: AnyOperandType;
  readonly shape: readonly number[];
}

/**
 * Noise for an input at a place among the user's inputs: the generator mulberry32 with the seed 1000 * seed + place,
 * one number u in [0, 1) an element. Float: 2u - 1. Quantised: any element of the type, equally likely. INT32: 0 to 9.
 * BOOL8: false below 1/2. Types of extensions: as FLOAT or INT32.
 */
export function randomTensor({ type, shape }: NoisyTensor, seed: number, place: number): Uint8Array {
  const random = mulberry32(1000 * seed + place);
  const elementOf = elementFunction(type);
  const count = elementCount(shape);
  const data = createData(type, count) as AnyTensorData;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    for (let index = 0; index < data.length; index++) data[index] = BigInt(elementOf(random()));
  } else for (let index = 0; index < data.length; index++) data[index] = elementOf(random());
  const bytes = new Uint8Array(byteLength(type, count));
  encodeTensorData(type, data, bytes);
  return bytes;
}

/** The generator mulberry32: uniform in [0, 1), in steps of 2^-32. */
export function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function elementFunction(type: AnyOperandType): (u: number) => number {
  if (type === "TENSOR_FLOAT32" || type === "TENSOR_FLOAT16") return (u) => u * 2 - 1;
  if (type === "TENSOR_BOOL8") return (u) => (u < 0.5 ? 0 : 1);
  if (type === "TENSOR_INT32") return (u) => Math.floor(u * INDEXES);
  if (isExtensionType(type))
    return type.array.name.startsWith("Float") ? (u) => u * 2 - 1 : (u) => Math.floor(u * INDEXES);
  const values = 2 ** (8 * operandTypes[type].elementSize);
  const least = type === "TENSOR_QUANT8_ASYMM" || type === "TENSOR_QUANT16_ASYMM" ? 0 : -values / 2;
  return (u) => Math.floor(u * values) + least;
}
