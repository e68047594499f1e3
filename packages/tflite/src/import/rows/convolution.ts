/**
 * Rows of convolutions and fully connected layers.
 */

import { elementAt } from "@nnhal/operations";
import { listText } from "../../error.ts";
import { biasOperand } from "../bias.ts";
import type { Blocks } from "../blocks.ts";
import { expanding } from "../expanding.ts";
import type { Lowering } from "../lowering.ts";
import { isQuantised, type OperandSpec } from "../operand-types.ts";
import { fusedActivation, imageExtents, paddingScheme, positive, type Row, targetShape } from "../row.ts";

/** The filter; a quantised one beside a float input is widened, since the HAL does not mix the two. */
export function filterOperand(op: Lowering, inputPlace: number, filterPlace: number): number {
  return op.inputSpec(inputPlace).type === "TENSOR_FLOAT32" ? op.asFloat(filterPlace) : op.input(filterPlace);
}

/** Lowers a convolution with a filter. */
type Convolve = (op: Lowering, filter: number) => void;

/**
 * A convolution in several forms, the best one first. A hybrid one has its filter as it is if the extension takes it, else a widened
 * filter.
 */
function withFilter(forms: (op: Lowering) => readonly Convolve[], last: Convolve): Pick<Row, "betterForms" | "lower"> {
  return {
    betterForms(op) {
      const all = [...forms(op), last];
      const hybrid = op.quantisesInput(0, 1) ? all.map((form) => (draft: Lowering) => form(draft, draft.input(1))) : [];
      const widened = all.slice(0, -1).map((form) => (draft: Lowering) => form(draft, filterOperand(draft, 0, 1)));
      return [...hybrid, ...widened];
    },
    lower: (op) => last(op, filterOperand(op, 0, 1)),
  };
}

/** The layout and dilation operands; none if there is no dilation. */
function dilationOperands(op: Lowering): number[] {
  const factors = positive(op, "dilationWFactor", "dilationHFactor");
  return isDilated(op) ? [op.bool(false), ...factors] : [];
}

function isDilated(op: Lowering): boolean {
  return op.number("dilationWFactor") !== 1 || op.number("dilationHFactor") !== 1;
}

const convolution: Row = {
  operator: "CONV_2D",
  version: 8,
  operations: ["CONV_2D", "GROUPED_CONV_2D"],
  ...withFilter((op) => (isGrouped(op) && !isDilated(op) ? [convolveGroups] : []), convolve),
};

/** True if the filters read some of the input channels each. */
function isGrouped(op: Lowering): boolean {
  const [depth, filterDepth] = [0, 1].map((place) => op.inputSpec(place).dimensions.at(-1) ?? 0);
  return depth !== 0 && depth !== filterDepth;
}

function convolve(op: Lowering, filter: number): void {
  const { head, dilation } = convolutionOperands(op, filter);
  const operands = [...head, fusedActivation(op), ...dilation];
  if (!isGrouped(op)) {
    op.emit("CONV_2D", operands, [op.output()]);
    return;
  }
  ensureGroups(op);
  // The extension's CONV_2D takes groups.
  if (op.emitExtended("CONV_2D", operands, [op.output()])) return;
  op.ensure(!isDilated(op), () => "the HAL has no grouped convolution with dilation");
  convolveGroups(op, filter);
}

/** The operands of all forms of a convolution: those at the head, and those of dilation. */
function convolutionOperands(
  op: Lowering,
  filter: number,
): { readonly head: readonly number[]; readonly dilation: readonly number[] } {
  const filterSpec = op.graph.spec(filter);
  imageExtents(op, op.inputSpec(0), "the input");
  const [units] = imageExtents(op, filterSpec, "the filter");
  const bias = biasOperand(op, 2, op.inputSpec(0), filterSpec, units);
  const head = [op.input(0), filter, bias, paddingScheme(op), ...positive(op, "strideW", "strideH")];
  return { head, dilation: dilationOperands(op) };
}

/** The number of groups of input channels. */
function ensureGroups(op: Lowering): number {
  const [depth = 0, filterDepth = 0] = [0, 1].map((place) => op.inputSpec(place).dimensions.at(-1));
  const groups = depth / filterDepth;
  op.ensure(
    Number.isInteger(groups),
    () => `${depth} input channels are not a multiple of the filters' ${filterDepth}`,
  );
  return groups;
}

/** The HAL's convolution of groups, which has no dilation. */
function convolveGroups(op: Lowering, filter: number): void {
  const { head } = convolutionOperands(op, filter);
  const groups = op.int32(ensureGroups(op));
  op.emit("GROUPED_CONV_2D", [...head, groups, fusedActivation(op), op.bool(false)], [op.output()]);
}

const depthwiseConvolution: Row = {
  operator: "DEPTHWISE_CONV_2D",
  version: 7,
  operations: ["DEPTHWISE_CONV_2D"],
  ...withFilter(() => [], convolveDepthwise),
};

function convolveDepthwise(op: Lowering, filter: number): void {
  const filterSpec = op.graph.spec(filter);
  const [, , , depth] = imageExtents(op, op.inputSpec(0), "the input");
  const [, , , channels] = imageExtents(op, filterSpec, "the filter");
  const multiplier = depth === 0 ? op.number("depthMultiplier") : channels / depth;
  op.ensure(
    Number.isInteger(multiplier) && multiplier >= 1,
    () => `${channels} output channels are not a multiple of ${depth} input channels`,
  );
  const bias = biasOperand(op, 2, op.inputSpec(0), filterSpec, channels);
  op.emit(
    "DEPTHWISE_CONV_2D",
    [
      ...[op.input(0), filter, bias, paddingScheme(op), ...positive(op, "strideW", "strideH")],
      ...[op.int32(multiplier), fusedActivation(op), ...dilationOperands(op)],
    ],
    [op.output()],
  );
}

/** Rows of the two-dimensional input and result of the HAL's FULLY_CONNECTED; 0 if unknown. */
function rowsOf(op: Lowering, depth: number): number {
  const { dimensions } = op.inputSpec(0);
  op.ensure(depth > 0, () => "the depth of the weights is unknown");
  if (dimensions.includes(0)) return 0;
  const rows = dimensions.reduce((product, each) => product * each, 1) / depth;
  op.ensure(
    Number.isInteger(rows),
    () => `the input ${listText(dimensions)} does not divide into rows of ${depth} elements`,
  );
  return rows;
}

/** The shape of the result, which has as many dimensions as the input on request, and else two. */
function connectedShape(op: Lowering, units: number, depth: number): readonly number[] {
  const { dimensions } = op.inputSpec(0);
  return op.flag("keepNumDims") ? dimensions.with(-1, units) : [rowsOf(op, depth), units];
}

/** Refuses weights that are not a matrix. */
function weightExtents(op: Lowering, { dimensions }: OperandSpec): { readonly units: number; readonly depth: number } {
  const [units, depth] = dimensions;
  op.ensure(
    dimensions.length === 2 && units !== undefined && depth !== undefined,
    () => `the weights have to have 2 dimensions, they have ${dimensions.length}`,
  );
  return { units, depth };
}

/** A layer whose weights have a scale per channel is a 1x1 convolution, for which the HAL has those. */
function asConvolution(op: Lowering, input: number, weights: OperandSpec, result: number): void {
  const { units, depth } = weightExtents(op, weights);
  const channelDim = weights.channelQuant?.channelDim ?? 0;
  op.ensure(channelDim === 0, () => `the weights have their scales along dimension ${channelDim}, the HAL needs 0`);
  const spec = op.graph.spec(input);
  const flat = op.graph.temporary({ ...spec, dimensions: [rowsOf(op, depth), 1, 1, depth] });
  const filter = op.graph.reinterpret(op.inputIndex(1), "1x1 filter", () => ({
    ...weights,
    dimensions: [units, 1, 1, depth],
    ...(weights.channelQuant && { channelQuant: { ...weights.channelQuant, channelDim: 0 } }),
  }));
  const bias = biasOperand(op, 2, spec, weights, units);
  const output = op.graph.spec(result);
  const image = op.graph.temporary({ ...output, dimensions: [elementAt(output.dimensions, 0), 1, 1, units] });
  const one = op.int32(1);
  op.emit("RESHAPE", [input, op.int32Tensor([-1, 1, 1, depth])], [flat]);
  op.emit("CONV_2D", [flat, filter, bias, op.int32(2), one, one, fusedActivation(op)], [image]);
  op.emit("RESHAPE", [image, op.int32Tensor([-1, units])], [result]);
}

/** Emits a hybrid layer, if the extension takes it. */
function connectQuantised(op: Lowering, blocks: Blocks | undefined): boolean {
  const weights = op.inputSpec(1);
  const bias = op.has(2)
    ? biasOperand(op, 2, op.inputSpec(0), weights, weightExtents(op, weights).units)
    : op.graph.omit("TENSOR_FLOAT32", 1);
  // TensorFlow Lite quantises the input asymmetrically if the weights have blocks.
  const isAsymmetric = blocks !== undefined || op.flag("asymmetricQuantizeInputs");
  const options = [fusedActivation(op), op.bool(op.flag("keepNumDims")), op.bool(isAsymmetric)];
  const scales = blocks === undefined ? [] : [blocks.scales];
  return op.emitExtended("FULLY_CONNECTED", [op.input(0), op.input(1), bias, ...options, ...scales], [op.output()]);
}

const fullyConnected: Row = {
  operator: "FULLY_CONNECTED",
  version: 14,
  operations: ["FULLY_CONNECTED", "RESHAPE", "CONV_2D"],
  refusal({ options: { weightsFormat = "DEFAULT" } }) {
    return weightsFormat === "DEFAULT" ? undefined : `weights in format ${weightsFormat} are not supported`;
  },
  lower(op: Lowering) {
    const blocks = op.inputTensor(1).blocks && expanding().blocksOf(op);
    op.ensure(
      blocks === undefined || op.inputSpec(0).type === "TENSOR_FLOAT32",
      () => `weights in blocks need FLOAT32 inputs, they are ${op.inputTensor(0).type}`,
    );
    if (op.quantisesInput(0, 1) && connectQuantised(op, blocks)) return;
    const weights = op.inputSpec(1);
    const { units, depth } = weightExtents(op, weights);
    op.ensure(units > 0, () => "the number of units is unknown");
    const shape = connectedShape(op, units, depth);
    const isFlat = shape.length === 2;
    const flatten = () => op.graph.temporary({ ...op.outputSpec(), dimensions: [rowsOf(op, depth), units] });
    const result = isFlat ? op.output() : flatten();
    const rank = op.inputSpec(0).dimensions.length;
    let input = op.input(0);
    if (rank < 2 || rank > 4) {
      input = op.graph.temporary({ ...op.inputSpec(0), dimensions: [rowsOf(op, depth), depth] });
      op.emit("RESHAPE", [op.input(0), op.int32Tensor([-1, depth])], [input]);
    }
    if (weights.channelQuant && isQuantised(op.inputSpec(0).type)) {
      asConvolution(op, input, weights, result);
    } else {
      const bias = biasOperand(op, 2, op.inputSpec(0), weights, units);
      const filter = blocks
        ? expanding().widenedBlocks(op, op.input(1), blocks.scales, blocks)
        : filterOperand(op, 0, 1);
      op.emit("FULLY_CONNECTED", [input, filter, bias, fusedActivation(op)], [result]);
    }
    if (!isFlat) op.emit("RESHAPE", [result, targetShape(op, shape)], [op.output()]);
  },
};

export const convolutionRows: readonly Row[] = [convolution, depthwiseConvolution, fullyConnected];
