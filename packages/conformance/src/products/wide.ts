/**
 * Sums of so many products that they pass 2^24 on their way, up to which float32 has all whole numbers, and end at a few units:
 * digits that are lost on the way show in the result.
 */
import { elementAt, elementCount, integerRange } from "@nnhal/operations";
import type { Random } from "../random/random.ts";
import type { Signature } from "../random/signature.ts";
import { type Layer, oneWindow, typesOfSum } from "./layer.ts";

/**
 * The ways in which sums end at a few units. `cancelling`: each product has its opposite in the other half of the window.
 * `against`: all are at one limit, and the bias has the opposite of their sum.
 */
export const wideKinds = ["cancelling", "against"] as const;
export type WideKind = (typeof wideKinds)[number];

const OUTPUTS = 4;

/** A weighted sum of `products`, an even number, for each of four outputs, at four places or at one. */
export function wideLayer(signature: Signature, products: number, kind: WideKind, random: Random): Layer {
  const { name } = signature.operation;
  const [inputType, filterType] = typesOfSum(signature);
  const [values, weights] = [integerRange(inputType), integerRange(filterType)];
  const isPerChannel = filterType === "TENSOR_QUANT8_SYMM_PER_CHANNEL";
  const made =
    kind === "cancelling"
      ? makeCancelling(products, values, weights, isPerChannel, random)
      : against(products, values, weights, isPerChannel);
  const { rows, filters, bias, zeroPoints } = made;
  const isDepthwise = name === "DEPTHWISE_CONV_2D";
  const groups = name === "GROUPED_CONV_2D" ? 2 : 1;
  const columns = isDepthwise ? evenDivisor(products) : 1;
  const cells = [products / columns, columns];
  const image =
    name === "FULLY_CONNECTED"
      ? [rows.length, products]
      : isDepthwise
        ? [rows.length, ...cells, filters.length]
        : [rows.length, 1, 1, groups * products];
  const filter =
    name === "FULLY_CONNECTED"
      ? [filters.length, products]
      : isDepthwise
        ? [1, ...cells, filters.length]
        : [filters.length, 1, 1, products];
  const repeated = rows.flatMap((row) =>
    isDepthwise ? row.flatMap((value) => filters.map(() => value)) : Array.from({ length: groups }, () => row).flat(),
  );
  const elements = isDepthwise
    ? Array.from({ length: elementCount(filter) }, (_, place) =>
        elementAt(elementAt(filters, place % filters.length), Math.floor(place / filters.length)),
      )
    : filters.flat();
  return {
    signature,
    input: { dimensions: image, zeroPoint: zeroPoints[0], elements: repeated },
    filter: { dimensions: filter, zeroPoint: zeroPoints[1], elements },
    bias,
    scalars: oneWindow(groups),
  };
}

/** The greatest divisor up to 64. */
function evenDivisor(count: number): number {
  for (let divisor = 64; divisor > 1; divisor--) if (count % divisor === 0) return divisor;
  return 1;
}

/** The operands of a layer, as rows of the input and as filters. */
interface Made {
  readonly rows: readonly (readonly number[])[];
  readonly filters: readonly (readonly number[])[];
  readonly bias: readonly number[];
  readonly zeroPoints: readonly [ofInput: number, ofWeights: number];
}

type Range = readonly [least: number, greatest: number];

/** In the second half the elements are the same, except the last, and the weights are the opposite. */
function makeCancelling(products: number, values: Range, weights: Range, isPerChannel: boolean, random: Random): Made {
  const half = products / 2;
  const [least, greatest] = values;
  const zero = isPerChannel ? 0 : Math.ceil((weights[0] + weights[1]) / 2);
  const most = weights[1] - zero;
  const inHalf = (of: () => number) => Array.from({ length: half }, of);
  const ofRows = [() => greatest, () => least, () => random.pick(values), () => random.integer(least, greatest)];
  const rows = ofRows.map((of, row) => {
    const first = inHalf(of);
    const last = elementAt(first, half - 1);
    const more = 5 * (row + 1);
    return [...first, ...first.slice(0, -1), last + more > greatest ? last - more : last + more];
  });
  const ofFilters = [
    () => most,
    () => random.pick([most, most - 1]),
    () => random.pick([most, -most]),
    () => random.integer(-most, most),
  ];
  const filters = ofFilters.map((of, filter) => {
    const first = [...inHalf(of).slice(0, -1), filter + 1];
    return [...first, ...first.map((weight) => -weight)].map((weight) => zero + weight);
  });
  return { rows, filters, bias: filters.map(() => 0), zeroPoints: [random.pick(values), zero] };
}

/** Makes one row of the greatest elements, and weights at both limits; only the last weight differs between filters. */
function against(products: number, values: Range, weights: Range, isPerChannel: boolean): Made {
  const [[least, greatest], [lowest, highest]] = [values, weights];
  const zeroPoints = [least, isPerChannel ? 0 : lowest] as const;
  const row = new Array<number>(products).fill(greatest);
  const filters = Array.from({ length: OUTPUTS }, (_, filter) => {
    const limit = isPerChannel && filter % 2 === 1 ? lowest : highest;
    const last = limit === highest ? limit - filter : limit + filter;
    return [...new Array<number>(products - 1).fill(limit), last];
  });
  const bias = filters.map((filter, place) => {
    const sum = filter.reduce((total, weight) => total + (weight - zeroPoints[1]) * (greatest - least), 0);
    return 20 * (place + 1) - 1 - sum;
  });
  return { rows: [row], filters, bias, zeroPoints };
}
