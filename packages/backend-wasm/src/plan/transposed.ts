/** TRANSPOSE_CONV_2D: a convolution for each place of an output within a stride. */
import type { KernelTensor } from "@nnhal/backend";
import { activationRange, dilatedExtent, elementCount, stridesOf, type TensorInfo } from "@nnhal/operations";
import {
  addElementwise,
  addElementwiseAt,
  addMove,
  type Builder,
  operandOf,
  transpose,
  type Value,
} from "./builder.ts";
import { imageOutput, type Layer } from "./convolution.ts";
import { element, makeInteger, within } from "./expression.ts";
import { fillTile } from "./lowering.ts";
import type { Operand, Segment } from "./plan.ts";
import { refuse } from "./refusal.ts";
import {
  addWindows,
  type Convolved,
  extentsOf,
  mayBeInfinite,
  mostProducts,
  type Sliding,
  segmentsOf,
  valueAsTensor,
} from "./windows.ts";

const once = { dilationWidth: 1, dilationHeight: 1 } as const;

/**
 * Adds TRANSPOSE_CONV_2D. Output pixel o is at q · stride + r of the padded output; it sees the cells r, r + stride, … of the filter, and the pixels q, q - 1, … of the
 * input.
 */
export function addTransposed(
  { input, filter, bias, activation, nchw, sums, ...sliding }: Layer<"TRANSPOSE_CONV_2D">,
  { output }: { readonly output: TensorInfo },
  builder: Builder,
): Value {
  const given = builder.read(input);
  const image = nchw ? transpose(builder, given, [0, 2, 3, 1]) : given;
  const { target, finish } = imageOutput(builder, output, nchw);
  const [channels = 0, height = 1, width = 1] = filter.dimensions;
  const { strideHeight, strideWidth, paddingTop, paddingLeft } = sliding;
  if (strideHeight * strideWidth > mostProducts)
    refuse(`strides of ${strideHeight}x${strideWidth} make more code than there may be`);
  const all = extentsOf(target);
  const rows = phases(all.height, height, strideHeight, paddingTop);
  const columns = phases(all.width, width, strideWidth, paddingLeft);
  const strides = stridesOf(target.dimensions);
  for (const down of rows) {
    for (const across of columns) {
      const dimensions = [all.batches, down.count, across.count, channels];
      const offset = down.first * (strides[1] ?? 0) + across.first * (strides[2] ?? 0);
      const steps = [
        strides[0] ?? 0,
        strideHeight * (strides[1] ?? 0),
        strideWidth * (strides[2] ?? 0),
        strides[3] ?? 0,
      ];
      const at = operandOf(target, steps, offset);
      if (image.type === "f32" && down.cells * across.cells === 0) {
        addBias(builder, { bias, activation, filter }, dimensions, at);
        continue;
      }
      const result = builder.value(target.type, dimensions);
      const cells = flippedCells(builder, filter, down, across, strideHeight, strideWidth);
      const convolved = {
        input,
        filter: cells,
        bias,
        output,
        activation,
        sums,
        siblings: rows.length * columns.length,
      };
      // The last cell of the filter sees the first pixel.
      const [, cellsDown = 1, cellsAcross = 1] = cells.dimensions;
      const windows = {
        strideHeight: 1,
        strideWidth: 1,
        ...once,
        paddingTop: cellsDown - 1 - down.firstPixel,
        paddingLeft: cellsAcross - 1 - across.firstPixel,
        paddingBottom: 0,
        paddingRight: 0,
      };
      addSeenCells(builder, convolved, image, windows, result, rows.length * columns.length);
      addMove(builder, "TRANSPOSE_CONV_2D", dimensions, operandOf(result, stridesOf(dimensions)), at);
    }
  }
  return finish();
}

/** The pixels of an axis of the output that see the same cells of the filter. */
interface Phase {
  /** The first pixel; the others follow stride by stride. */
  readonly first: number;
  readonly count: number;
  /** The first cell, and the number of cells; they lie a stride apart. */
  readonly firstCell: number;
  readonly cells: number;
  /** The pixel of the input that the first pixel sees through its first cell. */
  readonly firstPixel: number;
}

function phases(extent: number, cells: number, stride: number, padding: number): Phase[] {
  const found: Phase[] = [];
  for (let first = 0; first < Math.min(stride, extent); first++) {
    const place = first + padding;
    const firstCell = place % stride;
    found.push({
      first,
      count: Math.ceil((extent - first) / stride),
      firstCell,
      cells: Math.max(0, Math.ceil((cells - firstCell) / stride)),
      firstPixel: Math.floor(place / stride),
    });
  }
  return found;
}

/** The cells of a phase in the opposite order; one of zeros if there are none. */
function flippedCells(
  builder: Builder,
  filter: KernelTensor,
  down: Phase,
  across: Phase,
  strideHeight: number,
  strideWidth: number,
): KernelTensor {
  const flipped = ({ firstCell, cells }: Phase, stride: number): Cells => ({
    first: firstCell + (cells - 1) * stride,
    count: cells,
    step: -stride,
  });
  if (down.cells * across.cells > 0)
    return takeCells(builder, filter, flipped(down, strideHeight), flipped(across, strideWidth));
  const [channels = 0, , , depth = 1] = filter.dimensions;
  const dimensions = [channels, Math.max(1, down.cells), Math.max(1, across.cells), depth];
  const zero = filter.channelQuant === undefined ? filter.zeroPoint : 0;
  const { data } = filter;
  if (data !== undefined) return { ...filter, dimensions, data: data.slice(0, elementCount(dimensions)).fill(zero) };
  const result = builder.value(builder.read(filter).type, dimensions);
  addElementwise(builder, "flip", [], result, makeInteger(zero), 1);
  return valueAsTensor(builder, filter, result);
}

/** Some cells of an axis of a filter, `step` apart. */
interface Cells {
  readonly first: number;
  readonly count: number;
  readonly step: number;
}

/** A filter [channels, height, width, depth] of some cells of another one. */
function takeCells(builder: Builder, filter: KernelTensor, down: Cells, across: Cells): KernelTensor {
  const [channels = 0, height = 1, width = 1, depth = 1] = filter.dimensions;
  const dimensions = [channels, down.count, across.count, depth];
  const { data } = filter;
  const first = (down.first * width + across.first) * depth;
  if (data === undefined) {
    const source = builder.read(filter);
    const result = builder.value(source.type, dimensions);
    const steps = [height * width * depth, down.step * width * depth, across.step * depth, 1];
    addMove(builder, "cells", dimensions, operandOf(source, steps, first), operandOf(result, stridesOf(dimensions)));
    return valueAsTensor(builder, filter, result);
  }
  const taken = data.slice(0, elementCount(dimensions));
  let to = 0;
  for (let channel = 0; channel < channels; channel++) {
    for (let i = 0; i < down.count; i++) {
      for (let j = 0; j < across.count; j++) {
        const from = ((channel * height + i * down.step) * width + j * across.step) * depth + first;
        for (let k = 0; k < depth; k++) taken[to++] = data[from + k] ?? 0;
      }
    }
  }
  return { ...filter, dimensions, data: taken };
}

/**
 * Adds the products of the windows over an image with a filter, one of `siblings` of an operation. Cells outside of the image add nothing, not even 0 times an infinite
 * weight, which would be NaN.
 */
function addSeenCells(
  builder: Builder,
  convolved: Convolved,
  image: Value,
  sliding: Sliding,
  target: Value,
  siblings: number,
): void {
  const parts = isBorderSafe(convolved.filter, image, sliding, target)
    ? undefined
    : partsOfOutput(convolved, image, sliding, target, siblings);
  if (parts === undefined) {
    addWindows(builder, "TRANSPOSE_CONV_2D", convolved, image, sliding, target);
    return;
  }
  const [batches = 1, , , channels = 1] = target.dimensions;
  const strides = stridesOf(target.dimensions);
  for (const [down, across] of parts) {
    const dimensions = [batches, down.end - down.begin, across.end - across.begin, channels];
    const at = operandOf(target, strides, down.begin * (strides[1] ?? 0) + across.begin * (strides[2] ?? 0));
    const [rows, columns] = [down, across].map(cellsOf) as [Cells, Cells];
    if (rows.count * columns.count === 0) {
      addBias(builder, convolved, dimensions, at);
      continue;
    }
    const part = builder.value(target.type, dimensions);
    const { strideHeight, strideWidth, dilationHeight, dilationWidth } = sliding;
    const seen = { ...convolved, filter: takeCells(builder, convolved.filter, rows, columns) };
    const inside = {
      ...sliding,
      paddingTop: sliding.paddingTop - down.begin * strideHeight - rows.first * dilationHeight,
      paddingLeft: sliding.paddingLeft - across.begin * strideWidth - columns.first * dilationWidth,
    };
    addWindows(builder, "TRANSPOSE_CONV_2D", seen, image, inside, part);
    addMove(builder, "TRANSPOSE_CONV_2D", dimensions, operandOf(part, stridesOf(dimensions)), at);
  }
}

const cellsOf = ({ firstTap, endTap }: Segment): Cells => ({ first: firstTap, count: endTap - firstTap, step: 1 });

/** True if zeros around an image add nothing to sums: no window sees them, or no weight makes NaN of them. */
function isBorderSafe(filter: KernelTensor, image: Value, sliding: Sliding, target: Value) {
  if (image.type !== "f32") return true;
  const { strideHeight, strideWidth, dilationHeight, dilationWidth, paddingTop, paddingLeft } = sliding;
  const [, cellsDown = 1, cellsAcross = 1] = filter.dimensions;
  const [from, to] = [extentsOf(image), extentsOf(target)];
  const reaches = (count: number, stride: number, cells: number, dilation: number, padding: number, extent: number) =>
    padding > 0 || (count - 1) * stride + dilatedExtent(cells, dilation) - padding > extent;
  if (
    !reaches(to.height, strideHeight, cellsDown, dilationHeight, paddingTop, from.height) &&
    !reaches(to.width, strideWidth, cellsAcross, dilationWidth, paddingLeft, from.width)
  )
    return true;
  return !mayBeInfinite(filter);
}

/** The parts of the output whose windows see the same cells; undefined if there is one that sees all. Refuses too many. */
function partsOfOutput(
  { filter }: Convolved,
  image: Value,
  { strideHeight, strideWidth, dilationHeight, dilationWidth, paddingTop, paddingLeft }: Sliding,
  target: Value,
  siblings: number,
): readonly (readonly [down: Segment, across: Segment])[] | undefined {
  const [, height = 1, width = 1] = filter.dimensions;
  const [from, to] = [extentsOf(image), extentsOf(target)];
  const rows = segmentsOf(to.height, from.height, height, strideHeight, dilationHeight, paddingTop);
  const columns = segmentsOf(to.width, from.width, width, strideWidth, dilationWidth, paddingLeft);
  const seesAll = (segments: readonly Segment[], cells: number) =>
    segments.length === 1 && segments.every(({ firstTap, endTap }) => endTap - firstTap === cells);
  if (seesAll(rows, height) && seesAll(columns, width)) return undefined;
  if (rows.length * columns.length * siblings > mostProducts)
    refuse("its borders make more code than there may be, and its weights may be infinite");
  return rows.flatMap((down) => columns.map((across) => [down, across] as const));
}

/** Adds the results of windows of floats that see no cell, to an output that `at` is a part of: the bias. */
function addBias(
  builder: Builder,
  { bias, activation, filter }: Pick<Convolved, "bias" | "activation" | "filter">,
  dimensions: readonly number[],
  at: Operand,
): void {
  const [channels = 0] = filter.dimensions;
  const none = () => builder.constant(fillTile(new Array<number>(channels).fill(0)));
  const region = bias === undefined ? none() : builder.read(bias).region;
  const from: Operand = { region, type: "f32", offset: 0, steps: [0, 0, 0, 1] };
  const value = within(element(0, "f32"), ...activationRange(activation));
  addElementwiseAt(builder, "TRANSPOSE_CONV_2D", dimensions, [from], at, value);
}
