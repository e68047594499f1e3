/**
 * Sums of products at their limits: all channels at the least or the greatest number, and two neighbours alone at every place, so that
 * intermediate sums of 16 bits saturate wherever an engine has them; and so many products that sums in float32 lose digits. The suite
 * arithmetic has them as edge cases.
 */
import { elementAt, integerRange, type Operation } from "@nnhal/operations";
import type { RandomOperation } from "../random/draw.ts";
import { createRandom } from "../random/random.ts";
import { type Signature, signaturesOf } from "../random/signature.ts";
import { weightedSums } from "./exact.ts";
import { isOf8Bits, type Layer, oneWindow, operationOfLayer, typesOfSum } from "./layer.ts";
import { type WideKind, wideKinds, wideLayer } from "./wide.ts";

/** A case at the limits: the part of its name after the operation's, such as `2.16.3.pairs`. */
export interface LimitCase {
  readonly name: string;
  readonly signature: Signature;
  draw(): RandomOperation;
}

/** Numbers of channels that all types have, with a window of one cell and one of nine. */
const everywhere = [2, 16, 64] as const;
/** Of the others each type has one in so many, in turn, so that the types of an operation together have many, and all have all. */
const share = 8;
const mostChannels = 64;
/** The most channels of a window of nine cells. */
const mostInWindow = 32;

/** Numbers of products beyond which sums lose digits in float32. */
const wide = [2048, 8192] as const;

/** The kinds of weights. `pairs` alone makes the sums of two products large compared with the range of the output. */
const kinds = ["all", "pairs", "both"] as const;

/** The cases of an operation: none if it is not a weighted sum of 8 bits. */
export function* limitCases(operation: Operation): Generator<LimitCase> {
  const rank = weightedSums.map(String).indexOf(operation.name);
  if (rank < 0) return;
  const seen = new Set<string>();
  for (const [place, signature] of signaturesOf(operation).entries()) {
    const types = typesOfSum(signature);
    if (!isOf8Bits(signature) || seen.has(String(types))) continue;
    seen.add(String(types));
    for (const products of wide) for (const kind of wideKinds) yield wideCase(signature, place, products, kind);
    if (operation.name === "TRANSPOSE_CONV_2D") continue;
    const turn = 4 * rank + seen.size;
    for (let channels = 1; channels <= mostChannels; channels++) {
      const isEverywhere = everywhere.some((count) => count === channels);
      if (!isEverywhere && (channels + turn) % share !== 0) continue;
      const isLarge = operation.name === "FULLY_CONNECTED" || channels > mostInWindow;
      const windows = isLarge ? [1] : isEverywhere ? [1, 3] : [channels % 2 === 0 ? 3 : 1];
      // With one scale for all filters, sums of pairs would vanish compared with those of all channels.
      const own = types[1] === "TENSOR_QUANT8_SYMM_PER_CHANNEL" ? (["both"] as const) : (["all", "pairs"] as const);
      for (const window of windows) {
        for (const kind of own) yield caseOf(signature, place, channels, window, kind);
      }
    }
  }
}

function wideCase(signature: Signature, place: number, products: number, kind: WideKind): LimitCase {
  const random = () => createRandom(products * 0x101 + place * 0x1_0003 + kind.length);
  return {
    name: `${place}.${products}.${kind}`,
    signature,
    draw: () => operationOfLayer(wideLayer(signature, products, kind, random()), random()),
  };
}

function caseOf(
  signature: Signature,
  place: number,
  channels: number,
  window: number,
  kind: (typeof kinds)[number],
): LimitCase {
  const random = () => createRandom(channels * 0x101 + place * 0x1_0003 + window);
  return {
    name: `${place}.${channels}.${window}.${kind}`,
    signature,
    draw: () => operationOfLayer(layerOf(signature, channels, window, kind), random()),
  };
}

function layerOf(signature: Signature, channels: number, window: number, kind: (typeof kinds)[number]): Layer {
  const { name } = signature.operation;
  const [inputType, filterType] = typesOfSum(signature);
  const isPerChannel = filterType === "TENSOR_QUANT8_SYMM_PER_CHANNEL";
  const [values, weights] = [integerRange(inputType), integerRange(filterType)];
  const zeroPoint = zeroPointIn(values, channels);
  const weightsZero = isPerChannel ? 0 : zeroPointIn(weights, channels + (window === 3 ? 1 : 2));
  const cells = window * window;
  const groups = name === "GROUPED_CONV_2D" ? 2 : 1;
  // Each batch has one pattern: all the greatest, all the least, and both in turn in either order.
  const [least, greatest] = values;
  const row = (even: number, odd: number, length: number) =>
    Array.from({ length }, (_, i) => (i % 2 === 0 ? even : odd));
  const whole = [
    [greatest, greatest],
    [least, least],
  ] as const;
  const ends = kind === "pairs" ? whole : [...whole, [greatest, least] as const, [least, greatest] as const];
  const inputs = ends.map(([even, odd]) =>
    Array.from({ length: cells }, () => row(even, odd, groups * channels)).flat(),
  );
  const isDepthwise = name === "DEPTHWISE_CONV_2D";
  const filters = isDepthwise
    ? Array.from({ length: cells }, () => row(weights[1], weights[0], channels))
    : Array.from({ length: groups }, () =>
        filtersOf(channels, weights, weightsZero, kind, inputType === "TENSOR_QUANT8_ASYMM_SIGNED"),
      )
        .flat()
        .map((filter) => Array.from({ length: cells }, () => filter).flat());
  const outputs = isDepthwise ? channels : filters.length;
  const [input, filter] =
    name === "FULLY_CONNECTED"
      ? [
          [ends.length, channels],
          [outputs, channels],
        ]
      : [
          [ends.length, window, window, groups * channels],
          isDepthwise ? [1, window, window, channels] : [outputs, window, window, channels],
        ];
  return {
    signature,
    input: { dimensions: input, zeroPoint, elements: inputs.flat() },
    filter: { dimensions: filter, zeroPoint: weightsZero, elements: filters.flat() },
    bias: new Array<number>(outputs).fill(0),
    scalars: oneWindow(groups),
  };
}

/** The weights of each filter for one cell of the window. */
function filtersOf(
  channels: number,
  [least, greatest]: readonly [number, number],
  zeroPoint: number,
  kind: (typeof kinds)[number],
  isSigned: boolean,
): number[][] {
  const every = (of: (channel: number) => number) => Array.from({ length: channels }, (_, channel) => of(channel));
  const all = [every(() => greatest), every(() => least), every((channel) => (channel % 2 === 0 ? greatest : least))];
  const places = Array.from({ length: Math.max(1, channels - 1) }, (_, place) => place);
  // Signed products overflow only where the least numbers meet; of unsigned ones both limits do.
  const limits = isSigned ? [least] : [greatest, least];
  const pairs = places.map((place) =>
    every((channel) =>
      channel === place || channel === place + 1 ? elementAt(limits, place % limits.length) : zeroPoint,
    ),
  );
  return kind === "all" ? all : kind === "pairs" ? pairs : [...all, ...pairs];
}

/** The least, the middle and the greatest number in turn. */
function zeroPointIn([least, greatest]: readonly [number, number], turn: number): number {
  return elementAt([least, Math.ceil((least + greatest) / 2), greatest], turn % 3);
}
