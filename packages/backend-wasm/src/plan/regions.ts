/** Operations on boxes in images: ROI_ALIGN, ROI_POOLING, HEATMAP_MAX_KEYPOINT and AXIS_ALIGNED_BBOX_TRANSFORM. */
import type { KernelTensor } from "@nnhal/backend";
import { imageLayout, isFloat, type TensorInfo } from "@nnhal/operations";
import { outputOf } from "./builder.ts";
import { awayFromZero, realElement, storeReal } from "./elements.ts";
import { calc, choose, convertFormula, type Formula, integer, realNumber } from "./formula.ts";
import type { LoweringTable } from "./lowering.ts";
import { exponentialOf, powersOfTwo } from "./real-functions.ts";
import { addRoutine, type Place, type Routine } from "./routine.ts";

interface Regions {
  readonly input: KernelTensor;
  readonly regions: KernelTensor;
  readonly batches: KernelTensor;
  readonly outputHeight: number;
  readonly outputWidth: number;
  readonly heightStride: number;
  readonly widthStride: number;
  readonly nchw: boolean;
}

/** Fails unless a condition holds. */
function require(routine: Routine, what: string, truth: Formula): void {
  routine.expect(what, truth, 1, 1);
}

/** The four corners of a box as real numbers, which are in order. */
function cornersOf(
  routine: Routine,
  boxes: Place,
  info: TensorInfo,
  box: Formula,
): readonly [Formula, Formula, Formula, Formula] {
  const at = routine.local(calc("mul", box, 4));
  const [x1, y1, x2, y2] = [0, 1, 2, 3].map((side) =>
    routine.local(realElement(boxes, info, calc("add", at, side))),
  ) as [Formula, Formula, Formula, Formula];
  require(routine, "the order of a box's corners", calc("and", calc("le", x1, x2), calc("le", y1, y2)));
  return [x1, y1, x2, y2];
}

/** The region of a unit, in pixels of the feature map. */
function regionOf(routine: Routine, args: Regions, boxes: Place, batches: Place, region: Formula) {
  const { height, width, batches: images } = imageLayout(args.input.dimensions, args.nchw);
  const batch = routine.local(batches.at(region));
  routine.expect("batch index", batch, 0, images - 1);
  const corners = cornersOf(routine, boxes, args.regions, region);
  const strides = [args.widthStride, args.heightStride, args.widthStride, args.heightStride];
  const [x1, y1, x2, y2] = corners.map((corner, side) => routine.local(calc("div", corner, strides[side] ?? 1))) as [
    Formula,
    Formula,
    Formula,
    Formula,
  ];
  const begins = calc("and", calc("ge", x1, 0), calc("ge", y1, 0));
  const ends = calc("and", calc("le", x2, width), calc("le", y2, height));
  require(routine, "a region inside of the feature map", calc("and", begins, ends));
  return { batch, x1, y1, x2, y2 };
}

/** A sample along one axis: two neighbours and the share of the second. */
function sampleOf(routine: Routine, place: Formula, extent: number) {
  const pixel = routine.local(calc("floor", place));
  const first = routine.local(convertFormula("toWhole", calc("min", pixel, extent - 1)));
  const second = routine.local(convertFormula("toWhole", calc("min", calc("add", pixel, 1), extent - 1)));
  const isBeyond = calc("ge", pixel, extent - 1);
  const share = routine.local(choose(isBeyond, realNumber(0), calc("sub", place, pixel)));
  return { first, second, share };
}

/** a + (b - a) · share, as a weighted sum. */
const mix = (a: Formula, b: Formula, share: Formula): Formula =>
  calc("add", calc("mul", calc("sub", realNumber(1), share), a), calc("mul", share, b));

/** The first pixel of a bin and the one behind its last, along one axis. Borders are computed in float32. */
function binOf(routine: Routine, from: Formula, to: Formula, bins: number, bin: Formula, extent: number) {
  const start = routine.local(awayFromZero(from));
  const last = routine.local(awayFromZero(to));
  const size = convertFormula("toSingle", calc("div", calc("max", calc("add", calc("sub", last, start), 1), 1), bins));
  const border = (at: Formula) =>
    convertFormula(
      "toSingle",
      calc("add", convertFormula("toSingle", calc("mul", size, convertFormula("toReal", at))), start),
    );
  const within = (value: Formula) => routine.local(convertFormula("toWhole", calc("min", value, extent)));
  return {
    begin: within(calc("floor", border(bin))),
    end: within(calc("ceil", border(calc("add", bin, 1)))),
  };
}

/** The place of a bin: its region, its row and its column. */
function placeOf(routine: Routine, { outputHeight, outputWidth }: Regions) {
  const bins = outputHeight * outputWidth;
  const region = routine.local(calc("div", routine.unit, bins));
  const bin = routine.local(calc("rem", routine.unit, bins));
  return {
    region,
    row: routine.local(calc("div", bin, outputWidth)),
    column: routine.local(calc("rem", bin, outputWidth)),
  };
}

/** The lowerings. */
export const regions: LoweringTable = {
  ROI_ALIGN(args, { output }, builder) {
    const { input, regions: boxes, outputHeight, outputWidth, heightSamples, widthSamples } = args;
    const target = outputOf(builder, output);
    const [count = 0] = boxes.dimensions;
    const image = imageLayout(input.dimensions, args.nchw);
    const out = imageLayout(output.dimensions, args.nchw);
    const [source, corners, batches] = [input, boxes, args.batches].map(builder.read);
    if (source === undefined || corners === undefined || batches === undefined)
      throw new TypeError("an operand has no value");
    const bins = count * outputHeight * outputWidth;
    const samples = Math.max(1, heightSamples) * Math.max(1, widthSamples);
    addRoutine(builder, "ROI_ALIGN", bins, 40 * samples * image.channels, (routine) => {
      const [pixels, boxPlace, batchPlace] = [source, corners, batches].map((value) => routine.read(value)) as [
        Place,
        Place,
        Place,
      ];
      const results = routine.write(target);
      const { region, row, column } = placeOf(routine, args);
      const { batch, x1, y1, x2, y2 } = regionOf(routine, args, boxPlace, batchPlace, region);
      const tall = routine.local(calc("div", calc("max", calc("sub", y2, y1), 1), outputHeight));
      const wide = routine.local(calc("div", calc("max", calc("sub", x2, x1), 1), outputWidth));
      const countOf = (fixed: number, size: Formula) =>
        routine.local(fixed > 0 ? realNumber(fixed) : calc("ceil", size));
      const [down, across] = [countOf(heightSamples, tall), countOf(widthSamples, wide)];
      const sampleAt = (start: Formula, bin: Formula, sample: Formula, all: Formula, size: Formula, extent: number) => {
        const part = calc("div", calc("add", convertFormula("toReal", sample), 0.5), all);
        return sampleOf(
          routine,
          routine.local(calc("add", start, calc("mul", calc("add", convertFormula("toReal", bin), part), size))),
          extent,
        );
      };
      routine.each(0, integer(image.channels), (channel) => {
        const sum = routine.local(realNumber(0));
        const base = routine.local(
          calc("add", calc("mul", batch, image.batchStep), calc("mul", channel, image.channelStep)),
        );
        routine.each(0, convertFormula("toWhole", down), (i) => {
          const vertical = sampleAt(y1, row, i, down, tall, image.height);
          routine.each(0, convertFormula("toWhole", across), (j) => {
            const horizontal = sampleAt(x1, column, j, across, wide, image.width);
            const at = (y: Formula, x: Formula) => {
              const offset = calc("add", calc("mul", y, image.rowStep), calc("mul", x, image.pixelStep));
              return realElement(pixels, input, calc("add", base, offset));
            };
            const line = (y: Formula) => mix(at(y, horizontal.first), at(y, horizontal.second), horizontal.share);
            const value = mix(line(vertical.first), line(vertical.second), vertical.share);
            routine.set(sum, calc("add", sum, value));
          });
        });
        const mean = routine.local(calc("div", sum, calc("mul", down, across)));
        storeReal(routine, results, output, placeIn(out, region, row, column, channel), mean);
      });
    });
    return target;
  },
  ROI_POOLING(args, { output }, builder) {
    const { input, regions: boxes, outputHeight, outputWidth } = args;
    const target = outputOf(builder, output);
    const [count = 0] = boxes.dimensions;
    const image = imageLayout(input.dimensions, args.nchw);
    const out = imageLayout(output.dimensions, args.nchw);
    const [source, corners, batches] = [builder.read(input), builder.read(boxes), builder.read(args.batches)];
    const cells = (image.height / outputHeight + 1) * (image.width / outputWidth + 1);
    addRoutine(builder, "ROI_POOLING", count * outputHeight * outputWidth, 4 * cells * image.channels, (routine) => {
      const [pixels, boxPlace, batchPlace] = [routine.read(source), routine.read(corners), routine.read(batches)];
      const results = routine.write(target);
      const { region, row, column } = placeOf(routine, args);
      const { batch, x1, y1, x2, y2 } = regionOf(routine, args, boxPlace, batchPlace, region);
      const down = binOf(routine, y1, y2, outputHeight, row, image.height);
      const across = binOf(routine, x1, x2, outputWidth, column, image.width);
      const isReal = isFloat(input.type);
      const none = isReal ? realNumber(Number.NEGATIVE_INFINITY) : integer(-0x8000_0000);
      routine.each(0, integer(image.channels), (channel) => {
        const most = routine.local(none);
        const base = calc("add", calc("mul", batch, image.batchStep), calc("mul", channel, image.channelStep));
        routine.each(down.begin, down.end, (y) => {
          const line = routine.local(calc("add", base, calc("mul", y, image.rowStep)));
          routine.each(across.begin, across.end, (x) => {
            const value = routine.local(pixels.at(calc("add", line, calc("mul", x, image.pixelStep))));
            routine.when(calc("gt", value, most), () => routine.set(most, value));
          });
        });
        const zero = isReal ? realNumber(input.zeroPoint) : integer(input.zeroPoint);
        const value = choose(calc("eq", most, none), zero, most);
        routine.store(results, placeIn(out, region, row, column, channel), value);
      });
    });
    return target;
  },
  HEATMAP_MAX_KEYPOINT({ heatmaps, boxes, nchw }, outputs, builder) {
    const [scores, keypoints] = [outputOf(builder, outputs.scores), outputOf(builder, outputs.keypoints)];
    const image = imageLayout(heatmaps.dimensions, nchw);
    const size = image.height;
    const [source, corners] = [builder.read(heatmaps), builder.read(boxes)];
    addRoutine(builder, "HEATMAP_MAX_KEYPOINT", image.batches * image.channels, 4 * size * size, (routine) => {
      const [maps, boxPlace] = [routine.read(source), routine.read(corners)];
      const [scorePlace, keypointPlace] = [routine.write(scores), routine.write(keypoints)];
      const box = routine.local(calc("div", routine.unit, image.channels));
      const channel = calc("rem", routine.unit, image.channels);
      const [x1, y1, x2, y2] = cornersOf(routine, boxPlace, boxes, box);
      const base = routine.local(
        calc("add", calc("mul", box, image.batchStep), calc("mul", channel, image.channelStep)),
      );
      const value = (pixel: Formula) =>
        realElement(maps, heatmaps, calc("add", base, calc("mul", pixel, image.pixelStep)));
      const [best, most] = [routine.local(integer(0)), routine.local(value(integer(0)))];
      routine.each(1, integer(size * size), (pixel) => {
        const other = routine.local(value(pixel));
        routine.when(calc("gt", other, most), () => {
          routine.set(best, pixel);
          routine.set(most, other);
        });
      });
      const [bestX, bestY] = [routine.local(calc("rem", best, size)), routine.local(calc("div", best, size))];
      const mirror = (place: Formula) =>
        choose(calc("lt", place, 0), integer(1), choose(calc("ge", place, size), integer(size - 2), place));
      const near = (dy: number, dx: number) => {
        const line = calc("mul", mirror(calc("add", bestY, dy)), size);
        return routine.local(value(calc("add", line, mirror(calc("add", bestX, dx)))));
      };
      const [centre, left, right, up, low] = [near(0, 0), near(0, -1), near(0, 1), near(-1, 0), near(1, 0)];
      const half = (a: Formula, b: Formula) => routine.local(calc("div", calc("sub", a, b), 2));
      const [gx, gy] = [half(right, left), half(low, up)];
      const second = (a: Formula, b: Formula) => routine.local(calc("add", calc("sub", a, calc("mul", centre, 2)), b));
      const [hxx, hyy] = [second(left, right), second(up, low)];
      const crossed = calc("add", calc("sub", calc("sub", near(1, 1), near(1, -1)), near(-1, 1)), near(-1, -1));
      const hxy = routine.local(calc("div", crossed, 4));
      const determinant = routine.local(calc("sub", calc("mul", hxx, hyy), calc("mul", hxy, hxy)));
      const [score, x, y] = [
        routine.local(centre),
        routine.local(convertFormula("toReal", bestX)),
        routine.local(convertFormula("toReal", bestY)),
      ];
      const least = calc("add", calc("mul", calc("mul", hxx, 1e-5), hyy), 1e-5);
      routine.when(calc("eq", calc("lt", calc("abs", determinant), least), 0), () => {
        const quotient = (a: Formula, b: Formula, c: Formula, d: Formula) =>
          routine.local(calc("div", calc("sub", calc("mul", a, b), calc("mul", c, d)), determinant));
        const [dx, dy] = [quotient(hxy, gy, hyy, gx), quotient(hxy, gx, hxx, gy)];
        const farthest = routine.local(calc("max", calc("abs", dx), calc("abs", dy)));
        routine.when(calc("gt", farthest, 1.5), () => {
          const factor = routine.local(calc("div", realNumber(1.5), farthest));
          routine.set(dx, calc("mul", dx, factor));
          routine.set(dy, calc("mul", dy, factor));
        });
        const slope = calc("add", calc("add", centre, calc("mul", gx, dx)), calc("mul", gy, dy));
        const squares = calc(
          "add",
          calc("add", calc("mul", calc("mul", hxx, dx), dx), calc("mul", calc("mul", calc("mul", hxy, 2), dx), dy)),
          calc("mul", calc("mul", hyy, dy), dy),
        );
        routine.set(score, calc("add", slope, calc("div", squares, 2)));
        routine.set(x, calc("add", x, dx));
        routine.set(y, calc("add", y, dy));
      });
      storeReal(routine, scorePlace, outputs.scores, routine.unit, score);
      const at = (place: Formula, from: Formula, to: Formula) =>
        calc("add", calc("mul", calc("div", calc("add", place, 0.5), size), calc("sub", to, from)), from);
      const index = routine.local(calc("mul", routine.unit, 2));
      storeReal(routine, keypointPlace, outputs.keypoints, index, at(x, x1, x2));
      storeReal(routine, keypointPlace, outputs.keypoints, calc("add", index, 1), at(y, y1, y2));
    });
    return [scores, keypoints];
  },
  AXIS_ALIGNED_BBOX_TRANSFORM({ regions: boxes, deltas, batches, imageSizes }, { output }, builder) {
    const target = outputOf(builder, output);
    const [count = 0, columns = 4] = deltas.dimensions;
    const classes = columns / 4;
    const [images = 1] = imageSizes.dimensions;
    const [corners, moves, list, sizes] = [
      builder.read(boxes),
      builder.read(deltas),
      builder.read(batches),
      builder.read(imageSizes),
    ];
    const table = powersOfTwo(builder);
    addRoutine(builder, "AXIS_ALIGNED_BBOX_TRANSFORM", count * classes, 120, (routine) => {
      const [boxPlace, delta, batchPlace] = [routine.read(corners), routine.read(moves), routine.read(list)];
      const [sizePlace, powers, results] = [routine.read(sizes), routine.read(table), routine.write(target)];
      const box = routine.local(calc("div", routine.unit, classes));
      const batch = routine.local(batchPlace.at(box));
      routine.expect("batch index", batch, 0, images - 1);
      const [x1, y1, x2, y2] = cornersOf(routine, boxPlace, boxes, box);
      const at = routine.local(calc("mul", routine.unit, 4));
      const sizeAt = routine.local(calc("mul", batch, 2));
      const along = (from: Formula, to: Formula, part: number, limit: Formula) => {
        const extent = routine.local(calc("sub", to, from));
        const move = (place: number) => routine.local(realElement(delta, deltas, calc("add", at, place)));
        const centre = routine.local(
          calc("add", calc("add", from, calc("div", extent, 2)), calc("mul", move(part), extent)),
        );
        const growth = exponentialOf(routine, powers, move(part + 2));
        const half = routine.local(calc("div", calc("mul", growth, extent), 2));
        const within = (value: Formula) => routine.local(calc("min", calc("max", value, 0), limit));
        storeReal(routine, results, output, calc("add", at, part), within(calc("sub", centre, half)));
        storeReal(routine, results, output, calc("add", at, part + 2), within(calc("add", centre, half)));
      };
      // The width is the second number of an image's size, as the reference has it: see `transformBox`.
      along(x1, x2, 0, routine.local(realElement(sizePlace, imageSizes, calc("add", sizeAt, 1))));
      along(y1, y2, 1, routine.local(realElement(sizePlace, imageSizes, sizeAt)));
    });
    return target;
  },
};

function placeIn(
  out: ReturnType<typeof imageLayout>,
  region: Formula,
  row: Formula,
  column: Formula,
  channel: Formula,
): Formula {
  const pixel = calc("add", calc("mul", row, out.rowStep), calc("mul", column, out.pixelStep));
  return calc("add", calc("add", calc("mul", region, out.batchStep), pixel), calc("mul", channel, out.channelStep));
}
