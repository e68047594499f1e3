/**
 * Rows of padding, of moving data between space, depth and batch, and of filling.
 */
import { listText } from "../../error.ts";
import { numberOf } from "../bytes.ts";
import type { Lowering } from "../lowering.ts";
import { isQuantised, type OperandSpec } from "../operand-types.ts";
import { ensureDivides, ignoresComputedShape, imageExtents, positive, type Row, shapeOperand } from "../row.ts";

const pad: Row = {
  operator: "PAD",
  version: 6,
  operations: ["PAD"],
  narrowed: "inputs",
  lower: (op) => op.emitMoved("PAD", [op.input(0), op.input(1)], op.inputSpec(0)),
};

/** The one element of a constant input. */
function constantNumber(op: Lowering, place: number, meaning: string): number {
  const tensor = op.inputIndex(place);
  const bytes = op.graph.constantBytes(tensor);
  if (bytes === undefined) op.fail(`the HAL needs ${meaning} (input ${place}) as a constant, and it is computed`);
  const value = numberOf(op.inputTensor(place).type, bytes);
  if (value === undefined) op.fail(`${meaning} (input ${place}) has to be one number`);
  return value;
}

/** A scalar for a value of a tensor like input 0: floats as they are, integers and quantised ones as INT32. */
function scalarLike(op: Lowering, value: number, type: OperandSpec["type"]): number {
  const isFloat = type === "TENSOR_FLOAT32" || type === "TENSOR_FLOAT16";
  return isFloat ? op.float(value, op.outputSpec()) : op.int32(value);
}

const padWithValue: Row = {
  operator: "PADV2",
  version: 6,
  operations: ["PAD_V2"],
  narrowed: "inputs",
  note: "The value must be a constant.",
  lower(op: Lowering) {
    const input = op.inputSpec(0);
    const value = op.inputSpec(2);
    op.ensure(
      !isQuantised(input.type) || (value.scale === input.scale && value.zeroPoint === input.zeroPoint),
      () => "the value has to be quantised as the input is",
    );
    const scalar = scalarLike(op, constantNumber(op, 2, "the value"), input.type);
    op.emitMoved("PAD_V2", [op.input(0), op.input(1), scalar], input);
  },
};

/** The extents of the input and output of an operator from image to image. */
function imagesOf(op: Lowering) {
  return {
    input: imageExtents(op, op.inputSpec(0), "the input"),
    output: imageExtents(op, op.outputSpec(), "the output"),
  };
}

function blocks(operation: "SPACE_TO_DEPTH" | "DEPTH_TO_SPACE"): Row {
  return {
    operator: operation,
    version: 2,
    operations: [operation],
    lower(op: Lowering) {
      const [, height, width, depth] = imagesOf(op).input;
      const block = positive(op, "blockSize");
      const size = op.number("blockSize");
      if (operation === "DEPTH_TO_SPACE") ensureDivides(op, "the input's depth", depth, size * size);
      else {
        ensureDivides(op, "the input's height", height, size);
        ensureDivides(op, "the input's width", width, size);
      }
      op.emitMoved(operation, [op.input(0), ...block], op.inputSpec(0));
    },
  };
}

/** Refuses an extent that blocks do not fill together with its padding; undefined paddings and blocks are computed. */
function ensurePaddedDivides(
  op: Lowering,
  what: string,
  [extent, before, after]: readonly [extent: number, before: number | undefined, after: number | undefined],
  block: number | undefined,
): void {
  if (extent === 0 || before === undefined || after === undefined || block === undefined) return;
  ensureDivides(op, what, extent + before + after, block);
}

const spaceToBatch: Row = {
  operator: "SPACE_TO_BATCH_ND",
  version: 4,
  operations: ["SPACE_TO_BATCH_ND"],
  lower(op: Lowering) {
    const [, height, width] = imagesOf(op).input;
    const [blockHeight, blockWidth] = op.constantIntegers(1) ?? [];
    const [top, bottom, left, right] = op.constantIntegers(2) ?? [];
    ensurePaddedDivides(op, "the padded height", [height, top, bottom], blockHeight);
    ensurePaddedDivides(op, "the padded width", [width, left, right], blockWidth);
    op.emitMoved("SPACE_TO_BATCH_ND", [op.input(0), op.input(1), op.input(2)], op.inputSpec(0));
  },
};

const batchToSpace: Row = {
  operator: "BATCH_TO_SPACE_ND",
  version: 4,
  operations: ["BATCH_TO_SPACE_ND", "SLICE"],
  note: "SLICE crops, which the HAL's operation cannot do; crops must be constants.",
  lower(op: Lowering) {
    const images = imagesOf(op);
    const crops = op.integers(2, "the crops");
    const [top = -1, bottom = -1, left = -1, right = -1, ...more] = crops;
    op.ensure(
      Math.min(top, bottom, left, right) >= 0 && more.length === 0,
      () => `the crops have to be 4 integers of at least 0, they are ${listText(crops)}`,
    );
    const input = op.inputSpec(0);
    const blockSizes = op.constantIntegers(1) ?? [];
    const block = blockSizes.reduce((product, size) => product * size, 1);
    ensureDivides(op, "the batches", images.input[0], block);
    if (crops.every((crop) => crop === 0)) {
      op.emitMoved("BATCH_TO_SPACE_ND", [op.input(0), op.input(1)], input);
      return;
    }
    const [, inputHeight, inputWidth] = images.input;
    const [batches, outputHeight, outputWidth, depth] = images.output;
    // What the file leaves open follows from the input.
    const [blockHeight = 0, blockWidth = 0] = blockSizes;
    const height = outputHeight > 0 ? outputHeight : inputHeight * blockHeight - top - bottom;
    const width = outputWidth > 0 ? outputWidth : inputWidth * blockWidth - left - right;
    op.ensure(height > 0 && width > 0, () => "the size of the cropped result is not known");
    const dimensions = [batches, height + top + bottom, width + left + right, depth];
    const whole = op.graph.temporary({ ...input, dimensions });
    op.emit("BATCH_TO_SPACE_ND", [op.input(0), op.input(1)], [whole]);
    const begin = op.int32Tensor([0, top, left, 0]);
    op.emitMoved("SLICE", [whole, begin, op.int32Tensor([-1, height, width, -1])], input);
  },
};

const fill: Row = {
  operator: "FILL",
  version: 5,
  operations: ["FILL"],
  note: "The value must be a constant.",
  ignores: ignoresComputedShape(0),
  lower(op: Lowering) {
    const value = scalarLike(op, constantNumber(op, 1, "the value"), op.outputSpec().type);
    op.emit("FILL", [shapeOperand(op, 0), value], [op.output()]);
  },
};

export const spaceRows: readonly Row[] = [
  pad,
  padWithValue,
  blocks("SPACE_TO_DEPTH"),
  blocks("DEPTH_TO_SPACE"),
  spaceToBatch,
  batchToSpace,
  fill,
];
