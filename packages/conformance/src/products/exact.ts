/**
 * The weighted sums of 8 bits by their formula: every product of every window in whole numbers, and the quotient of scales as a fraction of
 * whole numbers. It shares nothing with the kernels, so that these too are held against it.
 */
import { elementAt, integerRange, type Tensor, type TensorInfo } from "@nnhal/operations";
import type { RandomOperation } from "../random/draw.ts";

/** The operations that are weighted sums of 8 bits. */
export const weightedSums = [
  "CONV_2D",
  "GROUPED_CONV_2D",
  "DEPTHWISE_CONV_2D",
  "TRANSPOSE_CONV_2D",
  "FULLY_CONNECTED",
] as const;
export type WeightedSum = (typeof weightedSums)[number];

/** The operands of a weighted sum by the names of their parameters; undefined: there is no such operand. */
export interface SumOperands {
  readonly name: string;
  tensor(name: "input" | "filter" | "bias"): Tensor;
  number(name: string): number | undefined;
}

/** The operands of a drawn operation. */
export function operandsOf({ signature, inputs }: RandomOperation): SumOperands {
  const named = (name: string) => inputs[signature.inputs.findIndex((param) => param.name === name)];
  return {
    name: signature.operation.name,
    tensor(name) {
      const tensor = named(name) ?? (name === "filter" ? named("weights") : undefined);
      if (tensor === undefined) throw new TypeError(`${signature.operation.name} has no ${name}`);
      return tensor;
    },
    number: (name) => named(name)?.data[0],
  };
}

/** Sums the products of one window: elements as they are stored, with the zero points of both. */
export type Summing = (
  values: Float64Array,
  weights: Float64Array,
  zeroPoints: readonly [ofValues: number, ofWeights: number],
) => number;

const exactly: Summing = (values, weights, [ofValues, ofWeights]) => {
  let sum = 0;
  for (let index = 0; index < values.length; index++) {
    sum += (elementAt(values, index) - ofValues) * (elementAt(weights, index) - ofWeights);
  }
  return sum;
};

/** The sums of an operation, one for each element of its result, in the order of its memory. */
export interface Sums {
  readonly dimensions: readonly number[];
  /** Whole numbers, in units of the scale of the input times that of the filter. */
  readonly sums: Float64Array;
  /** The output channel of each. */
  readonly channels: Int32Array;
}

/** The sums before they get the scale of the output, bias included. */
export function exactSums(operands: SumOperands, summing: Summing = exactly): Sums {
  const { name } = operands;
  const [input, filter, bias] = [operands.tensor("input"), operands.tensor("filter"), operands.tensor("bias")];
  const zeroPoints = [input.zeroPoint, filter.zeroPoint] as const;
  if (name === "FULLY_CONNECTED") return connect(input, filter, bias, summing);
  const number = (param: string, otherwise: number) => operands.number(param) ?? otherwise;
  const nchw = number("nchw", 0) !== 0;
  const [batches, height, width, depth] = order(input.dimensions, nchw);
  const isDepthwise = name === "DEPTHWISE_CONV_2D";
  const [filterHeight, filterWidth] = [extent(filter, 1), extent(filter, 2)];
  const outputs = extent(filter, isDepthwise ? 3 : 0);
  const vertical = axisOf(operands, "Height", height, filterHeight, ["paddingTop", "paddingBottom"]);
  const horizontal = axisOf(operands, "Width", width, filterWidth, ["paddingLeft", "paddingRight"]);
  const groups = isDepthwise ? depth : number("groups", 1);
  const [perGroup, groupDepth] = [outputs / groups, depth / groups];
  const dimensions = nchw
    ? [batches, outputs, vertical.count, horizontal.count]
    : [batches, vertical.count, horizontal.count, outputs];
  const sums = new Float64Array(batches * vertical.count * horizontal.count * outputs);
  const channels = new Int32Array(sums.length);
  const [image, result] = [stepsOf(input.dimensions, nchw), stepsOf(dimensions, nchw)];
  const size = filterHeight * filterWidth * groupDepth;
  const [values, weights] = [new Float64Array(size), new Float64Array(size)];
  for (let b = 0; b < batches; b++) {
    for (let y = 0; y < vertical.count; y++) {
      for (let x = 0; x < horizontal.count; x++) {
        for (let o = 0; o < outputs; o++) {
          const first = Math.floor(o / perGroup) * groupDepth;
          let count = 0;
          for (let i = 0; i < filterHeight; i++) {
            const row = vertical.source(y, i);
            if (row === undefined) continue;
            for (let j = 0; j < filterWidth; j++) {
              const column = horizontal.source(x, j);
              if (column === undefined) continue;
              const pixel = b * image.batch + row * image.row + column * image.column;
              for (let c = 0; c < groupDepth; c++, count++) {
                values[count] = elementAt(input.data, pixel + (first + c) * image.channel);
                const place = isDepthwise
                  ? (i * filterWidth + j) * outputs + o
                  : ((o * filterHeight + i) * filterWidth + j) * groupDepth + c;
                weights[count] = elementAt(filter.data, place);
              }
            }
          }
          const place = b * result.batch + y * result.row + x * result.column + o * result.channel;
          const sum = summing(values.subarray(0, count), weights.subarray(0, count), zeroPoints);
          sums[place] = elementAt(bias.data, o) + sum;
          channels[place] = o;
        }
      }
    }
  }
  return { dimensions, sums, channels };
}

/**
 * The results as exact numbers, in steps of the output with its zero point added, and not rounded: within the range of the type and of the
 * activation. Each is right to within 2^-20.
 */
export function exactResults(
  operands: SumOperands,
  { type, scale, zeroPoint }: Pick<TensorInfo, "type" | "scale" | "zeroPoint">,
  summing?: Summing,
): { readonly dimensions: readonly number[]; readonly values: Float64Array } {
  const { dimensions, sums, channels } = exactSums(operands, summing);
  const [input, filter] = [operands.tensor("input"), operands.tensor("filter")];
  const [least, greatest] = rangeOf(operands.number("activation") ?? 0, integerRange(type), scale, zeroPoint);
  const divisor = readWhole(scale) << wholeBits;
  const values = sums.map((sum, index) => {
    const weights = filter.channelQuant?.scales[elementAt(channels, index)] ?? filter.scale;
    const product = BigInt(sum) * readWhole(input.scale) * readWhole(weights);
    const steps = Number((product << 20n) / divisor) / 2 ** 20 + zeroPoint;
    return Math.min(greatest, Math.max(least, steps));
  });
  return { dimensions, values };
}

/** A float32 times 2^149 is a whole number. */
const wholeBits = 149n;
function readWhole(float: number): bigint {
  return BigInt(float * 2 ** Number(wholeBits));
}

function connect(input: Tensor, weights: Tensor, bias: Tensor, summing: Summing): Sums {
  const [units, size] = [extent(weights, 0), extent(weights, 1)];
  const [values, filters] = [Float64Array.from(input.data), Float64Array.from(weights.data)];
  const rows = values.length / size;
  const part = (data: Float64Array, place: number) => data.subarray(place * size, (place + 1) * size);
  const sums = Float64Array.from({ length: rows * units }, (_, place) => {
    const [row, unit] = [Math.floor(place / units), place % units];
    const sum = summing(part(values, row), part(filters, unit), [input.zeroPoint, weights.zeroPoint]);
    return elementAt(bias.data, unit) + sum;
  });
  return { dimensions: [rows, units], sums, channels: Int32Array.from(sums, (_, place) => place % units) };
}

/**
 * One axis of a sliding window: the number of its positions (0 if it does not fit), and the cell of the image under each of its
 * cells.
 */
interface Axis {
  readonly count: number;
  source(place: number, cell: number): number | undefined;
}

function axisOf(
  { name, number }: SumOperands,
  side: "Height" | "Width",
  image: number,
  filter: number,
  paddings: readonly [before: string, after: string],
): Axis {
  const stride = number(`stride${side}`) ?? 1;
  const dilation = number(`dilation${side}`) ?? 1;
  const covered = (filter - 1) * dilation + 1;
  let [before, after] = paddings.map((padding) => number(padding) ?? 0) as [number, number];
  if (number("paddingScheme") === 1) {
    const total = Math.max(0, (Math.ceil(image / stride) - 1) * stride + covered - image);
    before = total >> 1;
    after = total - before;
  }
  const within = (cell: number) => (Number.isInteger(cell) && cell >= 0 && cell < image ? cell : undefined);
  if (name === "TRANSPOSE_CONV_2D") {
    return {
      count: Math.max(0, (image - 1) * stride + filter - before - after),
      source: (place, cell) => within((place + before - cell) / stride),
    };
  }
  return {
    count: Math.max(0, Math.floor((image + before + after - covered) / stride) + 1),
    source: (place, cell) => within(place * stride - before + cell * dilation),
  };
}

/** The integers that a result may be by its type and its activation. */
function rangeOf(
  activation: number,
  [least, greatest]: readonly [number, number],
  scale: number,
  zeroPoint: number,
): readonly [number, number] {
  const place = (real: number) => zeroPoint + Math.sign(real) * Math.round(Math.abs(real) / scale);
  const [low, high] = (
    [
      [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
      [zeroPoint, Number.POSITIVE_INFINITY],
      [place(-1), place(1)],
      [zeroPoint, place(6)],
    ] as const
  )[activation] ?? [least, greatest];
  const within = (value: number) => Math.min(greatest, Math.max(least, value));
  return [within(low), within(high)];
}

function extent({ dimensions }: Tensor, axis: number): number {
  return elementAt(dimensions, axis);
}

/** Batches, height, width and channels of an image. */
function order(dimensions: readonly number[], nchw: boolean): readonly [number, number, number, number] {
  const [batches = 0, second = 0, third = 0, fourth = 0] = dimensions;
  return nchw ? [batches, third, fourth, second] : [batches, second, third, fourth];
}

/** Returns the distances in memory of neighbours along each axis of an image. */
function stepsOf(dimensions: readonly number[], nchw: boolean) {
  const [, height, width, channels] = order(dimensions, nchw);
  const batch = height * width * channels;
  return nchw
    ? { batch, row: width, column: 1, channel: height * width }
    : { batch, row: width * channels, column: channels, channel: 1 };
}
