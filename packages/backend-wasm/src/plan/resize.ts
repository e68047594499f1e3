/** RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR. */
import type { KernelTensor } from "@nnhal/backend";
import type { TensorInfo } from "@nnhal/operations";
import {
  type Neighbours,
  nearestSource,
  neighboursInSteps,
  neighboursOf,
  RESIZE_STEPS,
  type ResizeAlignment,
} from "@nnhal/operations/compiling";
import { type Builder, outputOf, transpose, transposeInto, type Value } from "./builder.ts";
import { accumulator, makeInteger, on, shiftBits } from "./expression.ts";
import { expectReal, type LoweringTable } from "./lowering.ts";
import { elementBytes } from "./plan.ts";
import { refuse } from "./refusal.ts";
import { extentsOf } from "./windows.ts";

interface ResizeArguments extends ResizeAlignment {
  readonly input: KernelTensor;
  readonly nchw: boolean;
}

/** Neighbours of which the first has the whole share. */
function nearest(input: number, output: number, alignment: ResizeAlignment): Neighbours {
  const sourceOf = nearestSource(input, output, alignment);
  const before = Int32Array.from({ length: output }, (_, index) => sourceOf(index));
  return { before, after: before, share: new Float64Array(output) };
}

/** The table of an axis: see `ResizeStep`. `step`: bytes from one index of the input to the next. `one`: the sum of two shares. */
function tableOf({ before, after, share }: Neighbours, step: number, one: number, isFloat: boolean): Int32Array {
  const table = new Int32Array(4 * before.length);
  const floats = new Float32Array(table.buffer);
  for (const [index, second] of share.entries()) {
    table[4 * index] = (before[index] ?? 0) * step;
    table[4 * index + 1] = (after[index] ?? 0) * step;
    const shares = isFloat ? floats : table;
    shares[4 * index + 2] = one - second;
    shares[4 * index + 3] = second;
  }
  return table;
}

/** The places of an axis whose table takes 64 MiB. */
const mostPlaces = 2 ** 22;

function resize(name: "RESIZE_BILINEAR" | "RESIZE_NEAREST_NEIGHBOR") {
  return (args: ResizeArguments, { output }: { readonly output: TensorInfo }, builder: Builder): Value => {
    const { input, nchw, alignCorners, halfPixelCenters } = args;
    expectReal(input);
    const isNearest = name === "RESIZE_NEAREST_NEIGHBOR";
    // Of floats that are only moved the bits count: infinity times 0 is not a number.
    const asBits = (value: Value): Value => (isNearest && value.type === "f32" ? { ...value, type: "i32" } : value);
    const given = asBits(builder.read(input));
    const image = nchw ? transpose(builder, given, [0, 2, 3, 1]) : given;
    const own = asBits(outputOf(builder, output));
    const { batches, channels, height, width } = extentsOf(image);
    const [outHeight = 1, outWidth = 1] = output.dimensions.slice(nchw ? 2 : 1);
    const target = nchw ? builder.value(own.type, [batches, outHeight, outWidth, channels]) : own;
    const isFloat = image.type === "f32";
    const one = isFloat || isNearest ? 1 : RESIZE_STEPS;
    const along = isNearest ? nearest : isFloat ? neighboursOf : neighboursInSteps;
    const alignment = { alignCorners, halfPixelCenters };
    const pixel = channels * elementBytes[image.type];
    const longest = Math.max(outHeight, outWidth);
    if (longest > mostPlaces) refuse(`an axis of ${longest} places is longer than ${mostPlaces}`);
    const table = (from: number, to: number, step: number) =>
      builder.constant(() => tableOf(along(from, to, alignment), step, one, isFloat));
    // Less their zero point, or not: the shares add up to a whole, so the result is the same.
    const halves = makeInteger(2 ** 21);
    const value =
      one === 1 ? accumulator(isFloat ? "f32" : "i32") : shiftBits("shr", on("add", accumulator("i32"), halves), 22);
    builder.add({
      kind: "resize",
      name,
      source: image,
      input: extentsOf(image),
      output: extentsOf(target),
      rows: table(height, outHeight, width * pixel),
      columns: table(width, outWidth, pixel),
      target,
      value,
      units: batches * outHeight,
      work: 4 * outWidth * channels,
    });
    if (nchw) transposeInto(builder, target, [0, 3, 1, 2], own);
    return own;
  };
}

/** The lowerings. */
export const resizing: LoweringTable = {
  RESIZE_BILINEAR: resize("RESIZE_BILINEAR"),
  RESIZE_NEAREST_NEIGHBOR: resize("RESIZE_NEAREST_NEIGHBOR"),
};
