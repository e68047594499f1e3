/**
 * Convolutions and FULLY_CONNECTED. Where the mode allows it and the channels divide by four, a thread makes four channels, which
 * share what they read of the input; bias and activation are part of the kernel.
 */
import type { KernelTensor } from "@nnhal/backend";
import type { TensorInfo } from "@nnhal/operations";
import { type At, quotient } from "./_code.ts";
import { imageOf, placeOf } from "./_image.ts";
import { type GpujsKernel, isReal, kernelOf, type Make } from "./_kernel.ts";
import { centred } from "./_quantised.ts";
import { type Convolution, finish, type Grouped, loop, plus, type Summed, sumsFrom, times } from "./_sums.ts";
import { walkWindow } from "./_window.ts";

interface One {
  readonly output: TensorInfo;
}

/** Quantised tensors are read as the whole numbers q − zeroPoint. */
const onWholeNumbers = { accepts: isReal, stored: true } as const;

/** Four elements a thread where they lie side by side, `share`, what they have in common, divides so, and it is worth it. */
function widthFor({ vectors }: Make, nchw: boolean, share: number, reads: number): 1 | 4 {
  return reads >= vectors && !nchw && share % 4 === 0 ? 4 : 1;
}

/** Sums over the channels of a cell: weights are [cells, depth, outputs]. */
function sumChannels(
  sums: readonly string[],
  { input, weights }: { readonly input: At; readonly weights: At },
  {
    depth,
    outputs,
    channel,
    channelStep,
    unrolls,
  }: Readonly<Record<"depth" | "outputs" | "channelStep", number>> & { channel: string; unrolls: boolean },
): (pixel: string, tap: string) => string {
  return (pixel, tap) => {
    const inner = loop("i", depth, unrolls, (index) => {
      const value = input(`${pixel} + ${times(channelStep, index)}`);
      if (sums.length === 1) return `${sums[0]} += ${value} * ${weights(`q + ${times(outputs, index)}`)};`;
      const products = sums.map((sum, place) => `${sum} += v * w${place};`);
      const loads = sums.map(
        (_, place) => `const w${place} = ${weights(plus(`q + ${times(outputs, index)}`, place))};`,
      );
      return `{\nconst v = ${value};\n${[...loads, ...products].join("\n")}\n}`;
    });
    return `const q = ${depth * outputs} * ${tap} + ${channel};\n${inner}`;
  };
}

function convolve(args: Grouped, output: TensorInfo, make: Make) {
  const { input, filter, nchw, groups } = args;
  const [outputs, height, width, depth] = filter.dimensions;
  const image = imageOf(input.dimensions, nchw);
  // [outputs, height, width, depth] to [height, width, depth, outputs]
  const weights = make.transposed(filter, filter.dimensions, [1, 2, 3, 0]);
  const threadWidth = widthFor(make, nchw, outputs / groups, height * width * depth);
  return make.output(
    (writer) => {
      const place = placeOf(writer.at, nchw);
      const channel = writer.define(place.channel);
      const reads = { input: centred(writer.read(input), input), weights: centred(writer.read(weights), filter) };
      const sums = sumsFrom(writer, writer.read(args.bias), channel, threadWidth);
      const share = image.channelStep * depth;
      const first = groups === 1 ? "0" : writer.define(`${share} * ${quotient(channel, outputs / groups)}`);
      const sum = sumChannels(sums, reads, {
        depth,
        outputs,
        channel,
        channelStep: image.channelStep,
        unrolls: !make.onGpu,
      });
      walkWindow(writer, image, { ...args, height, width }, place, (pixel, tap) =>
        groups === 1 ? sum(pixel, tap) : `const p = ${pixel} + ${first};\n${sum("p", tap)}`,
      );
      return finish(writer, sums, args, { weights: filter, output }, channel);
    },
    { width: threadWidth },
  );
}

const conv2d = kernelOf({
  ...onWholeNumbers,
  prepare: (args: Omit<Grouped, "groups">, { output }: One, make) => convolve({ ...args, groups: 1 }, output, make),
});

const groupedConv2d = kernelOf({
  ...onWholeNumbers,
  prepare: (args: Omit<Grouped, "dilationWidth" | "dilationHeight">, { output }: One, make) =>
    convolve({ ...args, dilationWidth: 1, dilationHeight: 1 }, output, make),
});

const depthwiseConv2d = kernelOf({
  ...onWholeNumbers,
  prepare(args: Omit<Grouped, "groups">, { output }: One, make) {
    const { input, filter, nchw } = args;
    const [, height, width, outputs] = filter.dimensions;
    const image = imageOf(input.dimensions, nchw);
    const multiplier = outputs / image.channels;
    const threadWidth = widthFor(make, nchw, multiplier === 1 ? outputs : 1, 0);
    return make.output(
      (writer) => {
        const place = placeOf(writer.at, nchw);
        const channel = writer.define(place.channel);
        const [from, weights] = [centred(writer.read(input), input), centred(writer.read(filter), filter)];
        const sums = sumsFrom(writer, writer.read(args.bias), channel, threadWidth);
        const source = writer.define(`${image.channelStep} * ${quotient(channel, multiplier)}`);
        walkWindow(writer, image, { ...args, height, width }, place, (pixel, tap) =>
          [
            `const p = ${pixel} + ${source};`,
            `const q = ${outputs} * ${tap} + ${channel};`,
            ...sums.map((sum, at) => `${sum} += ${from(plus("p", at))} * ${weights(plus("q", at))};`),
          ].join("\n"),
        );
        return finish(writer, sums, args, { weights: filter, output }, channel);
      },
      { width: threadWidth },
    );
  },
});

/** Each output gathers what the cells of the input spread to it: those whose distance to it is a multiple of the stride. */
const transposeConv2d = kernelOf({
  ...onWholeNumbers,
  prepare(args: Convolution, { output: made }: One, make) {
    const { input, filter, nchw, strideHeight, strideWidth, paddingTop, paddingLeft } = args;
    const [outputs, height, width, depth] = filter.dimensions;
    const image = imageOf(input.dimensions, nchw);
    const weights = make.transposed(filter, filter.dimensions, [1, 2, 3, 0]);
    const threadWidth = widthFor(make, nchw, outputs, depth);
    return make.output(
      (writer) => {
        const { define, line } = writer;
        const { batch, row, column, channel } = placeOf(writer.at, nchw);
        const output = define(channel);
        const reads = { input: centred(writer.read(input), input), weights: centred(writer.read(weights), filter) };
        const sums = sumsFrom(writer, writer.read(args.bias), output, threadWidth);
        const [top, left] = [define(`${row} + ${paddingTop}`), define(`${column} + ${paddingLeft}`)];
        const start = define(`${image.batchStep} * ${batch}`);
        const sum = sumChannels(sums, reads, {
          depth,
          outputs,
          channel: output,
          channelStep: image.channelStep,
          unrolls: !make.onGpu,
        });
        line(spread("ky", "iy", height, top, strideHeight, image.height));
        line(spread("kx", "ix", width, left, strideWidth, image.width));
        line(`const p = ${start} + ${image.rowStep} * iy + ${image.pixelStep} * ix;`);
        line(`const tap = ${width} * ky + kx;\n${sum("p", "tap")}`);
        line("}\n}\n}\n}");
        return finish(writer, sums, args, { weights: filter, output: made }, output);
      },
      { width: threadWidth },
    );
  },
});

/** The head of a loop over the cells of a filter along an axis, where a cell of the input is behind. */
function spread(filter: string, cell: string, extent: number, from: string, stride: number, cells: number): string {
  return `for (let ${filter} = 0; ${filter} < ${extent}; ${filter}++) {
const t${filter} = ${from} - ${filter};
const ${cell} = ${quotient(`t${filter}`, stride)};
if (t${filter} > -0.5 && ${cell} < ${cells - 0.5} && t${filter} - ${stride} * ${cell} < 0.5) {`;
}

interface FullyConnected extends Summed {
  readonly weights: KernelTensor;
}

const fullyConnected = kernelOf({
  ...onWholeNumbers,
  prepare(args: FullyConnected, { output }: One, make) {
    const { input, weights, bias } = args;
    const [outputs, depth] = weights.dimensions;
    // Threads side by side read side by side on a GPU; a processor reads one row after the other.
    const byRows = make.onGpu ? make.transposed(weights, weights.dimensions, [1, 0]) : weights;
    const [step, rowStep] = make.onGpu ? [outputs, 1] : [1, depth];
    const threadWidth = widthFor(make, false, outputs, depth);
    return make.output(
      (writer) => {
        const { define, line } = writer;
        const [batch, channel] = writer.at;
        const [from, matrix] = [centred(writer.read(input), input), centred(writer.read(byRows), weights)];
        const sums = sumsFrom(writer, writer.read(bias), channel, threadWidth);
        const start = define(`${depth} * ${batch}`);
        const rows = sums.map((_, place) => define(`${rowStep} * (${plus(channel, place)})`));
        line(
          loop("i", depth, !make.onGpu, (index) => {
            const products = sums.map(
              (sum, place) =>
                `${sum} += v * ${matrix(`${rows[place]} + ${step === 1 ? index : `${step} * (${index})`}`)};`,
            );
            return `{\nconst v = ${from(`${start} + ${index}`)};\n${products.join("\n")}\n}`;
          }),
        );
        return finish(writer, sums, args, { weights, output }, channel);
      },
      { dimensions: output.dimensions, width: threadWidth },
    );
  },
});

export const convolutionKernels = {
  CONV_2D: conv2d,
  DEPTHWISE_CONV_2D: depthwiseConv2d,
  FULLY_CONNECTED: fullyConnected,
  GROUPED_CONV_2D: groupedConv2d,
  TRANSPOSE_CONV_2D: transposeConv2d,
} satisfies Record<string, GpujsKernel>;
