/**
 * Sums of 8-bit products for engines that compute in float32, which represents integers exactly only up to 2^24. If a partial
 * sum can exceed that, an engine divides its weights into digits, or carries the excess into a second number.
 */
import {
  elementCount,
  ensure,
  integerRange,
  type OperandInfo,
  OperationError,
  type TensorInfo,
} from "@nnhal/operations";

/** The greatest finite number of float32. */
export const GREATEST_FLOAT = 3.4028234663852886e38;

/** The greatest number up to which float32 has all whole numbers. */
export const MOST_WHOLE = 2 ** 24;

/** The most elements of 8 bits whose sum is exact in float32. */
const MOST_SUMMED = Math.floor(MOST_WHOLE / 255);

/** Why the mean of so many elements of 8 bits is not available; undefined if it is, or if the number is not known. */
export function whyTooManySummed(count: number): string | undefined {
  return count > MOST_SUMMED
    ? `a mean of ${count} elements of 8 bits is not available, only of at most ${MOST_SUMMED}: float32 has no sum of more exactly`
    : undefined;
}

/** `whyTooManySummed` of the elements along axes, as far as extents and axes are known. */
export function whyTooManyAlong({ dimensions }: TensorInfo, { data }: OperandInfo): string | undefined {
  const places = Array.from(data ?? [], (axis) => Number(axis < 0 ? axis + dimensions.length : axis));
  return whyTooManySummed(elementCount([...new Set(places)].map((place) => dimensions[place] ?? 1)));
}

/** The operands of sums of products: each sum is a bias and products of elements of the input and the weights, less their zero points. */
export interface ProductOperands {
  readonly input: TensorInfo;
  readonly weights: OperandInfo;
  /** The axis of the weights along which each coordinate has a separate sum. */
  readonly axis: number;
}

/**
 * Returns the greatest magnitude that partial sums of the products can reach in any order. It follows from the weights if they are
 * constant, else from their type.
 */
export function greatestSum(operands: ProductOperands): number {
  const most = mostAtLimits(operands);
  return most <= MOST_WHOLE ? most : greatestOf(boundsOf(operands));
}

/** The unit of the high part of a bias. */
export const BIAS_UNIT = 4096;

/** Parts of sums of products. Each part is exact in float32. */
export interface SumParts {
  /** The digits of the weights less their zero points, the lowest first; undefined if they are not divided. */
  readonly digits: WeightDigits | undefined;
  /**
   * True if the bias is split in two: a multiple of `BIAS_UNIT`, which is added at the end, and the rest. Real networks
   * have such a bias where a channel has tiny weights.
   */
  readonly dividesBias: boolean;
}

/** Weights as digits. A sum is that of the places, each times the base to the power of its number. */
export interface WeightDigits {
  /** A power of 2. */
  readonly base: number;
  readonly places: number;
  /** Digits by place, in the order of the weights; undefined if these are not constant. */
  readonly constants: readonly Float32Array[] | undefined;
}

/** The fewest digits first. A digit is at most half of the base, except the last, which has the rest. */
const forms = [
  { base: 16, places: 2 },
  { base: 8, places: 3 },
  { base: 4, places: 5 },
  { base: 2, places: 9 },
] as const;

/**
 * Divides sums so that all parts are exact; undefined if they are exact undivided. Throws an OperationError if there
 * are so many products that no digits suffice.
 */
export function divideSums(operands: ProductOperands, bias: OperandInfo): SumParts | undefined {
  if (isWithinLimits(operands, bias)) return undefined;
  const bounds = boundsOf(operands);
  const dividesBias = isBeyond(bounds, bias);
  if (!dividesBias) return undefined;
  if (greatestOf(bounds) + BIAS_UNIT <= MOST_WHOLE) return { digits: undefined, dividesBias };
  const { data, zeroPoint } = operands.weights;
  const weights = data && Float64Array.from(data, (weight) => weight - zeroPoint);
  for (const { base, places } of forms) {
    const constants = weights && digitsByPlace(weights, base, places);
    const sums =
      constants?.map((digits) => greatestOf(boundsOf(operands, digits, 0))) ?? mostByPlace(operands, base, places);
    if (isExact(sums, base)) return { digits: { base, places, constants }, dividesBias };
  }
  const count = productCount(operands);
  ensure(false, () => `sums of ${count} products of 8 bits are beyond the whole numbers of float32`);
}

/** Why sums cannot be divided; undefined if they can. */
export function whyIndivisible(operands: ProductOperands, bias: OperandInfo): string | undefined {
  const last = forms[3];
  if (isExact(mostByPlace(operands, last.base, last.places), last.base)) return undefined;
  try {
    divideSums(operands, bias);
    return undefined;
  } catch (error) {
    if (error instanceof OperationError) return error.message;
    throw error;
  }
}

/**
 * Returns whether a bias must be divided, because sums that begin with it can exceed 2^24. Always true for a bias that
 * is not constant.
 */
export function needsDivision(operands: ProductOperands, bias: OperandInfo): boolean {
  return !isWithinLimits(operands, bias) && isBeyond(boundsOf(operands), bias);
}

/** Returns whether no sum of these types can exceed 2^24. */
function isWithinLimits(operands: ProductOperands, { data }: OperandInfo): boolean {
  const most = mostAtLimits(operands);
  return data?.every((start: number) => Math.abs(start) + most <= MOST_WHOLE) ?? false;
}

function isBeyond({ positive, negative }: Bounds, { data }: OperandInfo): boolean {
  if (data === undefined) return true;
  return positive.some((above, sum) => {
    const [start, below] = [data[sum] ?? 0, negative[sum] ?? 0];
    return Math.max(above + Math.max(0, start), below - Math.min(0, start)) > MOST_WHOLE;
  });
}

/** The two parts of a constant bias: see `SumParts.dividesBias`. */
export function divideBias(data: ArrayLike<number>): { readonly high: Float32Array; readonly low: Float32Array } {
  const high = Float32Array.from(data, (each) => Math.round(each / BIAS_UNIT) * BIAS_UNIT);
  return { high, low: Float32Array.from(data, (each, place) => each - (high[place] ?? 0)) };
}

function digitsByPlace(values: Float64Array, base: number, places: number): Float32Array[] {
  let others = values;
  return Array.from({ length: places }, (_, place) => {
    const whole = others;
    if (place === places - 1) return Float32Array.from(whole);
    others = whole.map((value) => Math.round(value / base));
    return Float32Array.from(whole, (value, at) => value - base * (others[at] ?? 0));
  });
}

/** The greatest sums of each place, from the types alone. */
function mostByPlace(operands: ProductOperands, base: number, places: number): number[] {
  const products = productCount(operands) * mostOf(operands.input);
  const last = Math.ceil(mostOf(operands.weights) / base ** (places - 1));
  return Array.from({ length: places }, (_, place) => products * (place === places - 1 ? last : base / 2));
}

/**
 * Returns whether the sums of each digit are exact, together with the low part of the bias or with the carry of the
 * digit below.
 */
function isExact(most: readonly number[], base: number): boolean {
  let carried: number = BIAS_UNIT;
  return most.every((own) => {
    const whole = own + carried;
    carried = whole / base + 1;
    return whole <= MOST_WHOLE;
  });
}

/** The greatest magnitudes of each sum above and below 0, on the way and at the end. */
interface Bounds {
  readonly positive: Float64Array;
  readonly negative: Float64Array;
}

function greatestOf({ positive, negative }: Bounds): number {
  const most = (all: Float64Array) => all.reduce((greatest, each) => Math.max(greatest, each), 0);
  return Math.max(most(positive), most(negative));
}

/** The bounds of sums of these weights, which have the shape of the operands'. */
function boundsOf(
  operands: ProductOperands,
  weights: ArrayLike<number> | undefined = operands.weights.data,
  zeroPoint = operands.weights.zeroPoint,
): Bounds {
  const { dimensions } = operands.weights;
  const sums = dimensions[operands.axis] ?? 1;
  if (weights === undefined) {
    const all = new Float64Array(sums).fill(mostAtLimits(operands));
    return { positive: all, negative: all };
  }
  const inner = elementCount(dimensions.slice(operands.axis + 1));
  const [above, below] = [new Float64Array(sums), new Float64Array(sums)];
  for (let first = 0; first < weights.length; first += inner) {
    const sum = (first / inner) % sums;
    let [up, down] = [0, 0];
    for (let place = first; place < first + inner; place++) {
      const weight = (weights[place] ?? 0) - zeroPoint;
      if (weight > 0) up += weight;
      else down -= weight;
    }
    above[sum] = (above[sum] ?? 0) + up;
    below[sum] = (below[sum] ?? 0) + down;
  }
  const [least, greatest] = limitsOf(operands.input);
  return {
    positive: above.map((up, sum) => up * greatest - (below[sum] ?? 0) * least),
    negative: above.map((up, sum) => (below[sum] ?? 0) * greatest - up * least),
  };
}

/** The greatest magnitude of a sum of products from the types alone. */
function mostAtLimits(operands: ProductOperands): number {
  return productCount(operands) * mostOf(operands.input) * mostOf(operands.weights);
}

/** The least and the greatest element of a type less the zero point, which is between them. */
function limitsOf({ type, zeroPoint }: TensorInfo): readonly [least: number, greatest: number] {
  const [least, greatest] = integerRange(type);
  return [least - zeroPoint, greatest - zeroPoint];
}

/** The greatest magnitude of an element less the zero point. */
function mostOf(tensor: TensorInfo): number {
  const [least, greatest] = limitsOf(tensor);
  return Math.max(-least, greatest);
}

/** The number of products of a sum. */
function productCount({ weights: { dimensions }, axis }: ProductOperands): number {
  return elementCount(dimensions.filter((_, place) => place !== axis));
}
