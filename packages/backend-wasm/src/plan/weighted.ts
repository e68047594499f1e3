/** Weighted sums: products of rows with weights, which are packed when the plan is made if they are constant, and else by steps. */
import type { KernelTensor } from "@nnhal/backend";
import { integerRange, isFloat, type TensorInfo } from "@nnhal/operations";
import { addElementwise, addMove, type Builder, operandOf, type Value } from "./builder.ts";
import {
  accumulator,
  channel,
  type Expression,
  element,
  makeInteger,
  on,
  select,
  shiftBits,
  substitute,
} from "./expression.ts";
import {
  fillTile,
  fillTileOfIntegers,
  finishedFloat,
  finishedQuant8,
  isFloatOperation,
  largestOf,
  multipliersOf,
} from "./lowering.ts";
import { depthwiseChannels, type Matrix, packedLength, packInto } from "./packing.ts";
import type { Region, RowSource } from "./plan.ts";
import { refuse } from "./refusal.ts";
import { groupsFor, tileFor } from "./tiles.ts";

/** The part of a tensor of weights that a product reads: weight of depth k and column n at `first + k * depthStep + n * columnStep`. */
export interface Weights {
  readonly filter: KernelTensor;
  readonly depth: number;
  readonly columns: number;
  readonly depthStep: number;
  readonly columnStep: number;
  /** Default: 0. */
  readonly first?: number;
}

/** Factors and terms of a weighted sum, and the use of its result. */
export interface Weighted {
  readonly input: KernelTensor;
  readonly weights: Weights;
  /** Undefined: `sums` knows it. */
  readonly bias: KernelTensor | undefined;
  /** The channels that the sums are of. Default: all of the bias. */
  readonly channels?: { readonly first: number; readonly all: number };
  readonly output: TensorInfo;
  readonly activation: number;
  /** The bias and the use of sums. Default: those of the HAL's operations. */
  readonly sums?: Sums | undefined;
}

/** The numbers that sums begin with, and the expression of a result, whose accumulator is a sum. */
export type Sums = (builder: Builder, weighted: Weighted) => { readonly bias: Region; readonly value: Expression };

/** Those of per-channel scales have no zero point. */
function zeroPointOf(filter: KernelTensor): number {
  return filter.channelQuant === undefined ? filter.zeroPoint : 0;
}

/** The matrix of constant weights; undefined for others. */
function matrixOf({ filter, first = 0, ...matrix }: Weights): Matrix | undefined {
  const { data } = filter;
  if (data === undefined) return undefined;
  return { ...matrix, data: first === 0 ? data : data.subarray(first), zeroPoint: zeroPointOf(filter) };
}

/** Weights in panels of so many columns: see `packInto`. */
function pack(builder: Builder, weights: Weights, width: number, isPaired: boolean): Region {
  const { filter, depth, columns, depthStep, columnStep, first = 0 } = weights;
  const matrix = matrixOf(weights);
  if (matrix !== undefined && filter.data !== undefined) {
    const key = [width, isPaired, depth, columns, depthStep, columnStep, first, matrix.zeroPoint].join(" ");
    return builder.shared(filter.data, key, () => {
      const length = packedLength(matrix, width, isPaired);
      return {
        byteLength: length * (isPaired ? 2 : 4),
        count: depth * columns,
        fill({ buffer, byteOffset }, from, end) {
          const packed = isPaired
            ? new Int16Array(buffer, byteOffset, length)
            : new Float32Array(buffer, byteOffset, length);
          packInto(packed, matrix, width, isPaired, from, end);
        },
      };
    });
  }
  const source = builder.read(filter);
  const together = isPaired ? 2 : 1;
  const turns = Math.ceil(depth / together);
  const panel = turns * width * together;
  const result = builder.value(source.type, [Math.ceil(columns / width) * panel]);
  if (isPaired) addElementwise(builder, "pack", [], result, makeInteger(zeroPointOf(filter)), 1);
  const full = Math.floor(columns / width);
  for (let part = 0; part < together; part++) {
    const steps = [width * columnStep, together * depthStep, columnStep];
    const targets = [panel, width * together, together];
    const rows = Math.ceil((depth - part) / together);
    const copy = (panels: number, firstPanel: number, some: number) => {
      const from = operandOf(source, steps, first + part * depthStep + firstPanel * width * columnStep);
      addMove(builder, "pack", [panels, rows, some], from, operandOf(result, targets, part + firstPanel * panel));
    };
    if (full > 0) copy(full, 0, width);
    if (columns % width > 0) copy(1, full, columns % width);
  }
  if (!isPaired) return result.region;
  const widened = builder.value("i16", result.dimensions);
  addElementwise(builder, "pack", [result], widened, on("sub", element(0, "i32"), makeInteger(zeroPointOf(filter))));
  return widened.region;
}

/** Multipliers above this make sums that do not fit 32 bits the greatest or the least number. */
const leastMultiplier = 2 ** -22;

/** a + b, or the nearest number of 32 bits. */
function saturatedSum(a: Expression, b: Expression): Expression {
  const sum = on("add", a, b);
  const isBeyond = on("lt", on("and", on("xor", a, sum), on("xor", b, sum)), makeInteger(0));
  return select(isBeyond, on("xor", shiftBits("shr", a, 31), makeInteger(0x7fff_ffff)), sum);
}

/** The bias and the expression of a weighted sum. */
function sums(builder: Builder, weighted: Weighted): ReturnType<Sums> {
  const { input, weights, bias, output, activation, channels } = weighted;
  if (weighted.sums !== undefined) return weighted.sums(builder, weighted);
  if (bias === undefined) throw new TypeError("sums have no bias");
  const { filter, columns } = weights;
  const { first, all } = channels ?? { first: 0, all: columns };
  const { data } = bias;
  if (isFloatOperation(input, output)) {
    if (data !== undefined) {
      const numbers = Array.from(data.subarray(first, first + columns));
      return { bias: builder.constant(fillTile(numbers)), value: finishedFloat(activation) };
    }
    const value = finishedFloat(activation);
    return { bias: biasPart(builder, bias, first, columns), value };
  }
  const multipliers = multipliersOf(input, filter, bias, output, all).slice(first, first + columns);
  const numbers = data === undefined ? [] : Array.from(data.subarray(first, first + columns));
  const value = finishedQuant8(builder, multipliers, activation, output, boundSums(input, numbers, weights));
  if (data !== undefined) return { bias: builder.constant(fillTileOfIntegers(numbers)), value };
  if (multipliers.some((multiplier) => multiplier < leastMultiplier))
    refuse("the bias is not constant, and the scale of the output is large");
  const list = channel(biasPart(builder, bias, first, columns), "i32");
  const sum = saturatedSum(accumulator("i32"), list);
  return {
    bias: builder.constant(fillTileOfIntegers(new Array<number>(columns).fill(0))),
    value: substitute(value, (node) => (node.kind === "accumulator" ? sum : undefined)),
  };
}

/** Refuses sums that are not available. */
export function checkSums(builder: Builder, weighted: Weighted): void {
  sums(builder, weighted);
}

/** The region of a part of a bias that is not constant. */
function biasPart(builder: Builder, bias: KernelTensor, first: number, columns: number): Region {
  const all = builder.read(bias);
  if (first === 0) return all.region;
  const part = builder.value(all.type, [columns]);
  addMove(builder, "bias", [columns], operandOf(all, [1], first), operandOf(part, [1]));
  return part.region;
}

/** Returns a magnitude that no sum exceeds. Refuses sums that may need more than 32 bits. */
export function boundSums(input: TensorInfo, bias: readonly number[], weights: Weights): number {
  const [least, greatest] = integerRange(input.type);
  const largest = Math.max(Math.abs(least - input.zeroPoint), Math.abs(greatest - input.zeroPoint));
  const most = 2 ** 31 - 1;
  const bound = largest * 255 * weights.depth + largestOf(bias);
  if (bound <= most) return bound;
  const matrix = matrixOf(weights);
  const { depth, columns, depthStep, columnStep } = weights;
  // Of weights that are not constant any may be the greatest.
  const { data, zeroPoint } = matrix ?? { data: [], zeroPoint: 255 };
  for (let column = 0; column < columns; column++) {
    let size = 0;
    for (let k = 0; k < depth; k++) size += Math.abs((data[k * depthStep + column * columnStep] ?? 0) - zeroPoint);
    if (size * largest + Math.abs(bias[column] ?? 0) > most) refuse("its sums may need more than 32 bits");
  }
  return most;
}

/** Adds a product of rows with weights. */
export function addProduct(
  builder: Builder,
  name: string,
  weighted: Weighted,
  rows: number,
  source: Omit<RowSource, "isDirect" | "zeroPoint">,
  target: Value,
): void {
  const { weights, input } = weighted;
  const isPaired = source.type !== "f32";
  const { bias, value } = sums(builder, weighted);
  addRows(builder, name, weights, rows, { ...source, zeroPoint: isPaired ? input.zeroPoint : 0 }, target, bias, value);
}

/** Adds a product of rows with weights. The value has the sum, with the bias, as its accumulator. */
export function addRows(
  builder: Builder,
  name: string,
  weights: Weights,
  rows: number,
  source: Omit<RowSource, "isDirect">,
  target: Value,
  bias: Region,
  value: Expression,
): void {
  const { depth, columns } = weights;
  const isPaired = source.type !== "f32";
  const { length, pixelStep, rowStep, batchStep, width, height, runs } = source;
  const isDirect =
    !isPaired &&
    runs.length === 1 &&
    runs[0] === 0 &&
    pixelStep === length &&
    (height === 1 || rowStep === width * pixelStep) &&
    (rows === height * width || batchStep === height * width * pixelStep);
  const { threads, tileSums } = builder;
  const sums = tileSums[isPaired ? "pairs" : "floats"];
  const { tile, blockRows } = tileFor(rows, depth, columns, sums, isPaired, threads);
  const blocks = Math.ceil(rows / blockRows);
  const work = (Math.min(rows, blockRows) * depth * columns) / (isPaired ? 8 : 4);
  const groups = groupsFor(work, columns, tile.vectors, blocks, threads);
  const rowBytes = 4 * (isPaired ? Math.ceil(depth / 2) : depth);
  // A row is written up to a vector beyond its end.
  const scratchBytes = Math.ceil((blockRows * rowBytes + 64) / 64) * 64;
  const scratch = isDirect ? undefined : builder.room("u8", threads * scratchBytes);
  builder.add({
    kind: "product",
    name,
    rows,
    depth,
    columns,
    source: { ...source, isDirect },
    weights: pack(builder, weights, 4 * tile.vectors, isPaired),
    bias,
    tile,
    blockRows,
    groups,
    scratch,
    scratchBytes,
    target,
    operands: [],
    value,
    units: blocks * groups,
    work: work / groups,
  });
}

/** The weights of a depthwise convolution with their bias and the expression of its sums. */
export function depthwiseParts(builder: Builder, weighted: Weighted) {
  const isPaired = !isFloat(weighted.input.type);
  const channelsAtOnce = depthwiseChannels(isPaired, builder.isWide);
  return {
    ...sums(builder, weighted),
    channelsAtOnce,
    weights: pack(builder, weighted.weights, channelsAtOnce, isPaired),
  };
}
