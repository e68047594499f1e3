/**
 * Random elements and quantisation for every operand type. Most are harmless; some are the extremes that kernels tend to
 * forget.
 */
import {
  createData,
  elementCount,
  integerRange,
  isFloat,
  roundAllToFloat16,
  type Tensor,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { type OperandTypeName, operandTypes } from "@nnhal/types";
import type { Random } from "./random.ts";
import type { WantedTensor } from "./wanted.ts";

/** Most elements of one operand. */
const MOST_ELEMENTS = 1 << 12;

const scales = [1 / 256, 1 / 128, 0.1, 0.5, 1, 3];

/** A scale that models use. */
export function randomScale(random: Random): number {
  return Math.fround(random.pick(scales));
}

/** Numbers that a float operand may hold, but hardly ever does. All are exact in float16. */
const strangeFloats = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, 65504, -65504, 2 ** -24];

/** Returns the quantisation of an operand of a type: the wanted one, else random within the HAL's limits. */
export function quantisationOf(
  type: OperandTypeName,
  { dimensions, scale, zeroPoint, channelDim = 0 }: WantedTensor,
  random: Random,
): Pick<TensorInfo, "scale" | "zeroPoint" | "channelQuant"> {
  const { quantisation, zeroPointRange }: { quantisation: string; zeroPointRange?: readonly [number, number] } =
    operandTypes[type];
  switch (quantisation) {
    case "asymmetric": {
      const [least, greatest] = zeroPointRange ?? [0, 0];
      // 16-bit boxes, sizes and anchors have one fixed quantisation, and nothing else has that type.
      const isBox = type === "TENSOR_QUANT16_ASYMM";
      return {
        scale: Math.fround(scale ?? (isBox ? 0.125 : randomScale(random))),
        zeroPoint: zeroPoint ?? (isBox ? 0 : random.integer(least, greatest)),
      };
    }
    case "symmetric":
      return { scale: Math.fround(scale ?? randomScale(random)), zeroPoint: 0 };
    case "perChannel": {
      const channels = Math.min(dimensions[channelDim] ?? 0, MOST_ELEMENTS);
      const channelQuant = { scales: Array.from({ length: channels }, () => randomScale(random)), channelDim };
      return { scale: 0, zeroPoint: 0, channelQuant };
    }
    case "bias":
      return { scale: Math.fround(scale ?? 0), zeroPoint: 0 };
    default:
      return { scale: 0, zeroPoint: 0 };
  }
}

/**
 * The kinds of a tensor's content. `plain`: harmless numbers, which float32 sums without an error. `fine`: numbers whose
 * products and sums must be rounded. `unusual`: harmless floats with a few that are NaN, infinite, -0 or extreme. `extreme`:
 * the same without NaN and infinities; of integers, the least and greatest with others between. `mixed`: mostly harmless.
 */
export const fills = ["mixed", "plain", "fine", "unusual", "extreme"] as const;
export type Fill = (typeof fills)[number];

/** A tensor as it is wanted, with one more extent of 0 if it would be too large to hold. */
export function drawTensor(type: OperandTypeName, wanted: WantedTensor, random: Random, fill: Fill = "mixed"): Tensor {
  const isLarge = elementCount(wanted.dimensions) > MOST_ELEMENTS;
  const dimensions = isLarge ? [...wanted.dimensions.slice(0, -1), 0] : wanted.dimensions;
  const info = { type, dimensions, ...quantisationOf(type, { ...wanted, dimensions }, random) };
  const data = createData(type, elementCount(dimensions));
  const { values, reals } = wanted;
  if (values !== undefined) data.set(values.slice(0, data.length));
  else if (reals !== undefined) data.set(storeReals(info, reals).slice(0, data.length));
  else fillRandomly(type, data, random, isBias(type, wanted) && fill === "extreme" ? "plain" : fill);
  return { ...info, data: representable(type, data) };
}

/** Returns true if a tensor has the scale of a sum's terms: the result of a sum beyond 32 bits is not fixed. */
function isBias(type: OperandTypeName, { scale }: WantedTensor): boolean {
  return type === "TENSOR_INT32" && scale !== undefined;
}

function storeReals({ type, scale, zeroPoint }: TensorInfo, reals: readonly number[]): readonly number[] {
  if (isFloat(type) || scale === 0) return reals;
  const [least, greatest] = integerRange(type);
  return reals.map((real) => Math.min(greatest, Math.max(least, Math.round(real / scale) + zeroPoint)));
}

function fillRandomly(type: OperandTypeName, data: TensorData, random: Random, fill: Fill): void {
  const isStrange = fill === "mixed" ? random.chance(0.1) : fill === "unusual" || fill === "extreme";
  const strange = fill === "extreme" ? strangeFloats.filter(Number.isFinite) : strangeFloats;
  const plain = fill === "fine" ? () => 8 * random.next() - 4 : () => random.integer(-64, 64) / 16;
  const draw = isFloat(type)
    ? () => (isStrange && random.chance(0.3) ? random.pick(strange) : plain())
    : integersOf(type, isStrange, random);
  for (let index = 0; index < data.length; index++) data[index] = draw();
}

function integersOf(type: OperandTypeName, isStrange: boolean, random: Random): () => number {
  const [least, greatest] = integerRange(type);
  const isWide = type === "TENSOR_INT32" || type === "INT32" || type === "UINT32";
  if (isWide && !isStrange) return () => Math.max(least, random.integer(-8, 8));
  return () => (isStrange && random.chance(0.5) ? random.pick([least, greatest]) : random.integer(least, greatest));
}

/** A scalar operand. */
export function scalarTensor(type: OperandTypeName, value: number | boolean): Tensor {
  const data = createData(type, 1);
  data[0] = Number(value);
  return { type, dimensions: [], scale: 0, zeroPoint: 0, data: representable(type, data) };
}

/** Rounds float16 elements, which are held as float32. */
function representable(type: OperandTypeName, data: TensorData): TensorData {
  const isHalf = type === "TENSOR_FLOAT16" || type === "FLOAT16";
  if (isHalf && data instanceof Float32Array) roundAllToFloat16(data);
  return data;
}
