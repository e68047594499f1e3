/** Resizing of images. The source pixels of each row and column are computed here, in float32 as in the HAL's executor. */
import type { KernelTensor } from "@nnhal/backend";
import { clamp, isFloat, roundHalfAway, type TensorInfo } from "@nnhal/operations";
import { neighboursInSteps, RESIZE_STEPS } from "@nnhal/operations/compiling";
import type { Packed, Writer } from "./_code.ts";
import { isExact } from "./_exact.ts";
import { imageOf, placeOf } from "./_image.ts";
import { ravel } from "./_index.ts";
import { type GpujsTable, isReal, kernelOf } from "./_kernel.ts";

interface Alignment {
  readonly alignCorners: boolean;
  readonly halfPixelCenters: boolean;
}

interface Resize extends Alignment {
  readonly input: KernelTensor;
  readonly width: number;
  readonly height: number;
  readonly nchw: boolean;
}

interface One {
  readonly output: TensorInfo;
}

/** The position in the input of each output index along an axis. */
function positions(input: number, output: number, { alignCorners, halfPixelCenters }: Alignment): number[] {
  const step = Math.fround(alignCorners && output > 1 ? (input - 1) / (output - 1) : input / output);
  const shift = halfPixelCenters ? 0.5 : 0;
  return Array.from({ length: output }, (_, index) => Math.fround(Math.fround(index + shift) * step));
}

const resizeNearestNeighbor = kernelOf({
  accepts: isExact,
  stored: true,
  prepare({ input, width, height, nchw, ...alignment }: Resize, _: One, make) {
    const image = imageOf(input.dimensions, nchw);
    const round = alignment.alignCorners ? roundHalfAway : Math.floor;
    const nearest = (from: number, to: number, step: number): Packed => ({
      packed: Float32Array.from(positions(from, to, alignment), (place) => step * clamp(round(place), 0, from - 1)),
    });
    const rows = nearest(image.height, height, image.rowStep);
    const columns = nearest(image.width, width, image.pixelStep);
    return make.output(({ read, truncate: whole, at }) => {
      const { batch, row, column, channel } = placeOf(at, nchw);
      const places = [batch, whole(read(rows)(row)), whole(read(columns)(column)), channel];
      return read(input)(ravel(places, [image.batchStep, 1, 1, image.channelStep]));
    });
  },
});

/** The two neighbours of each position, as offsets in the input, and the weight of the second one. */
function neighbours(from: number, to: number, step: number, alignment: Alignment) {
  const shift = alignment.halfPixelCenters ? 0.5 : 0;
  const places = positions(from, to, alignment).map((place) => Math.fround(place - shift));
  const before = places.map((place) => clamp(Math.floor(place), 0, from - 1));
  const pack = (values: readonly number[]): Packed => ({ packed: Float32Array.from(values) });
  return {
    lower: pack(before.map((place) => step * place)),
    upper: pack(before.map((place) => step * Math.min(place + 1, from - 1))),
    // Outside the centres of the first and last pixels there is nothing to interpolate.
    share: pack(places.map((place, index) => clamp(place - before[index], 0, 1))),
  };
}

const resizeReals = kernelOf({
  accepts: isReal,
  prepare({ input, width, height, nchw, ...alignment }: Resize, _: One, make) {
    const image = imageOf(input.dimensions, nchw);
    const rows = neighbours(image.height, height, image.rowStep, alignment);
    const columns = neighbours(image.width, width, image.pixelStep, alignment);
    return make.output(({ read, define, index, truncate: whole, at }: Writer) => {
      const { batch, row, column, channel } = placeOf(at, nchw);
      const from = read(input);
      const first = index(ravel([batch, channel], [image.batchStep, image.channelStep]));
      const [upper, lower] = [whole(read(rows.lower)(row)), whole(read(rows.upper)(row))];
      const [left, right] = [whole(read(columns.lower)(column)), whole(read(columns.upper)(column))];
      const across = define(read(columns.share)(column));
      const between = (line: string) =>
        define(
          `${from(`${first} + ${line} + ${left}`)} * (1 - ${across}) + ${from(`${first} + ${line} + ${right}`)} * ${across}`,
        );
      const [above, below] = [between(upper), between(lower)];
      const down = define(read(rows.share)(row));
      return `${above} * (1 - ${down}) + ${below} * ${down}`;
    });
  },
});

/**
 * Interpolates stored bytes in whole numbers, as the reference does. Sums of 30 bits do not fit float32: what the rows differ by is divided at 2^10,
 * and each part is exact.
 */
const resizeBytes = kernelOf({
  accepts: isExact,
  stored: true,
  prepare({ input, width, height, nchw, ...alignment }: Resize, _: One, make) {
    const image = imageOf(input.dimensions, nchw);
    const along = (from: number, to: number, step: number) => {
      const { before, after, share } = neighboursInSteps(from, to, alignment);
      const offsets = (places: Int32Array): Packed => ({ packed: Float32Array.from(places, (place) => step * place) });
      return { lower: offsets(before), upper: offsets(after), share: { packed: Float32Array.from(share) } };
    };
    const rows = along(image.height, height, image.rowStep);
    const columns = along(image.width, width, image.pixelStep);
    return make.output(({ read, define, index, truncate: whole, at }: Writer) => {
      const { batch, row, column, channel } = placeOf(at, nchw);
      const from = read(input);
      const first = index(ravel([batch, channel], [image.batchStep, image.channelStep]));
      const [upper, lower] = [whole(read(rows.lower)(row)), whole(read(rows.upper)(row))];
      const [left, right] = [whole(read(columns.lower)(column)), whole(read(columns.upper)(column))];
      const across = define(read(columns.share)(column));
      const down = define(read(rows.share)(row));
      const between = (line: string) => {
        const begin = define(from(`${first} + ${line} + ${left}`));
        return define(`${begin} * ${RESIZE_STEPS} + (${from(`${first} + ${line} + ${right}`)} - ${begin}) * ${across}`);
      };
      const [above, below] = [between(upper), between(lower)];
      const difference = define(`${below} - ${above}`);
      const high = define(`Math.floor(${difference} / 1024)`);
      const rest = define(`Math.floor((${difference} - ${high} * 1024) * ${down} / 1024)`);
      return `Math.floor((2 * ${above} + ${high} * ${down} + ${rest} + 2048) / 4096)`;
    });
  },
});

const resizeBilinear: typeof resizeReals = {
  ...resizeReals,
  on(machine) {
    const [reals, bytes] = [resizeReals.on(machine), resizeBytes.on(machine)];
    const of = ({ input }: Resize) => (isFloat(input.type) ? reals : bytes);
    return {
      ...reals,
      prepare: (args, outputs, setup) => of(args).prepare(args, outputs, setup),
    };
  },
};

export const resizeKernels = {
  RESIZE_BILINEAR: resizeBilinear,
  RESIZE_NEAREST_NEIGHBOR: resizeNearestNeighbor,
} satisfies GpujsTable;
