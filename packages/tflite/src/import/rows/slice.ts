/**
 * Rows of operators that divide and join tensors.
 */

import { elementAt } from "@nnhal/operations";
import { listText } from "../../error.ts";
import { denseSlice } from "../dense-slice.ts";
import type { Lowering } from "../lowering.ts";
import type { OperandSpec } from "../operand-types.ts";
import { ensureDivides, type Row, refuseActivation, targetShape } from "../row.ts";

/** The first output that is quantised in another way than the input; undefined if there is none. */
function otherQuantisation(op: Lowering, input: OperandSpec): number | undefined {
  return [...op.operator.outputs.keys()].find((place) => {
    const { scale, zeroPoint } = op.outputSpec(place);
    return scale !== input.scale || zeroPoint !== input.zeroPoint;
  });
}

/** Refuses results that are quantised in another way than the input: the HAL cannot convert here. */
function ensureSameQuantisation(op: Lowering, input: OperandSpec): void {
  const place = otherQuantisation(op, input);
  if (place === undefined) return;
  const { scale, zeroPoint } = op.outputSpec(place);
  op.fail(
    `output ${place} has another quantisation (${scale}, ${zeroPoint}) than the input (${input.scale}, ${input.zeroPoint})`,
  );
}

function outputsOf(op: Lowering): number[] {
  return op.operator.outputs.map((_, place) => op.output(place));
}

const slice: Row = {
  operator: "SLICE",
  version: 8,
  operations: ["SLICE"],
  narrowed: "inputs",
  lower: (op) => op.emitMoved("SLICE", [op.input(0), op.input(1), op.input(2)], op.inputSpec(0)),
};

const stridedSlice: Row = {
  operator: "STRIDED_SLICE",
  version: 8,
  operations: ["STRIDED_SLICE", "RESHAPE"],
  note: "RESHAPE follows if there is an ellipsis mask, a new axis mask or an offset; then the input's shape must be known and the ends constants.",
  narrowed: "inputs",
  lower(op: Lowering) {
    const isSparse = op.number("ellipsisMask") !== 0 || op.number("newAxisMask") !== 0 || op.flag("offset");
    if (isSparse) {
      lowerSparseSlice(op);
      return;
    }
    const masks = () => ["beginMask", "endMask", "shrinkAxisMask"].map((option) => op.int32(op.number(option)));
    const asInFile = () => [...[0, 1, 2, 3].map(op.input), ...masks()];
    const forHal = op.number("shrinkAxisMask") === 0 ? asInFile() : withRemovedAxes(op);
    // The HAL's lists have an element for each axis, and it takes removed axes only if their ends are known to be right.
    const isPartial = op.inputSpec(1).dimensions.join() !== String(op.inputSpec(0).dimensions.length);
    if ((isPartial || forHal === undefined) && op.emitExtended("STRIDED_SLICE", asInFile(), [op.output()])) return;
    op.emitMoved("STRIDED_SLICE", forHal ?? asInFile(), op.inputSpec(0));
  },
};

/**
 * The operands of a slice that removes axes. Of a removed axis .tflite takes the first element, and ignores end, stride and the end mask;
 * the HAL demands a range of one element. Undefined if begin, end or strides are computed.
 */
function withRemovedAxes(op: Lowering): number[] | undefined {
  const lists = [1, 2, 3].map(op.constantIntegers);
  const [begin, end, strides] = lists.map((list) => list && [...list]);
  if (begin === undefined || end === undefined || strides === undefined) return undefined;
  const shrinkAxisMask = op.number("shrinkAxisMask");
  let [beginMask, endMask] = [op.number("beginMask"), op.number("endMask")];
  for (const [axis, first] of begin.entries()) {
    const bit = 1 << axis;
    if ((shrinkAxisMask & bit) === 0) continue;
    const place = (beginMask & bit) === 0 ? first : elementAt(strides, axis) > 0 ? 0 : -1;
    // The end after the last element cannot be counted from the back: it is left open.
    const isLast = place === -1;
    begin[axis] = place;
    if (!isLast) end[axis] = place + 1;
    strides[axis] = 1;
    beginMask &= ~bit;
    endMask = isLast ? endMask | bit : endMask & ~bit;
  }
  const operands = [begin, end, strides].map((list, place) =>
    list.join() === lists[place]?.join() ? op.input(place + 1) : op.int32Tensor(list),
  );
  return [op.input(0), ...operands, ...[beginMask, endMask, shrinkAxisMask].map(op.int32)];
}

/** A slice with what the HAL's lacks, as one range for each dimension of the input. */
function lowerSparseSlice(op: Lowering): void {
  const spec = op.inputSpec(0);
  const isScalar = op.inputTensor(0).shape.length === 0;
  const input = isScalar ? { ...spec, dimensions: [] } : spec;
  op.ensure(!input.dimensions.includes(0), () => `the shape ${listText(input.dimensions)} of the input must be known`);
  const [begin, end, strides] = [op.integers(1, "begin"), op.integers(2, "end"), op.integers(3, "strides")];
  const dense = denseSlice(input.dimensions, {
    ...{ begin, end, strides, isOffset: op.flag("offset") },
    ...{ beginMask: op.number("beginMask"), endMask: op.number("endMask"), ellipsisMask: op.number("ellipsisMask") },
    ...{ newAxisMask: op.number("newAxisMask"), shrinkAxisMask: op.number("shrinkAxisMask") },
  });
  if ("problem" in dense) op.fail(dense.problem);
  const { dimensions, shape } = dense;
  const target = () => op.int32Tensor(shape.length === 0 ? [1] : shape);
  if (isScalar) {
    op.emitMoved("RESHAPE", [op.input(0), target()], spec);
    return;
  }
  op.ensure(
    dimensions.every(({ count }) => count > 0),
    () => `the result has no elements: ${listText(shape)}`,
  );
  const ends = dimensions.map((range) => range.begin + range.count * range.step);
  // A negative end would count from the back.
  const endMask = ends.reduce((mask, place, axis) => (place < 0 ? mask | (1 << axis) : mask), 0);
  const part = op.graph.temporary({ ...input, dimensions: dimensions.map(({ count }) => count) });
  const lists = [dimensions.map((range) => range.begin), ends, dimensions.map(({ step }) => step)];
  op.emit(
    "STRIDED_SLICE",
    [op.input(0), ...lists.map(op.int32Tensor), op.int32(0), op.int32(endMask), op.int32(0)],
    [part],
  );
  op.emitMoved("RESHAPE", [part, target()], input);
}

const split: Row = {
  operator: "SPLIT",
  version: 5,
  operations: ["SPLIT"],
  narrowed: "inputs",
  lower(op: Lowering) {
    const input = op.inputSpec(1);
    const parts = op.number("numSplits");
    op.ensure(
      parts === op.operator.outputs.length,
      () => `numSplits ${parts} differs from ${op.operator.outputs.length} outputs`,
    );
    const isOther = op.constantIntegers(0) === undefined || otherQuantisation(op, input) !== undefined;
    if (isOther && op.emitExtended("SPLIT", [op.input(1), op.input(0), op.int32(parts)], outputsOf(op))) return;
    const axis = op.axis(op.integer(0, "the axis"), input.dimensions.length);
    ensureDivides(op, `dimension ${axis} of the input`, elementAt(input.dimensions, axis), parts);
    ensureSameQuantisation(op, input);
    op.emit("SPLIT", [op.input(1), op.int32(axis), op.int32(parts)], outputsOf(op));
  },
};

/** Sizes along the axis, with the one that may be left to be worked out. */
function partSizes(op: Lowering, total: number): number[] {
  const sizes = [...op.integers(1, "the sizes")];
  const rest = total - sizes.reduce((sum, size) => sum + Math.max(size, 0), 0);
  const open = sizes.indexOf(-1);
  if (open >= 0) sizes[open] = rest;
  op.ensure(
    total > 0 && sizes.every((size) => size > 0) && (open >= 0 || rest === 0),
    () => `the sizes ${listText(sizes)} do not divide an extent of ${total}`,
  );
  return sizes;
}

const splitBySizes: Row = {
  operator: "SPLIT_V",
  version: 3,
  operations: ["SLICE"],
  narrowed: "inputs",
  note: "One SLICE for each part; sizes and axis must be constants.",
  lower(op: Lowering) {
    const input = op.inputSpec(0);
    const { dimensions } = input;
    const axis = op.axis(op.integer(2, "the axis"), dimensions.length);
    const sizes = partSizes(op, elementAt(dimensions, axis));
    op.ensure(
      sizes.length === op.operator.outputs.length,
      () => `${sizes.length} sizes for ${op.operator.outputs.length} outputs`,
    );
    ensureSameQuantisation(op, input);
    let begin = 0;
    for (const [place, size] of sizes.entries()) {
      const begins = dimensions.map((_, dimension) => (dimension === axis ? begin : 0));
      const extents = dimensions.map((_, dimension) => (dimension === axis ? size : -1));
      op.emit("SLICE", [op.input(0), op.int32Tensor(begins), op.int32Tensor(extents)], [op.output(place)]);
      begin += size;
    }
  },
};

const concatenation: Row = {
  operator: "CONCATENATION",
  version: 7,
  operations: ["CONCATENATION"],
  narrowed: "inputs",
  lower(op: Lowering) {
    refuseActivation(op);
    const axis = op.axis(op.number("axis"), op.inputSpec(0).dimensions.length);
    const inputs = op.operator.inputs.map((_, place) => op.input(place));
    op.emit("CONCATENATION", [...inputs, op.int32(axis)], [op.output()]);
  },
};

/** PACK by the operation that AIDL 2 adds. */
function packAsOne(op: Lowering): void {
  const axis = op.axis(op.number("axis"), op.inputSpec(0).dimensions.length + 1);
  op.emit("PACK", [op.int32(axis), ...op.operator.inputs.map((_, place) => op.input(place))], [op.output()]);
}

const pack: Row = {
  operator: "PACK",
  version: 5,
  operations: ["EXPAND_DIMS", "CONCATENATION", "PACK"],
  narrowed: "inputs",
  note: "PACK since AIDL 2, except of scalars.",
  betterForms(op) {
    const isScalar = op.inputTensor(0).shape.length === 0;
    return op.halVersion >= "aidl2" && !isScalar ? [packAsOne] : [];
  },
  lower(op: Lowering) {
    const axis = op.axis(op.number("axis"), op.inputTensor(0).shape.length + 1);
    const parts = op.operator.inputs.map((_, place) => {
      // A scalar is one element in one dimension already.
      if (op.inputTensor(place).shape.length === 0) return op.input(place);
      const spec = op.inputSpec(place);
      const part = op.graph.temporary({ ...spec, dimensions: spec.dimensions.toSpliced(axis, 0, 1) });
      op.emit("EXPAND_DIMS", [op.input(place), op.int32(axis)], [part]);
      return part;
    });
    op.emit("CONCATENATION", [...parts, op.int32(axis)], [op.output()]);
  },
};

const unpack: Row = {
  operator: "UNPACK",
  version: 6,
  operations: ["SPLIT", "SQUEEZE"],
  narrowed: "inputs",
  lower(op: Lowering) {
    const input = op.inputSpec(0);
    const count = op.operator.outputs.length;
    const axis = op.axis(op.number("axis"), input.dimensions.length);
    op.ensure(op.number("num") === count, () => `num ${op.number("num")} differs from ${count} outputs`);
    const extent = input.dimensions[axis];
    op.ensure(extent === 0 || extent === count, () => `dimension ${axis} of ${extent} does not make ${count} outputs`);
    ensureSameQuantisation(op, input);
    const split = (parts: readonly number[]) => op.emit("SPLIT", [op.input(0), op.int32(axis), op.int32(count)], parts);
    // The parts of a vector are scalars: one element in one dimension, as SPLIT returns them.
    if (input.dimensions.length === 1) {
      split(outputsOf(op));
      return;
    }
    const dimensions = input.dimensions.with(axis, 1);
    const parts = op.operator.outputs.map(() => op.graph.temporary({ ...input, dimensions }));
    split(parts);
    for (const [place, part] of parts.entries()) op.emit("SQUEEZE", [part, op.int32Tensor([axis])], [op.output(place)]);
  },
};

const tile: Row = {
  operator: "TILE",
  version: 3,
  operations: ["TILE"],
  narrowed: "inputs",
  lower: (op) => op.emitMoved("TILE", [op.input(0), op.input(1)], op.inputSpec(0)),
};

const gather: Row = {
  operator: "GATHER",
  version: 8,
  operations: ["GATHER", "RESHAPE"],
  narrowed: "inputs",
  note: "With batch dimensions: of the extension. A scalar index leaves a dimension of 1 that RESHAPE takes away.",
  lower(op: Lowering) {
    const batches = op.number("batchDims");
    const input = op.inputSpec(0);
    const axis = op.axis(op.number("axis"), input.dimensions.length);
    const inputs = [op.input(0), op.int32(axis), op.input(1)];
    if (batches !== 0 && op.emitExtended("GATHER", [...inputs, op.int32(batches)], [op.output()])) return;
    op.ensure(batches === 0, () => `the HAL has no batch dimensions here, batchDims is ${batches}`);
    if (op.inputTensor(1).shape.length > 0) {
      op.emitMoved("GATHER", inputs, input);
      return;
    }
    const one = op.graph.temporary({ ...input, dimensions: input.dimensions.with(axis, 1) });
    const rest = input.dimensions.toSpliced(axis, 1);
    op.emit("GATHER", inputs, [one]);
    op.emitMoved("RESHAPE", [one, targetShape(op, rest.length === 0 ? [1] : rest)], input);
  },
};

export const sliceRows: readonly Row[] = [
  slice,
  stridedSlice,
  split,
  splitBySizes,
  concatenation,
  pack,
  unpack,
  tile,
  gather,
];
