/** Operations that put elements elsewhere, and do not change them. */
import type { KernelTensor } from "@nnhal/backend";
import { extentProduct, imageAxes, resolveAxis, stridesOf, type TensorInfo } from "@nnhal/operations";
import { stridedRanges } from "@nnhal/operations/compiling";
import { addElementwise, addMove, type Builder, operandOf, outputOf, transposeInto, type Value } from "./builder.ts";
import { type Expression, makeInteger, real } from "./expression.ts";
import { constantOf, type LoweringTable } from "./lowering.ts";
import { requantiseTensor } from "./table.ts";

interface One {
  readonly input: KernelTensor;
}

interface Result {
  readonly output: TensorInfo;
}

/** The same elements in the same order: no step. */
function keepElements({ input }: One, { output }: Result, builder: Builder): Value {
  return { ...builder.read(input), dimensions: output.dimensions };
}

/** A number as elements of a type hold it: integers of 8 bits wrap. */
function fillOf(type: Value["type"], number: number): Expression {
  if (type === "f32") return real(number);
  return makeInteger(type === "u8" ? number & 255 : type === "i8" ? (number << 24) >> 24 : number);
}

/** Fills a value, and copies another one into it. */
function padInto(
  builder: Builder,
  input: Value,
  pads: readonly (readonly [number, number])[],
  around: number,
  result: Value,
): void {
  addElementwise(builder, "pad", [], result, fillOf(input.type, around), 1);
  const strides = stridesOf(result.dimensions);
  const offset = pads.reduce((sum, [before], axis) => sum + before * (strides[axis] ?? 0), 0);
  addMove(
    builder,
    "pad",
    input.dimensions,
    operandOf(input, stridesOf(input.dimensions)),
    operandOf(result, strides, offset),
  );
}

/** Elements before and after each axis, of constant paddings. */
export function padsOf(paddings: KernelTensor, rank: number): (readonly [number, number])[] {
  const numbers = constantOf("the padding", paddings);
  return Array.from({ length: rank }, (_, axis) => [numbers[2 * axis] ?? 0, numbers[2 * axis + 1] ?? 0] as const);
}

/** A block of an image against its channels: the axes of the image, cut, in the order of the result. */
function blocks(
  builder: Builder,
  input: Value,
  { output }: Result,
  cut: readonly number[],
  order: readonly number[],
): Value {
  const target = outputOf(builder, output);
  const value = { ...input, dimensions: cut };
  transposeInto(builder, value, order, { ...target, dimensions: order.map((axis) => cut[axis] ?? 1) });
  return target;
}

/** The lowerings. */
export const movement: LoweringTable = {
  RESHAPE: keepElements,
  SQUEEZE: keepElements,
  EXPAND_DIMS: keepElements,
  CONCATENATION({ inputs, axis }, { output }, builder) {
    const target = outputOf(builder, output);
    const strides = stridesOf(output.dimensions);
    let offset = 0;
    for (const input of inputs) {
      const value = requantiseTensor(builder, input, output);
      const from = operandOf(value, stridesOf(input.dimensions));
      addMove(builder, "CONCATENATION", input.dimensions, from, operandOf(target, strides, offset));
      offset += extentProduct(input.dimensions, axis);
    }
    return target;
  },
  SPLIT({ input, axis, count }, { outputs }, builder) {
    const place = resolveAxis(axis, input.dimensions.length);
    const value = builder.read(input);
    const strides = stridesOf(input.dimensions);
    const part = extentProduct(input.dimensions, place) / count;
    return outputs.map((output, index) => {
      const target = outputOf(builder, output);
      const to = operandOf(target, stridesOf(output.dimensions));
      addMove(builder, "SPLIT", output.dimensions, operandOf(value, strides, index * part), to);
      return target;
    });
  },
  PAD({ input, paddings }, { output }, builder) {
    const value = builder.read(input);
    const target = outputOf(builder, output);
    const pads = padsOf(paddings, input.dimensions.length);
    padInto(builder, value, pads, input.zeroPoint, target);
    builder.padded.set(target.region, { source: value, pads });
    return target;
  },
  PAD_V2({ input, paddings, value: around }, { output }, builder) {
    const target = outputOf(builder, output);
    padInto(builder, builder.read(input), padsOf(paddings, input.dimensions.length), around, target);
    return target;
  },
  TRANSPOSE({ input, permutation }, { output }, builder) {
    const rank = input.dimensions.length;
    const reversed = Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
    const order = permutation === undefined ? reversed : Array.from(constantOf("the permutation", permutation));
    const target = outputOf(builder, output);
    transposeInto(builder, builder.read(input), order, target, "TRANSPOSE");
    return target;
  },
  SLICE({ input, begin }, { output }, builder) {
    const strides = stridesOf(input.dimensions);
    const first = constantOf("begin", begin);
    const offset = strides.reduce((sum, stride, axis) => sum + stride * (first[axis] ?? 0), 0);
    const target = outputOf(builder, output);
    const to = operandOf(target, stridesOf(output.dimensions));
    addMove(builder, "SLICE", output.dimensions, operandOf(builder.read(input), strides, offset), to);
    return target;
  },
  STRIDED_SLICE({ input, ...slicing }, { output }, builder) {
    const ranges = stridedRanges(input.dimensions, {
      ...slicing,
      begin: { data: Int32Array.from(constantOf("begin", slicing.begin)) },
      end: { data: Int32Array.from(constantOf("end", slicing.end)) },
      strides: { data: Int32Array.from(constantOf("the strides", slicing.strides)) },
    });
    const strides = stridesOf(input.dimensions);
    const extents = ranges.map(({ length }) => length);
    const offset = ranges.reduce((sum, { first }, axis) => sum + first * (strides[axis] ?? 0), 0);
    const steps = ranges.map(({ stride }, axis) => stride * (strides[axis] ?? 0));
    const target = outputOf(builder, output);
    const from = operandOf(builder.read(input), steps, offset);
    addMove(builder, "STRIDED_SLICE", extents, from, operandOf(target, stridesOf(extents)));
    return target;
  },
  SPACE_TO_BATCH_ND({ input, block, paddings, nchw }, { output }, builder) {
    const [rows = [0, 0], columns = [0, 0]] = padsOf(paddings, 2);
    const none = [0, 0] as const;
    const pads = nchw ? [none, none, rows, columns] : [none, rows, columns, none];
    const shape = input.dimensions.map((extent, axis) => extent + (pads[axis]?.[0] ?? 0) + (pads[axis]?.[1] ?? 0));
    const value = builder.read(input);
    const padded = builder.value(value.type, shape);
    padInto(builder, value, pads, input.zeroPoint, padded);
    const [blockHeight = 1, blockWidth = 1] = Array.from(constantOf("the block", block));
    const { batch, height, width, channel } = extents({ ...input, dimensions: shape }, nchw);
    const [down, across] = [height / blockHeight, width / blockWidth];
    const cut = nchw
      ? [batch, channel, down, blockHeight, across, blockWidth]
      : [batch, down, blockHeight, across, blockWidth, channel];
    const order = nchw ? [3, 5, 0, 1, 2, 4] : [2, 4, 0, 1, 3, 5];
    return blocks(builder, padded, { output }, cut, order);
  },
  BATCH_TO_SPACE_ND({ input, block, nchw }, { output }, builder) {
    const [blockHeight = 1, blockWidth = 1] = Array.from(constantOf("the block", block));
    const [batches = 1] = output.dimensions;
    const cut = [blockHeight, blockWidth, batches, ...input.dimensions.slice(1)];
    return blocks(builder, builder.read(input), { output }, cut, nchw ? [2, 3, 4, 0, 5, 1] : [2, 3, 0, 4, 1, 5]);
  },
  SPACE_TO_DEPTH({ input, blockSize, nchw }, outputs, builder) {
    const { batch, height, width, channel } = extents(input, nchw);
    const [rows, columns] = [height / blockSize, width / blockSize];
    return nchw
      ? blocks(
          builder,
          builder.read(input),
          outputs,
          [batch, channel, rows, blockSize, columns, blockSize],
          [0, 3, 5, 1, 2, 4],
        )
      : blocks(
          builder,
          builder.read(input),
          outputs,
          [batch, rows, blockSize, columns, blockSize, channel],
          [0, 1, 3, 2, 4, 5],
        );
  },
  DEPTH_TO_SPACE({ input, blockSize, nchw }, outputs, builder) {
    const { batch, height, width, channel } = extents(input, nchw);
    const channels = channel / blockSize / blockSize;
    return nchw
      ? blocks(
          builder,
          builder.read(input),
          outputs,
          [batch, blockSize, blockSize, channels, height, width],
          [0, 3, 4, 1, 5, 2],
        )
      : blocks(
          builder,
          builder.read(input),
          outputs,
          [batch, height, width, blockSize, blockSize, channels],
          [0, 1, 3, 2, 4, 5],
        );
  },
  CHANNEL_SHUFFLE({ input, groups, axis }, outputs, builder) {
    const { dimensions } = input;
    const place = resolveAxis(axis, dimensions.length);
    const outer = extentProduct(dimensions, 0, place);
    const inner = extentProduct(dimensions, place + 1);
    return blocks(
      builder,
      builder.read(input),
      outputs,
      [outer, groups, (dimensions[place] ?? 1) / groups, inner],
      [0, 2, 1, 3],
    );
  },
  TILE({ input }, { output }, builder) {
    // Each axis of the input after its repetition.
    const rank = input.dimensions.length;
    const target = outputOf(builder, output);
    const loops = input.dimensions.flatMap((extent, axis) => [
      (output.dimensions[axis] ?? 1) / Math.max(1, extent),
      extent,
    ]);
    const from = stridesOf(input.dimensions).flatMap((stride) => [0, stride]);
    if (rank > 0)
      addMove(builder, "TILE", loops, operandOf(builder.read(input), from), operandOf(target, stridesOf(loops)));
    return target;
  },
};

function extents({ dimensions }: TensorInfo, nchw: boolean) {
  const axes = imageAxes(nchw);
  const at = (axis: number) => dimensions[axis] ?? 1;
  return { batch: at(axes.batch), height: at(axes.height), width: at(axes.width), channel: at(axes.channel) };
}
