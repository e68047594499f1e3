/**
 * Random convolutions of 8 bits with extreme values: activations and weights at their limits, every zero point, per tensor and per channel,
 * grouped, depthwise and transposed, with dilations, strides, paddings and odd sizes. The tests of engines share them: engines compute such
 * sums in ways that depend on the processor, and what saturates in 16 bits is wrong only at the limits.
 */
import { elementAt, elementCount, integerRange, type Operation } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { weightedSums } from "../products/exact.ts";
import { type Drawn, isOf8Bits, type Layer, operationOfLayer, typesOfSum } from "../products/layer.ts";
import { drawRow, type Pattern, patterns } from "../products/patterns.ts";
import { kernelOperations } from "../random/examples.ts";
import { createRandom, type Random } from "../random/random.ts";
import { runRandomOperation } from "../random/run.ts";
import { type Signature, signaturesOf } from "../random/signature.ts";
import type { Example } from "../vectors/example.ts";
import { type ArithmeticExample, judgedExample } from "./examples.ts";

/** Options of extremeConvolutions. */
export interface ExtremeConvolutionsOptions {
  /** Default 1. */
  readonly seed?: number | undefined;
  /** The number of examples. Default 100. */
  readonly count?: number | undefined;
  /** The number of the first one, so that a long run can be divided. Default 0. */
  readonly first?: number | undefined;
}

/**
 * Draws convolutions and fully connected layers of 8 bits with extreme values, with the results of the reference kernels; each
 * element may be off by one step. Each example follows from the seed and its number alone.
 */
export function* extremeConvolutions(options: ExtremeConvolutionsOptions = {}): Generator<Example> {
  const { seed = 1, count = 100, first = 0 } = options;
  for (let index = first; index < first + count; index++) yield extremeConvolution(seed, index).example;
}

/** Operations in turn; CONV_2D more often, since engines have most forms of it. */
const turns: readonly Operation[] = [...weightedSums, "CONV_2D"].flatMap((name) =>
  kernelOperations().filter((operation) => operation.name === name),
);

/** The example of a number. */
export function extremeConvolution(seed: number, index: number): ArithmeticExample {
  const random = createRandom(Math.imul(seed, 0x2545_f491) + Math.imul(index, 0x9e37_79b1));
  const operation = elementAt(turns, index % turns.length);
  const signatures = signaturesOf(operation).filter(isOf8Bits);
  for (;;) {
    const drawn = operationOfLayer(drawLayer(random.pick(signatures), random), random, {
      span: drawSpan(random),
      anyZeroPoint: true,
    });
    const outcome = runRandomOperation(drawn, random, false);
    // Windows that do not fit the image are drawn again.
    if (outcome.kind !== "computed") continue;
    const example = judgedExample(drawn, `convolutions/${seed}.${index}`, outcome.outputs, index);
    if (example !== undefined) return { example, drawn };
  }
}

/** Draws the number of steps of the greatest sum: all within the range, a few beyond it, or most. */
function drawSpan(random: Random): number {
  return random.pick([120, 250, 250, 300, 1000]);
}

/** The fewest channels with whose sums more than 2^24 is reached on the way, about. */
const LEAST_WIDE = 256;

/** Numbers of channels: all up to 9, those around the widths of vectors, others up to 64, and some with which sums lose digits in float32. */
function drawChannels(random: Random): number {
  if (random.chance(0.06)) return random.pick([LEAST_WIDE, 520, 1026, 2048, 4100, 8192]);
  return random.chance(0.5)
    ? random.pick([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64])
    : random.integer(1, 64);
}

/** The most products of one example, about. */
const mostProducts = 1 << 16;

/** The shapes and scalars of a layer. The image is NHWC, or rows; only its last step puts the channels first. */
interface Shapes {
  readonly image: readonly number[];
  readonly filter: readonly number[];
  readonly outputs: number;
  readonly scalars: Readonly<Record<string, number>>;
}

function drawLayer(signature: Signature, random: Random): Layer {
  const shapes = drawShapes(signature, random);
  const [inputType, filterType] = typesOfSum(signature);
  const depth = elementAt(shapes.image, shapes.image.length - 1);
  const size = elementCount(shapes.filter) / shapes.outputs;
  const count = elementCount(shapes.image) / depth;
  const own = elementAt(shapes.filter, shapes.filter.length - 1);
  const isWide = signature.operation.name !== "DEPTHWISE_CONV_2D" && own >= LEAST_WIDE && own % 2 === 0;
  const input = isWide
    ? wideInput(inputType, count, depth / own, own, random)
    : drawRows(inputType, count, depth, random);
  const filter = isWide
    ? wideFilter(filterType, shapes.outputs, size / own, own, random)
    : drawRows(filterType, shapes.outputs, size, random);
  const nchw = shapes.image.length === 4 && signature.inputs.some(({ name }) => name === "nchw") && random.chance(0.3);
  const isDepthwise = signature.operation.name === "DEPTHWISE_CONV_2D";
  return {
    signature,
    input: {
      ...input,
      ...(nchw ? channelsFirst(shapes.image, input.rows) : { dimensions: shapes.image, elements: input.rows.flat() }),
    },
    filter: {
      ...filter,
      dimensions: shapes.filter,
      elements: (isDepthwise ? columnsOf(filter.rows) : filter.rows).flat(),
    },
    bias: isWide ? drawBias(shapes.outputs, 0, random) : drawBias(shapes.outputs, size, random),
    scalars: { ...shapes.scalars, nchw, activation: random.pick([0, 0, 0, 1, 2, 3]) },
  };
}

function drawShapes({ operation }: Signature, random: Random): Shapes {
  for (;;) {
    const depth = drawChannels(random);
    const outputs = random.pick([1, 2, 3, 4, 5, 8, 9, 16, 17, 33]);
    const shapes =
      operation.name === "FULLY_CONNECTED"
        ? connectedShapes(depth, outputs, random)
        : windowShapes(operation, depth, outputs, random);
    // The places of the window are at most as many as the pixels of the image, except if it is spread.
    const pixels = elementCount(shapes.image) / elementAt(shapes.image, shapes.image.length - 1);
    if (pixels * elementCount(shapes.filter) <= mostProducts) return shapes;
  }
}

function connectedShapes(depth: number, outputs: number, random: Random): Shapes {
  const rows = random.integer(1, 9);
  return {
    image: random.pick([
      [rows, depth],
      [1, rows, depth],
      [rows, 1, 1, depth],
    ]),
    filter: [outputs, depth],
    outputs,
    scalars: {},
  };
}

function windowShapes({ name }: Operation, depth: number, outputs: number, random: Random): Shapes {
  const [vertical, horizontal] = [drawAxis(random), drawAxis(random)];
  const cells = [vertical.cells, horizontal.cells];
  const batches = random.pick([1, 1, 1, 2]);
  const scalars = {
    paddingTop: vertical.before,
    paddingBottom: vertical.after,
    paddingLeft: horizontal.before,
    paddingRight: horizontal.after,
    paddingScheme: random.integer(1, 2),
    strideHeight: vertical.stride,
    strideWidth: horizontal.stride,
    dilationHeight: vertical.dilation,
    dilationWidth: horizontal.dilation,
  };
  const image = (channels: number) => [batches, vertical.extent, horizontal.extent, channels];
  if (name === "DEPTHWISE_CONV_2D") {
    const depthMultiplier = random.pick([1, 1, 2, 3]);
    const all = depth * depthMultiplier;
    return { image: image(depth), filter: [1, ...cells, all], outputs: all, scalars: { ...scalars, depthMultiplier } };
  }
  if (name === "GROUPED_CONV_2D") {
    const groups = random.integer(1, 4);
    const all = groups * Math.ceil(outputs / groups);
    const own = Math.ceil(depth / groups);
    return { image: image(groups * own), filter: [all, ...cells, own], outputs: all, scalars: { ...scalars, groups } };
  }
  return { image: image(depth), filter: [outputs, ...cells, depth], outputs, scalars };
}

/** Draws one axis of an image and of a window on it: often 1 or 3 cells. */
function drawAxis(random: Random) {
  const cells = random.pick([1, 1, 2, 3, 3, 4]);
  const dilation = random.pick([1, 1, 1, 2, 3]);
  const covered = (cells - 1) * dilation + 1;
  const pad = () => (random.chance(0.5) ? 0 : random.integer(0, covered - 1));
  return {
    extent: random.integer(1, 9),
    cells,
    dilation,
    before: pad(),
    after: pad(),
    stride: random.pick([1, 1, 2, 3]),
  };
}

/** Rows of elements of a type, each of a pattern, and their zero point: often the least, the middle or the greatest number. */
function drawRows(type: OperandTypeName, count: number, length: number, random: Random) {
  const range = integerRange(type);
  const [least, greatest] = range;
  const isSymmetric = type === "TENSOR_QUANT8_SYMM_PER_CHANNEL";
  const middle = Math.ceil((least + greatest) / 2);
  const zeroPoint = isSymmetric ? 0 : random.pick([least, middle, greatest, random.integer(least, greatest)]);
  // One pattern for all rows, or one for each row.
  const one = random.chance(0.4) ? random.pick(patterns) : undefined;
  const pattern = (): Pattern => one ?? random.pick(patterns);
  const rows = Array.from({ length: count }, () => drawRow(pattern(), length, range, zeroPoint, random));
  return { zeroPoint, rows };
}

/** Rows whose groups of channels have the same elements in both halves, except the last, so that the products of `wideFilter` cancel out. */
function wideInput(type: OperandTypeName, count: number, groups: number, depth: number, random: Random) {
  const [least, greatest] = integerRange(type);
  const { zeroPoint, rows } = drawRows(type, count * groups, depth / 2, random);
  const whole = rows.map((half) => {
    const last = elementAt(half, half.length - 1) + random.integer(-20, 20);
    return [...half, ...half.slice(0, -1), Math.min(greatest, Math.max(least, last))];
  });
  return { zeroPoint, rows: joinRows(whole, groups) };
}

/** Filters whose cells have opposite weights in their halves, and small ones at the ends of these. */
function wideFilter(type: OperandTypeName, count: number, cells: number, depth: number, random: Random) {
  const [least, greatest] = integerRange(type);
  const zeroPoint = type === "TENSOR_QUANT8_SYMM_PER_CHANNEL" ? 0 : Math.ceil((least + greatest) / 2);
  const most = greatest - zeroPoint;
  const { rows } = drawRows(type, count * cells, depth / 2 - 1, random);
  const whole = rows.map((row) => {
    const half = [...row.map((weight) => Math.max(-most, weight - zeroPoint)), random.integer(-4, 4)];
    return [...half, ...half.map((weight) => -weight)].map((weight) => weight + zeroPoint);
  });
  return { zeroPoint, rows: joinRows(whole, cells) };
}

/** Each `count` rows as one. */
function joinRows(rows: readonly (readonly number[])[], count: number): number[][] {
  return Array.from({ length: rows.length / count }, (_, place) =>
    rows.slice(place * count, (place + 1) * count).flat(),
  );
}

/** No bias, a small one, or one that is as great as half of the greatest sum of `size` products. */
function drawBias(outputs: number, size: number, random: Random): number[] {
  const most = random.pick([0, 1000, size << 14]);
  return Array.from({ length: outputs }, () => random.integer(-most, most));
}

/** The elements of an image of rows of channels, with the channels first. */
function channelsFirst(
  [batches = 0, height = 0, width = 0, depth = 0]: readonly number[],
  rows: readonly (readonly number[])[],
): Pick<Drawn, "dimensions" | "elements"> {
  const pixels = height * width;
  const elements = Array.from({ length: batches * depth * pixels }, (_, place) => {
    const [batch, channel] = [Math.floor(place / (depth * pixels)), Math.floor(place / pixels) % depth];
    return elementAt(elementAt(rows, batch * pixels + (place % pixels)), channel);
  });
  return { dimensions: [batches, depth, height, width], elements };
}

/** The columns of rows of one length. */
function columnsOf(rows: readonly (readonly number[])[]): number[][] {
  return Array.from({ length: rows[0]?.length ?? 0 }, (_, column) => rows.map((row) => elementAt(row, column)));
}
