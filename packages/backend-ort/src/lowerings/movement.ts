/** Operations that move elements and do not change them. */
import type { KernelTensor } from "@nnhal/backend";
import { elementAt, elementCount, extentProduct, imageLayout, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { addWholeNumber, type Builder, cast, integers, reshape, transpose, type Value } from "../graph/builder.ts";
import { type Lowered, refuse, type Scope, zeroPointOf } from "../graph/scope.ts";
import { align, isQuant8, numbersOf, scaleConstant, zeroPointConstant } from "./_lowering.ts";
import { element, padsOf } from "./padding.ts";

interface One {
  readonly output: TensorInfo;
}

interface Unary {
  readonly input: KernelTensor;
}

/** The shape of the output is known from shape inference. */
export function lowerReshape({ input }: Unary, { output }: One, { builder, read }: Scope): Lowered {
  return reshape(builder, read(input), output.dimensions);
}

export function lowerTranspose(
  { input, permutation }: Unary & { readonly permutation: KernelTensor | undefined },
  _: One,
  { builder, read }: Scope,
): Lowered {
  const axes = input.dimensions.map((_, axis) => axis);
  const order = permutation === undefined ? axes.toReversed() : numbersOf("the permutation", permutation);
  return transpose(builder, read(input), order);
}

/** The place of an axis of NHWC in NCHW. */
const placeInImage = [0, 2, 3, 1];

interface Concatenation {
  readonly inputs: readonly KernelTensor[];
  readonly axis: number;
}

export function concatenation({ inputs, axis }: Concatenation, { output }: One, scope: Scope): Lowered {
  const { builder } = scope;
  const rank = output.dimensions.length;
  const filled = inputs.filter(({ dimensions }) => !dimensions.includes(0));
  const { values, lower: lowered } = align(scope, filled, rank);
  const isImage = rank === 4 && filled.some(scope.isImage);
  const along = resolveAxis(axis, rank);
  const place = isImage ? elementAt(placeInImage, along) : along;
  const first = elementAt(values, 0);
  const sum = values.reduce((extent, { dims }) => extent + elementAt(dims, place), 0);
  const result = { type: first.type, dims: first.dims.map((extent, at) => (at === place ? sum : extent)) };
  const attributes = { axis: { int: place } };
  const isSame = filled.every(({ scale, zeroPoint }) => scale === output.scale && zeroPoint === output.zeroPoint);
  if (isSame || !isQuant8(output)) return lowered(builder.node("Concat", values, result, { attributes }));
  const facts = (info: TensorInfo) => [scaleConstant(builder, info), zeroPointConstant(builder, info)];
  const operands = [...facts(output), ...values.flatMap((value, at) => [value, ...facts(elementAt(filled, at))])];
  return lowered(builder.node("QLinearConcat", operands, result, { attributes, domain: "com.microsoft" }));
}

export function split(
  { input, axis, count }: Unary & { readonly axis: number; readonly count: number },
  { outputs }: { readonly outputs: readonly TensorInfo[] },
  { builder, read }: Scope,
): readonly Lowered[] {
  const along = resolveAxis(axis, input.dimensions.length);
  const value = read(input);
  const results = outputs.map(({ dimensions }) => ({ type: value.type, dims: dimensions }));
  const attributes = { axis: { int: along }, num_outputs: { int: count } };
  return builder.nodes("Split", [value], results, { attributes });
}

export function slice(
  { input, begin }: Unary & { readonly begin: KernelTensor },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const starts = numbersOf("the begin", begin);
  const ends = starts.map((start, axis) => start + elementAt(output.dimensions, axis));
  return lowerSlice(
    builder,
    read(input),
    starts,
    ends,
    starts.map(() => 1),
    output.dimensions,
  );
}

function lowerSlice(
  builder: Builder,
  value: Value,
  starts: readonly number[],
  ends: readonly number[],
  steps: readonly number[],
  dims: readonly number[],
): Value {
  const axes = starts.map((_, axis) => axis);
  const bounds = [starts, ends, axes, steps].map((numbers) => integers(builder, numbers));
  return builder.node("Slice", [value, ...bounds], { type: value.type, dims });
}

interface StridedSlice extends Unary {
  readonly begin: KernelTensor;
  readonly end: KernelTensor;
  readonly strides: KernelTensor;
  readonly beginMask: number;
  readonly endMask: number;
  readonly shrinkAxisMask: number;
}

/** Beyond any extent, in either direction. */
const far = 2 ** 40;

export function stridedSlice(args: StridedSlice, { output }: One, { builder, read }: Scope): Lowered {
  const { input, beginMask, endMask, shrinkAxisMask } = args;
  const starts = numbersOf("the begin", args.begin);
  const ends = numbersOf("the end", args.end);
  const steps = numbersOf("the strides", args.strides);
  const dims: number[] = [];
  starts.forEach((start, axis) => {
    const extent = elementAt(input.dimensions, axis);
    const isSet = (mask: number) => (mask & (1 << axis)) !== 0;
    const isForward = elementAt(steps, axis) > 0;
    if (isSet(beginMask)) starts[axis] = isForward ? 0 : far;
    if (isSet(endMask)) ends[axis] = isForward ? far : -far;
    if (isSet(shrinkAxisMask)) {
      // A removed axis has one element, whatever its end is. Shape inference has checked the rest.
      const first = isSet(beginMask) ? 0 : start;
      starts[axis] = first < 0 ? first + extent : first;
      ends[axis] = elementAt(starts, axis) + 1;
      steps[axis] = 1;
      dims.push(1);
    }
  });
  const value = read(input);
  const kept = [...output.dimensions];
  const whole = input.dimensions.map((_, axis) => ((shrinkAxisMask & (1 << axis)) !== 0 ? 1 : (kept.shift() ?? 1)));
  return reshape(builder, lowerSlice(builder, value, starts, ends, steps, whole), output.dimensions);
}

export function tile(
  { input, multiples }: Unary & { readonly multiples: KernelTensor },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const value = read(input);
  if (value.elements !== undefined) ensureFoldable(output);
  const times = integers(builder, numbersOf("the multiples", multiples));
  return builder.node("Tile", [value, times], { type: value.type, dims: output.dimensions });
}

/** Constant indexes are checked here; the engine refuses others that are outside the axis when it runs. */
function checkIndexes(indexes: KernelTensor, extent: number): KernelTensor {
  for (const index of indexes.data ?? []) {
    if (index < 0 || index >= extent) refuse(`the index ${index} is outside [0, ${extent})`);
  }
  return indexes;
}

export function gather(
  { input, axis, indices }: Unary & { readonly axis: number; readonly indices: KernelTensor },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const along = resolveAxis(axis, input.dimensions.length);
  const value = read(input);
  const indexes = read(checkIndexes(indices, elementAt(input.dimensions, along)));
  const result = { type: value.type, dims: output.dimensions };
  return builder.node("Gather", [value, indexes], result, { attributes: { axis: { int: along } } });
}

export function embeddingLookup(
  { lookups, values }: { readonly lookups: KernelTensor; readonly values: KernelTensor },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const value = read(values);
  const indexes = read(checkIndexes(lookups, elementAt(values.dimensions, 0)));
  return builder.node("Gather", [value, indexes], { type: value.type, dims: output.dimensions });
}

interface HashtableLookup {
  readonly lookups: KernelTensor;
  readonly keys: KernelTensor;
  readonly values: KernelTensor;
}

interface Found extends One {
  readonly hits: TensorInfo;
}

/** Compares every lookup with every key. If no key is equal, the row is zero bytes. */
export function hashtableLookup({ lookups, keys, values }: HashtableLookup, outputs: Found, scope: Scope): Lowered[] {
  const { builder, read } = scope;
  const { output } = outputs;
  const count = elementAt(lookups.dimensions, 0);
  const rows = elementAt(keys.dimensions, 0);
  const each = reshape(builder, read(lookups), [count, 1]);
  const all = reshape(builder, read(keys), [1, rows]);
  const isEqual = builder.node("Equal", [each, all], { type: "bool", dims: [count, rows] });
  const numbers = cast(builder, isEqual, "int32");
  const attributes = { axis: { int: 1 }, keepdims: { int: 0 } };
  const places = builder.node("ArgMax", [numbers], { type: "int64", dims: [count] }, { attributes });
  const hits = builder.node(
    "ReduceMax",
    [numbers, integers(builder, [1])],
    { type: "int32", dims: [count] },
    {
      attributes: { keepdims: { int: 0 } },
    },
  );
  const value = read(values);
  const found = builder.node("Gather", [value, places], { type: value.type, dims: output.dimensions });
  const mask = reshape(builder, hits, [count, ...output.dimensions.slice(1).map(() => 1)]);
  const isHit = cast(builder, mask, "bool");
  const nothing = element(builder, output, 0);
  const chosen = builder.node("Where", [isHit, found, nothing], { type: value.type, dims: output.dimensions });
  return [chosen, cast(builder, hits, "uint8")];
}

export function channelShuffle(
  { input, groups, axis }: Unary & { readonly groups: number; readonly axis: number },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const { dimensions } = input;
  const along = resolveAxis(axis, dimensions.length);
  const inner = extentProduct(dimensions, along + 1);
  const parts = [extentProduct(dimensions, 0, along), groups, elementAt(dimensions, along) / groups, inner];
  const shuffled = transpose(builder, reshape(builder, read(input), parts), [0, 2, 1, 3]);
  return reshape(builder, shuffled, output.dimensions);
}

interface Blocks extends Unary {
  readonly blockSize: number;
  readonly nchw: boolean;
}

/** Reads an image as NHWC, and returns one that was computed so. */
function onNhwc(input: KernelTensor, nchw: boolean, scope: Scope, compute: (image: Value) => Value): Lowered {
  const { builder } = scope;
  if (!nchw) return compute(scope.read(input));
  return transpose(builder, compute(transpose(builder, scope.read(input), [0, 2, 3, 1])), [0, 3, 1, 2]);
}

export function depthToSpace({ input, blockSize, nchw }: Blocks, _: One, scope: Scope): Lowered {
  const { builder } = scope;
  const { batches, height, width, channels } = imageLayout(input.dimensions, nchw);
  const depth = channels / blockSize ** 2;
  // [rows, columns, rows of a block, columns of a block and depth]; then the rows of a block come before the columns
  return onNhwc(input, nchw, scope, (image) => {
    const blocks = reshape(builder, image, [batches * height, width, blockSize, blockSize * depth]);
    const rows = transpose(builder, blocks, [0, 2, 1, 3]);
    return reshape(builder, rows, [batches, height * blockSize, width * blockSize, depth]);
  });
}

export function spaceToDepth({ input, blockSize, nchw }: Blocks, _: One, scope: Scope): Lowered {
  const { builder } = scope;
  const { batches, height, width, channels } = imageLayout(input.dimensions, nchw);
  const [rows, columns] = [height / blockSize, width / blockSize];
  return onNhwc(input, nchw, scope, (image) => {
    const blocks = reshape(builder, image, [batches * rows, blockSize, columns, blockSize * channels]);
    const pixels = transpose(builder, blocks, [0, 2, 1, 3]);
    return reshape(builder, pixels, [batches, rows, columns, channels * blockSize ** 2]);
  });
}

interface BatchBlocks extends Unary {
  readonly block: KernelTensor;
  readonly nchw: boolean;
}

export function batchToSpaceNd({ input, block, nchw }: BatchBlocks, _: One, scope: Scope): Lowered {
  const { builder } = scope;
  const [tall, wide] = pairOf("the block", block);
  const { batches, height, width, channels } = imageLayout(input.dimensions, nchw);
  const groups = batches / (tall * wide);
  return onNhwc(input, nchw, scope, (image) => {
    const parts = reshape(builder, image, [tall, wide, groups, height, width, channels]);
    const pixels = transpose(builder, parts, [2, 3, 0, 4, 1, 5]);
    return reshape(builder, pixels, [groups, height * tall, width * wide, channels]);
  });
}

export function spaceToBatchNd(
  { input, block, paddings, nchw }: BatchBlocks & { readonly paddings: KernelTensor },
  _: One,
  scope: Scope,
): Lowered {
  const { builder } = scope;
  const [tall, wide] = pairOf("the block", block);
  const { before, after } = padsOf(paddings);
  const around = (side: readonly number[]) => [0, ...side, 0];
  return onNhwc(input, nchw, scope, (image) => {
    const pads = [around(before), around(after)];
    const dims = image.dims.map((extent, axis) => pads.reduce((sum, side) => sum + elementAt(side, axis), extent));
    const filler = element(builder, input, zeroPointOf(input));
    const whole = builder.node("Pad", [image, integers(builder, pads.flat()), filler], { type: image.type, dims });
    const { batches, height, width, channels } = imageLayout(dims, false);
    const parts = reshape(builder, whole, [batches, height / tall, tall, width / wide, wide, channels]);
    const moved = transpose(builder, parts, [2, 4, 0, 1, 3, 5]);
    return reshape(builder, moved, [batches * tall * wide, height / tall, width / wide, channels]);
  });
}

function pairOf(name: string, tensor: KernelTensor): readonly [number, number] {
  const numbers = numbersOf(name, tensor);
  return [elementAt(numbers, 0), elementAt(numbers, 1)];
}

/** The most elements of a constant that is computed when a model is prepared. */
const mostElements = 2 ** 24;

/** Refuses a constant result that is large: the engine computes it when the model is prepared, and cannot be interrupted. */
function ensureFoldable({ dimensions }: TensorInfo): void {
  const count = elementCount(dimensions);
  if (count > mostElements) refuse(`${count} elements are too many; at most ${mostElements} are available`);
}

/** A tensor filled with one number. */
export function fill({ value }: { readonly value: number }, { output }: One, { builder }: Scope): Lowered {
  ensureFoldable(output);
  const scalar = element(builder, output, value);
  const shape = integers(builder, output.dimensions);
  return builder.node("Expand", [scalar, shape], { type: scalar.type, dims: output.dimensions });
}

export function rank({ input }: Unary, _: One, { builder }: Scope): Lowered {
  return addWholeNumber(builder, "int32", input.dimensions.length);
}

export function pack(
  { values, axis }: { readonly values: readonly KernelTensor[]; readonly axis: number },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const rank = elementAt(values, 0).dimensions.length;
  const place = resolveAxis(axis, rank + 1);
  const parts = values.map((each) => reshape(builder, read(each), each.dimensions.toSpliced(place, 0, 1)));
  const first = elementAt(parts, 0);
  const result = { type: first.type, dims: first.dims.with(place, parts.length) };
  const joined = builder.node("Concat", parts, result, { attributes: { axis: { int: place } } });
  return reshape(builder, joined, output.dimensions);
}

export function reverse(
  { input, axis }: Unary & { readonly axis: KernelTensor },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const axes = numbersOf("the axes", axis).map((each) => resolveAxis(each, input.dimensions.length));
  const value = read(input);
  if (axes.length === 0) return value;
  const bounds = [-1, -(2 ** 40)].map((bound) => axes.map(() => bound));
  const inputs = [...bounds, axes, axes.map(() => -1)].map((numbers) => integers(builder, numbers));
  return builder.node("Slice", [value, ...inputs], { type: value.type, dims: output.dimensions });
}
