/**
 * Rows of padding, of moving data between space, depth and batch, and of filling.
 */
import { listText } from "../../error.ts";
import { numberOf } from "../bytes.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8, isQuantised, type OperandSpec } from "../operand-types.ts";
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
  if (value === undefined) op.fail(`${meaning} (input ${place}) must be one number`);
  return value;
}

/** Types of which the HAL takes one element as a scalar. */
function takesScalars(type: OperandSpec["type"]): boolean {
  return isFloatType(type) || type === "TENSOR_INT32" || isQuant8(type);
}

function isFloatType(type: OperandSpec["type"]): boolean {
  return type === "TENSOR_FLOAT32" || type === "TENSOR_FLOAT16";
}

/** A scalar for a value of a tensor like input 0: floats as they are, integers and quantised ones as INT32. */
function scalarLike(op: Lowering, value: number, type: OperandSpec["type"]): number {
  return isFloatType(type) ? op.float(value, op.outputSpec()) : op.int32(value);
}

const padWithValue: Row = {
  operator: "PADV2",
  version: 6,
  operations: ["PAD_V2"],
  narrowed: "inputs",
  note: "A value that is computed: of the extension.",
  lower(op: Lowering) {
    const input = op.inputSpec(0);
    const value = op.inputSpec(2);
    // The extension takes the value as a tensor, of every type and also if it is computed.
    const isScalar = takesScalars(input.type) && op.graph.constantBytes(op.inputIndex(2)) !== undefined;
    const operands = () => [op.input(0), op.input(1), op.asInFile(2)];
    if (!isScalar && op.emitExtended("PAD_V2", operands(), [op.output()])) return;
    op.ensure(
      !isQuantised(input.type) || (value.scale === input.scale && value.zeroPoint === input.zeroPoint),
      () => "the value must be quantised as the input is",
    );
    const scalar = scalarLike(op, constantNumber(op, 2, "the value"), input.type);
    op.emitMoved("PAD_V2", [op.input(0), op.input(1), scalar], input);
  },
};

function inputImage(op: Lowering) {
  return imageExtents(op, op.inputSpec(0), "the input");
}

function blocks(operation: "SPACE_TO_DEPTH" | "DEPTH_TO_SPACE"): Row {
  return {
    operator: operation,
    version: 2,
    operations: [operation],
    lower(op: Lowering) {
      const [, height, width, depth] = inputImage(op);
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

/** True if the input has the 4 dimensions of the HAL's images. */
function isImage(op: Lowering): boolean {
  return op.inputSpec(0).dimensions.length === 4;
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
  note: "Of 3 dimensions: of the extension.",
  lower(op: Lowering) {
    const operands = () => [op.input(0), op.input(1), op.input(2)];
    if (!isImage(op) && op.emitExtended("SPACE_TO_BATCH_ND", operands(), [op.output()])) return;
    const [, height, width] = inputImage(op);
    const [blockHeight, blockWidth] = op.constantIntegers(1) ?? [];
    const [top, bottom, left, right] = op.constantIntegers(2) ?? [];
    ensurePaddedDivides(op, "the padded height", [height, top, bottom], blockHeight);
    ensurePaddedDivides(op, "the padded width", [width, left, right], blockWidth);
    op.emitMoved("SPACE_TO_BATCH_ND", operands(), op.inputSpec(0));
  },
};

const batchToSpace: Row = {
  operator: "BATCH_TO_SPACE_ND",
  version: 4,
  operations: ["BATCH_TO_SPACE_ND", "SLICE"],
  note: "SLICE crops, which the HAL's operation cannot do. Of 3 dimensions, or with crops that are computed: of the extension.",
  lower(op: Lowering) {
    const isKnown = isImage(op) && op.constantIntegers(2) !== undefined;
    const operands = () => [op.input(0), op.input(1), op.input(2)];
    if (!isKnown && op.emitExtended("BATCH_TO_SPACE_ND", operands(), [op.output()])) return;
    const [batches, inputHeight, inputWidth, depth] = inputImage(op);
    const crops = op.integers(2, "the crops");
    const [top = -1, bottom = -1, left = -1, right = -1, ...more] = crops;
    op.ensure(
      Math.min(top, bottom, left, right) >= 0 && more.length === 0,
      () => `the crops: expected 4 integers of at least 0, got ${listText(crops)}`,
    );
    const input = op.inputSpec(0);
    const blockSizes = op.constantIntegers(1) ?? [];
    const block = blockSizes.reduce((product, size) => product * size, 1);
    ensureDivides(op, "the batches", batches, block);
    if (crops.every((crop) => crop === 0)) {
      op.emitMoved("BATCH_TO_SPACE_ND", [op.input(0), op.input(1)], input);
      return;
    }
    const [blockHeight = 0, blockWidth = 0] = blockSizes;
    const [, outputHeight = 0, outputWidth = 0] = op.outputSpec().dimensions;
    const height = (inputHeight * blockHeight || outputHeight + top + bottom) - top - bottom;
    const width = (inputWidth * blockWidth || outputWidth + left + right) - left - right;
    op.ensure(height > 0 && width > 0, () => "the size of the cropped result is not known");
    const dimensions = [batches / Math.max(block, 1), height + top + bottom, width + left + right, depth];
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
  note: "A value that is computed: of the extension.",
  ignores: ignoresComputedShape(0),
  lower(op: Lowering) {
    const { type } = op.outputSpec();
    const hasScalar = isFloatType(type) || type === "TENSOR_INT32";
    const isScalar = hasScalar && op.graph.constantBytes(op.inputIndex(1)) !== undefined;
    if (!isScalar && op.emitExtended("FILL", [shapeOperand(op, 0), op.asInFile(1)], [op.output()])) return;
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
