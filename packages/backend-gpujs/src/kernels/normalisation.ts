/** Softmax and normalisations along an axis. */
import type { KernelTensor } from "@nnhal/backend";
import { extentProduct, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { type Source, scalar, type Writer } from "./_code.ts";
import { imageOf, placeOf } from "./_image.ts";
import { literal, ravel } from "./_index.ts";
import { type GpujsTable, isReal, kernelOf, type Make } from "./_kernel.ts";
import { isQuantised, requantiseValue, subtractZeroPoint } from "./_quantised.ts";

interface AlongAxis {
  readonly input: KernelTensor;
  readonly axis: number;
}

interface One {
  readonly output: TensorInfo;
}

/** A tensor as [outer, extent, inner], the axis in the middle. */
function splitAt({ input: { dimensions }, axis }: AlongAxis) {
  const along = resolveAxis(axis, dimensions.length);
  const outer = extentProduct(dimensions, 0, along);
  const inner = extentProduct(dimensions, along + 1);
  const whole = [outer, dimensions[along], inner];
  // Without an inner extent, elements along the axis are adjacent.
  const grid = inner === 1 ? [outer, dimensions[along]] : whole;
  return { extent: dimensions[along], inner, slices: [outer, inner], grid };
}

type Split = ReturnType<typeof splitAt>;

/** One number for each slice along the axis. `take` returns the new `value` after an element, as code. */
function reduceSlices(
  make: Make,
  { extent, inner, slices }: Split,
  input: Source,
  start: string,
  take: (writer: Writer, slice: string) => (x: string) => string,
): Source {
  return make.stage({ dimensions: slices }, (writer) => {
    const { define, index, line, loop, read, at } = writer;
    const first = index(ravel(at, [extent * inner, 1]));
    const taken = take(writer, writer.flat);
    line(`let value = ${start};`);
    loop(extent, (i) => line(`value = ${taken(define(read(input)(ravel([first, i], [1, inner]))))};`));
    return "value";
  });
}

/** The index of the slice of an element, as code. */
function sliceOf({ inner }: Split, [outer, , column]: readonly string[]): string {
  return inner === 1 ? outer : ravel([outer, column], [inner, 1]);
}

type Softmax = AlongAxis & { readonly beta: number };

/** `factor`: what a difference of elements is multiplied by. */
function softmaxStages(args: AlongAxis, factor: number, make: Make) {
  const split = splitAt(args);
  const greatest = reduceSlices(
    make,
    split,
    args.input,
    literal(Number.NEGATIVE_INFINITY),
    () => (x) => `Math.max(value, ${x})`,
  );
  const sums = reduceSlices(make, split, args.input, "0", (writer, slice) => {
    const most = writer.define(writer.read(greatest)(slice));
    const times = scalar(writer, factor);
    return (x) => `value + Math.exp((${x} - ${most}) * ${times})`;
  });
  return { split, greatest, sums };
}

/** Differences of quantised elements are whole numbers: real ones may be beyond float32. */
const softmax = kernelOf({
  accepts: isReal,
  stored: true,
  prepare(args: Softmax, { output }: One, make) {
    const { input, beta } = args;
    const factor = isQuantised(input.type) ? Math.min(input.scale * beta, Number.MAX_VALUE) : beta;
    const { split, greatest, sums } = softmaxStages(args, factor, make);
    return make.output(
      (writer) => {
        const { read, index, at, flat } = writer;
        const slice = index(sliceOf(split, at));
        const times = scalar(writer, factor);
        const power = `Math.exp((${read(input)(flat)} - ${read(greatest)(slice)}) * ${times})`;
        return requantiseValue(writer, `${power} / ${read(sums)(slice)}`, output);
      },
      { dimensions: split.grid },
    );
  },
  leads: false,
});

const logSoftmax = kernelOf({
  prepare(args: Softmax, _: One, make) {
    const { split, greatest, sums } = softmaxStages(args, args.beta, make);
    return make.output(
      (writer) => {
        const { read, index, at, flat } = writer;
        const slice = index(sliceOf(split, at));
        const beta = scalar(writer, args.beta);
        return `(${read(args.input)(flat)} - ${read(greatest)(slice)}) * ${beta} - Math.log(${read(sums)(slice)})`;
      },
      { dimensions: split.grid },
    );
  },
  leads: false,
});

/** The length does not depend on the scale, so whole numbers are as good as the real ones, and as great as they need to be. */
const l2Normalization = kernelOf({
  accepts: isReal,
  stored: true,
  prepare(args: AlongAxis, { output }: One, make) {
    const { input } = args;
    const split = splitAt(args);
    const element = (x: string) => subtractZeroPoint(x, input);
    const squares = reduceSlices(make, split, input, "0", ({ define }) => (x) => {
      const whole = define(element(x));
      return `value + ${whole} * ${whole}`;
    });
    return make.output(
      (writer) => {
        const { read, at, flat } = writer;
        const length = `Math.max(Math.sqrt(${read(squares)(sliceOf(split, at))}), 0.000001)`;
        return requantiseValue(writer, `${element(read(input)(flat))} / ${length}`, output);
      },
      { dimensions: split.grid },
    );
  },
  leads: false,
});

interface LocalResponse extends AlongAxis {
  readonly radius: number;
  readonly bias: number;
  readonly alpha: number;
  readonly beta: number;
}

const localResponseNormalization = kernelOf({
  prepare({ radius, bias, alpha, beta, ...args }: LocalResponse, _: One, make) {
    const { extent, inner, grid } = splitAt(args);
    const reach = Math.min(radius, extent - 1);
    return make.output(
      (writer) => {
        const { read, define, index, line, loop, block, at, flat } = writer;
        const [first, factor, power] = [bias, alpha, -beta].map((each) => scalar(writer, each));
        const element = index(flat);
        const from = read(args.input);
        line("let sum = 0;");
        loop(2 * reach + 1, (i) => {
          const place = index(`${at[1]} + ${i} - ${reach}`);
          block(`if (${place} >= 0 && ${place} < ${extent})`, () => {
            const x = define(from(`${ravel([element, i], [1, inner])} - ${reach * inner}`));
            line(`sum += ${x} * ${x};`);
          });
        });
        return `${from(element)} * Math.pow(${first} + ${factor} * sum, ${power})`;
      },
      { dimensions: grid },
    );
  },
  leads: false,
});

interface Instance {
  readonly input: KernelTensor;
  readonly gamma: number;
  readonly beta: number;
  readonly epsilon: number;
  readonly nchw: boolean;
}

const instanceNormalization = kernelOf({
  prepare({ input, gamma, beta, epsilon, nchw }: Instance, _: One, make) {
    const image = imageOf(input.dimensions, nchw);
    const pixels = image.height * image.width;
    const channels = [image.batches, image.channels];
    const average = (take: (writer: Writer) => (x: string) => string) =>
      make.stage({ dimensions: channels }, (writer) => {
        const { define, index, line, loop, read, at } = writer;
        const first = index(ravel(at, [image.batchStep, image.channelStep]));
        const taken = take(writer);
        line("let value = 0;");
        loop(pixels, (i) => {
          line(`value += ${taken(define(read(input)(ravel([first, i], [1, image.pixelStep]))))};`);
        });
        return `value / ${pixels}`;
      });
    const means = average(() => (x) => x);
    // The mean of large elements is rounded, and the mean of what is left is the rest of it.
    const rests = average(({ define, read, flat }) => {
      const mean = define(read(means)(flat));
      return (x) => `(${x} - ${mean})`;
    });
    const variances = average(({ define, read, flat }) => {
      const [mean, rest] = [define(read(means)(flat)), define(read(rests)(flat))];
      return (x) => `(${x} - ${mean} - ${rest}) * (${x} - ${mean} - ${rest})`;
    });
    return make.output((writer) => {
      const { read, index, at, flat } = writer;
      const { batch, channel } = placeOf(at, nchw);
      const slice = index(ravel([batch, channel], [image.channels, 1]));
      const centred = `(${read(input)(flat)} - ${read(means)(slice)} - ${read(rests)(slice)})`;
      const deviation = `Math.sqrt(${read(variances)(slice)} + ${scalar(writer, epsilon)})`;
      // Divided first: a large gamma must not overflow before the division.
      return `${centred} / ${deviation} * ${scalar(writer, gamma)} + ${scalar(writer, beta)}`;
    });
  },
});

export const normalisationKernels = {
  INSTANCE_NORMALIZATION: instanceNormalization,
  L2_NORMALIZATION: l2Normalization,
  LOCAL_RESPONSE_NORMALIZATION: localResponseNormalization,
  LOG_SOFTMAX: logSoftmax,
  SOFTMAX: softmax,
} satisfies GpujsTable;
