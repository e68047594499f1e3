/** GROUPED_CONV_2D, a product for each group, and TRANSPOSE_CONV_2D, a convolution for each place of an output within a stride. */
import type { KernelTensor } from "@nnhal/backend";
import { stridesOf, type TensorInfo } from "@nnhal/operations";
import { addElementwise, addMove, type Builder, operandOf, transpose, type Value } from "./builder.ts";
import { extentsOf, imageOutput, type Layer, prepareImage, rowsUnder } from "./convolution.ts";
import { makeInteger, real } from "./expression.ts";
import type { LoweringTable } from "./lowering.ts";
import { refuse } from "./refusal.ts";
import { addProduct } from "./weighted.ts";

/** More products than this would make too much code. */
const mostProducts = 512;

const once = { dilationWidth: 1, dilationHeight: 1 } as const;

/** The lowerings. */
export const grouped: LoweringTable = {
  GROUPED_CONV_2D({ input, filter, bias, groups, activation, nchw, ...sliding }, { output }, builder) {
    if (groups > mostProducts) refuse(`${groups} groups make more code than there may be`);
    const { image, padding } = prepareImage(builder, input, { ...sliding, ...once }, nchw);
    const { target, finish } = imageOutput(builder, output, nchw);
    const [channels = 0, height = 1, width = 1, depth = 1] = filter.dimensions;
    const columns = channels / groups;
    const size = height * width * depth;
    const { source, rows } = rowsUnder(builder, image, input, target, height, width, {
      ...sliding,
      ...once,
      ...padding,
    });
    const inputDepth = depth * groups;
    const cells = source.runs.flatMap((run) => Array.from({ length: width }, (_, cell) => run + cell * inputDepth));
    for (let group = 0; group < groups; group++) {
      const weights = {
        filter,
        depth: size,
        columns,
        depthStep: 1,
        columnStep: size,
        first: group * columns * size,
      };
      const weighted = {
        input,
        weights,
        bias,
        output,
        activation,
        channels: { first: group * columns, all: channels },
      };
      const part = { ...source, runs: cells.map((cell) => cell + group * depth), length: depth };
      const result = groups === 1 ? target : builder.value(target.type, [rows, columns]);
      addProduct(builder, "GROUPED_CONV_2D", weighted, rows, part, result);
      if (groups === 1) continue;
      const from = operandOf(result, [columns, 1]);
      addMove(builder, "GROUPED_CONV_2D", [rows, columns], from, operandOf(target, [channels, 1], group * columns));
    }
    return finish();
  },
  TRANSPOSE_CONV_2D: addTransposed,
};

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
  const [channels = 0, height = 1, width = 1, depth = 1] = filter.dimensions;
  const { strideHeight, strideWidth, paddingTop, paddingLeft } = sliding;
  if (strideHeight * strideWidth > mostProducts)
    refuse(`strides of ${strideHeight}x${strideWidth} make more code than there may be`);
  const all = { ...extentsOf(target) };
  const rows = phases(all.height, height, strideHeight, paddingTop);
  const columns = phases(all.width, width, strideWidth, paddingLeft);
  const strides = stridesOf(target.dimensions);
  for (const down of rows) {
    for (const across of columns) {
      const result = builder.value(target.type, [all.batches, down.count, across.count, channels]);
      const cells = { down: Math.max(1, down.cells), across: Math.max(1, across.cells) };
      const flipped = flippedFilter(builder, filter, down, across, strideHeight, strideWidth, cells);
      // The last cell of the filter sees the first pixel.
      const { source, rows: count } = rowsUnder(builder, image, input, result, cells.down, cells.across, {
        strideHeight: 1,
        strideWidth: 1,
        ...once,
        paddingTop: cells.down - 1 - down.firstPixel,
        paddingLeft: cells.across - 1 - across.firstPixel,
        paddingBottom: 0,
        paddingRight: 0,
      });
      const size = cells.down * cells.across * depth;
      const weights = { filter: flipped, depth: size, columns: channels, depthStep: 1, columnStep: size };
      const weighted = { input, weights, bias, output, activation, sums };
      addProduct(builder, "TRANSPOSE_CONV_2D", weighted, count, source, result);
      const offset = down.first * (strides[1] ?? 0) + across.first * (strides[2] ?? 0);
      const steps = [
        strides[0] ?? 0,
        strideHeight * (strides[1] ?? 0),
        strideWidth * (strides[2] ?? 0),
        strides[3] ?? 0,
      ];
      const from = operandOf(result, stridesOf(result.dimensions));
      addMove(builder, "TRANSPOSE_CONV_2D", result.dimensions, from, operandOf(target, steps, offset));
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
function flippedFilter(
  builder: Builder,
  filter: KernelTensor,
  down: Phase,
  across: Phase,
  strideHeight: number,
  strideWidth: number,
  cells: { readonly down: number; readonly across: number },
): KernelTensor {
  const [channels = 0, height = 1, width = 1, depth = 1] = filter.dimensions;
  const dimensions = [channels, cells.down, cells.across, depth];
  const zero = filter.channelQuant === undefined ? filter.zeroPoint : 0;
  const isEmpty = down.cells * across.cells === 0;
  const { data } = filter;
  if (data !== undefined) {
    const size = cells.down * cells.across * depth;
    const flipped = data.slice(0, channels * size);
    flipped.fill(zero);
    if (!isEmpty) {
      let to = 0;
      for (let channel = 0; channel < channels; channel++) {
        for (let i = cells.down - 1; i >= 0; i--) {
          for (let j = cells.across - 1; j >= 0; j--) {
            const row = channel * height + down.firstCell + i * strideHeight;
            const from = (row * width + across.firstCell + j * strideWidth) * depth;
            for (let k = 0; k < depth; k++) flipped[to++] = data[from + k] ?? 0;
          }
        }
      }
    }
    return { ...filter, dimensions, data: flipped };
  }
  const source = builder.read(filter);
  const result = builder.value(source.type, dimensions);
  if (isEmpty) addElementwise(builder, "flip", [], result, source.type === "f32" ? real(0) : makeInteger(zero), 1);
  else {
    const last =
      (down.firstCell + (cells.down - 1) * strideHeight) * width + across.firstCell + (cells.across - 1) * strideWidth;
    const steps = [height * width * depth, -strideHeight * width * depth, -strideWidth * depth, 1];
    const from = operandOf(source, steps, last * depth);
    addMove(builder, "flip", dimensions, from, operandOf(result, stridesOf(dimensions)));
  }
  return valueAsTensor(builder, filter, result);
}

/** A value as a tensor that lowerings read. */
export function valueAsTensor(builder: Builder, info: TensorInfo, value: Value): KernelTensor {
  const index = -1 - value.region;
  builder.places.set(index, value.region);
  const { type, scale, zeroPoint, channelQuant } = info;
  return { type, scale, zeroPoint, ...(channelQuant && { channelQuant }), dimensions: value.dimensions, index };
}
