/**
 * Convolutions and FULLY_CONNECTED. If the mode allows it and the number of channels is a multiple of four, a thread computes four
 * channels, which share their input elements. Bias and activation are part of the kernel.
 */
import type { KernelTensor } from "@nnhal/backend";
import { BIAS_UNIT, greatestSum, MOST_WHOLE, needsDivision } from "@nnhal/backend/float32";
import type { AnyArgs, TensorInfo } from "@nnhal/operations";
import type { Width } from "../machine/machine.ts";
import type { Source, Writer } from "./_code.ts";
import { cellsOf, imageOf, placeOf } from "./_image.ts";
import { type Index, indexAt, plus, ravel, times } from "./_index.ts";
import { type GpujsTable, isReal, kernelOf, type Make } from "./_kernel.ts";
import { isTensor } from "./_pointwise.ts";
import { centredWriter, isQuantised } from "./_quantised.ts";
import {
  addSums,
  type Convolution,
  carry,
  finish,
  type Grouped,
  type Summed,
  type Sums,
  sumsFrom,
  sumsLike,
} from "./_sums.ts";
import { allOf, type Cell, guardBody, readable, walkWindow, where } from "./_window.ts";

interface One {
  readonly output: TensorInfo;
}

/** Quantised tensors are read as the whole numbers q − zeroPoint; `axis`: that of the outputs of weights, which have a name. */
const onWholeNumbers = (name: "filter" | "weights", axis: number) =>
  ({
    accepts: isReal,
    stored: true,
    refuse({ input, [name]: weights, bias }: AnyArgs) {
      if (!isTensor(input) || !isTensor(weights) || !isTensor(bias) || !isQuantised(input.type)) return undefined;
      // A bias beyond 2^24 that is a value has lost its last digits, which count if the products can be as great.
      const isKnown = "data" in bias && bias.data !== undefined;
      if (isKnown || greatestSum({ input, weights, axis }) <= MOST_WHOLE / 2) return undefined;
      return "a bias that is not constant is not available for sums beyond 2^23, because values have the digits of float32";
    },
  }) as const;

/** Elements per thread: four if they are adjacent, their number is a multiple of four, and they share enough input elements. */
function widthFor({ vectors }: Make, nchw: boolean, share: number, reads: number): Width {
  return reads >= vectors && !nchw && share % 4 === 0 ? 4 : 1;
}

/**
 * Chooses the measures that keep the parts of sums exact. `axis`: that of the weights' outputs. Sums of real numbers
 * need none.
 */
function partsOf({ input, bias }: Summed, weights: KernelTensor, axis: number, { mostWhole }: Make) {
  const operands = { input, weights, axis };
  if (!isQuantised(input.type)) return { dividesBias: false, carries: false };
  const carries = greatestSum(operands) + BIAS_UNIT > mostWhole;
  return { dividesBias: carries || needsDivision(operands, bias), carries };
}

/** The range of a sum of products: `depth` channels of a cell, with weights of [cells, depth, outputs]. */
interface Products {
  readonly input: KernelTensor;
  readonly weights: Source;
  readonly depth: number;
  readonly outputs: number;
  /** The output channel of the thread's sum; with four sums that of the first. */
  readonly channel: string;
  readonly channelStep: number;
  /** The number of sums. */
  readonly width: Width;
  /** The input's first channel as code. */
  readonly first: string;
}

/** Returns whether the input is read in groups of four channels; indexes then count cells and groups. */
function isByFours({ width, depth }: Pick<Products, "width" | "depth">): boolean {
  return width === 4 && depth % 4 === 0;
}

/** Writes code that adds the products of a cell. */
function addProducts(writer: Writer, sums: Sums, products: Products): Cell {
  const write = productsOf(writer, products);
  return (pixel, tap, inside) => {
    if (inside === undefined) return write(sums, pixel, tap);
    const parts = sumsLike(writer, sums);
    write(parts, pixel, tap);
    where(writer, inside, () => addSums(writer, sums, parts));
    carry(writer, sums);
  };
}

function productsOf(writer: Writer, products: Products): (sums: Sums, pixel: Index, tap: Index) => void {
  const { line, define, index, group } = writer;
  const { input, weights, depth, outputs, channel, channelStep, first, width } = products;
  const add = ({ sums }: Sums, value: string, factors: readonly string[]) => {
    for (const [place, sum] of sums.entries()) line(`${sum} += ${value} * ${factors[place]};`);
  };
  const loop = (turns: number, sums: Sums, body: (counter: string) => void) =>
    writer.loop(turns, (counter) => {
      body(counter);
      carry(writer, sums);
    });
  if (width === 1) {
    const [ones, factor] = [writer.read(input), writer.read(weights)];
    const step = depth % 4 === 0 ? 4 : 1;
    return (sums, pixel, tap) =>
      loop(depth / step, sums, (i) => {
        const value = index(ravel([pixel.code, first, i], [1, 1, step * channelStep]));
        const weight = index(ravel([tap.code, channel, i], [depth * outputs, 1, step * outputs]));
        for (let place = 0; place < step; place++) {
          const offset = depth * outputs * tap.offset + place * outputs;
          const element = ones({ code: value, offset: pixel.offset + place * channelStep });
          add(sums, element, [factor({ code: weight, offset })]);
        }
      });
  }
  const factors = writer.four(weights, outputs);
  if (!isByFours(products)) {
    const ones = writer.read(input);
    return (sums, pixel, tap) =>
      loop(depth, sums, (i) => {
        const value = define(ones(indexAt([pixel, first, i], [1, 1, channelStep])));
        add(sums, value, factors(indexAt([tap, i], [depth, 1]), group));
      });
  }
  const fours = writer.four(input, input.dimensions[input.dimensions.length - 1]);
  return (sums, pixel, tap) =>
    loop(depth / 4, sums, (i) => {
      const { code, offset } = indexAt([tap, i], [depth, 4]);
      for (const [place, value] of fours(pixel, indexAt([first, i], [1, 1])).entries()) {
        add(sums, define(value), factors({ code, offset: offset + place }, group));
      }
    });
}

function convolve(args: Grouped, output: TensorInfo, make: Make) {
  const { input, filter, nchw, groups } = args;
  const [outputs, height, width, depth] = filter.dimensions;
  // [outputs, height, width, depth] to [height, width, depth, outputs]
  const weights = make.firstAxisLast(filter);
  const threadWidth = widthFor(make, nchw, outputs / groups, height * width * depth);
  const byFours = isByFours({ width: threadWidth, depth });
  const whole = imageOf(input.dimensions, nchw);
  const image = byFours ? cellsOf(whole) : whole;
  const parts = partsOf(args, filter, 0, make);
  return make.output(
    (plain) => {
      const writer = onWeights(plain, input, weights, filter);
      const place = placeOf(writer.at, nchw);
      const { channel } = place;
      const sums = sumsFrom(plain, { bias: args.bias, channel, width: threadWidth, ...parts });
      const share = byFours ? depth / 4 : depth * image.channelStep;
      const first = groups === 1 ? "0" : writer.index(times(share, writer.quotient(channel, outputs / groups)));
      const add = addProducts(writer, sums, {
        input,
        weights,
        depth,
        outputs,
        channel,
        channelStep: image.channelStep,
        first,
        width: threadWidth,
      });
      walkWindow(writer, image, { ...args, height, width, isDeep: true }, place, add);
      return finish(plain, sums, args, { weights: filter, output }, channel);
    },
    { width: threadWidth },
  );
}

/** A writer whose elements of quantised inputs and weights are whole numbers. */
function onWeights(writer: Writer, input: KernelTensor, weights: Source, filter: KernelTensor): Writer {
  return centredWriter(writer, (source) => (source === weights ? filter : source === input ? input : undefined));
}

const conv2d = kernelOf({
  ...onWholeNumbers("filter", 0),
  prepare: (args: Omit<Grouped, "groups">, { output }: One, make) => convolve({ ...args, groups: 1 }, output, make),
});

const groupedConv2d = kernelOf({
  ...onWholeNumbers("filter", 0),
  prepare: (args: Omit<Grouped, "dilationWidth" | "dilationHeight">, { output }: One, make) =>
    convolve({ ...args, dilationWidth: 1, dilationHeight: 1 }, output, make),
});

const depthwiseConv2d = kernelOf({
  ...onWholeNumbers("filter", 3),
  prepare(args: Omit<Grouped, "groups">, { output }: One, make) {
    const { input, filter, nchw } = args;
    const [, height, width, outputs] = filter.dimensions;
    const whole = imageOf(input.dimensions, nchw);
    const multiplier = outputs / whole.channels;
    const threadWidth = widthFor(make, nchw, multiplier === 1 ? outputs : 1, 0);
    const image = threadWidth === 4 ? cellsOf(whole) : whole;
    const parts = partsOf(args, filter, 3, make);
    return make.output(
      (plain) => {
        const writer = onWeights(plain, input, filter, filter);
        const place = placeOf(writer.at, nchw);
        const { channel } = place;
        const sums = sumsFrom(plain, { bias: args.bias, channel, width: threadWidth, ...parts });
        const window = { ...args, height, width };
        if (threadWidth === 4) {
          const [values, weights] = [writer.four(input, outputs), writer.four(filter, outputs)];
          walkWindow(writer, image, window, place, (pixel, tap, inside) => {
            where(writer, inside, () => {
              const factors = weights(tap, writer.group);
              for (const [at, value] of values(pixel, writer.group).entries()) {
                writer.line(`${sums.sums[at]} += ${value} * ${factors[at]};`);
              }
            });
            carry(writer, sums);
          });
        } else {
          const [value, weight] = [writer.read(input), writer.read(filter)];
          const source = writer.index(times(image.channelStep, writer.quotient(channel, multiplier)));
          walkWindow(writer, image, window, place, (pixel, tap, inside) => {
            where(writer, inside, () => {
              const factor = weight(indexAt([tap, channel], [outputs, 1]));
              writer.line(`${sums.sums[0]} += ${value(indexAt([pixel, source], [1, 1]))} * ${factor};`);
            });
            carry(writer, sums);
          });
        }
        return finish(plain, sums, args, { weights: filter, output }, channel);
      },
      { width: threadWidth },
    );
  },
});

/** Each output sums the contributions of the input cells whose distance is a multiple of the stride. */
const transposeConv2d = kernelOf({
  ...onWholeNumbers("filter", 0),
  prepare(args: Convolution, { output: made }: One, make) {
    const { input, filter, nchw, strideHeight, strideWidth, paddingTop, paddingLeft } = args;
    const [outputs, height, width, depth] = filter.dimensions;
    const whole = imageOf(input.dimensions, nchw);
    const weights = make.firstAxisLast(filter);
    const threadWidth = widthFor(make, nchw, outputs, depth);
    const byFours = isByFours({ width: threadWidth, depth });
    const image = byFours ? cellsOf(whole) : whole;
    const parts = partsOf(args, filter, 0, make);
    return make.output(
      (plain) => {
        const writer = onWeights(plain, input, weights, filter);
        const { index } = writer;
        const { batch, row, column, channel } = placeOf(writer.at, nchw);
        const sums = sumsFrom(plain, { bias: args.bias, channel, width: threadWidth, ...parts });
        const [top, left] = [index(plus(row, paddingTop)), index(plus(column, paddingLeft))];
        const { channelStep } = image;
        const products = {
          input,
          weights,
          depth,
          outputs,
          channel,
          channelStep,
          first: "0",
          width: threadWidth,
        };
        const add = addProducts(writer, sums, products);
        const steps = [image.batchStep, image.rowStep, image.pixelStep];
        spread(writer, { filter: height, from: top, stride: strideHeight, cells: image.height }, (ky, y, isRow) =>
          spread(writer, { filter: width, from: left, stride: strideWidth, cells: image.width }, (kx, x, isColumn) => {
            const inside = allOf(isRow, isColumn);
            add(indexAt([index(ravel([batch, y, x], steps))], [1]), indexAt([ky, kx], [width, 1]), inside);
          }),
        );
        return finish(plain, sums, args, { weights: filter, output: made }, channel);
      },
      { width: threadWidth },
    );
  },
});

interface Spread {
  readonly filter: number;
  readonly from: string;
  readonly stride: number;
  readonly cells: number;
}

/** A loop over the cells of a filter along an axis that may have a corresponding input cell: see `guarded`. */
function spread(
  writer: Writer,
  { filter, from, stride, cells }: Spread,
  body: (tap: string, cell: string, inside: string | undefined) => void,
): void {
  const { loop, index, quotient } = writer;
  loop(filter, (tap) => {
    const place = index(`${from} - ${tap}`);
    const cell = index(quotient(place, stride));
    const isBehind = stride === 1 ? [] : [`${place} - ${stride} * ${cell} == 0`];
    const isCell = [`${place} >= 0`, `${cell} < ${cells}`, ...isBehind].join(" && ");
    const within = readable(writer, cell, isCell);
    guardBody(writer, isCell, (inside) => body(tap, within, inside));
  });
}

interface FullyConnected extends Summed {
  readonly weights: KernelTensor;
}

const fullyConnected = kernelOf({
  ...onWholeNumbers("weights", 0),
  prepare(args: FullyConnected, { output }: One, make) {
    const { input, weights: matrix } = args;
    const [outputs, depth] = matrix.dimensions;
    const threadWidth = widthFor(make, false, outputs, depth);
    // On a GPU adjacent threads should read adjacent elements; a processor computes one element after the other and reads row by row.
    const isTurned = make.onGpu || threadWidth === 4;
    const weights = isTurned ? make.firstAxisLast(matrix) : matrix;
    const byFours = isByFours({ width: threadWidth, depth });
    const parts = partsOf(args, matrix, 0, make);
    return make.output(
      (plain) => {
        const writer = onWeights(plain, input, weights, matrix);
        const channel = writer.at[1];
        const sums = sumsFrom(plain, { bias: args.bias, channel, width: threadWidth, ...parts });
        const pixel = writer.index(times(byFours ? 1 : depth, writer.row));
        if (isTurned) {
          const products = {
            input,
            weights,
            depth,
            outputs,
            channel,
            channelStep: 1,
            first: "0",
            width: threadWidth,
          };
          productsOf(writer, products)(sums, indexAt([pixel], [1]), indexAt([], []));
        } else {
          const [value, weight] = [writer.read(input), writer.read(weights)];
          const first = writer.index(times(depth, channel));
          writer.loop(depth, (i) => {
            const element = value(ravel([pixel, i], [1, 1]));
            writer.line(`${sums.sums[0]} += ${element} * ${weight(ravel([first, i], [1, 1]))};`);
            carry(writer, sums);
          });
        }
        return finish(plain, sums, args, { weights: matrix, output }, channel);
      },
      { width: threadWidth },
    );
  },
});

export const convolutionKernels = {
  CONV_2D: conv2d,
  DEPTHWISE_CONV_2D: depthwiseConv2d,
  FULLY_CONNECTED: fullyConnected,
  GROUPED_CONV_2D: groupedConv2d,
  TRANSPOSE_CONV_2D: transposeConv2d,
} satisfies GpujsTable;
