/**
 * Operations that few networks have. Whether they can be compiled is known at once; the code that plans them is loaded when a network with them is compiled, so
 * that a page without one does not load it.
 */
import { bindArgumentsOf, type GraphView, type KernelTensor, type OperationView } from "@nnhal/backend";
import {
  type AnyArgs,
  activationRange,
  elementCount,
  type OperationArgs,
  type OperationOutputs,
  type TensorInfo,
} from "@nnhal/operations";
import { type Builder, outputOf, type Value } from "./builder.ts";
import type { Planned } from "./control.ts";
import { constantOf, expectFloat, expectReal, isQuant8, type Lowering, type LoweringTable } from "./lowering.ts";
import type { Step } from "./plan.ts";
import { refuse } from "./refusal.ts";
import { checkSums } from "./weighted.ts";
import { mayBeInfinite, mostProducts } from "./windows.ts";

let loaded: typeof import("./rare.ts") | undefined;

type Name = keyof typeof checks;

/** Pairs of boxes that may be compared: more of them take too long for one unit of work. */
const mostPairs = 2 ** 25;

/** Refuses what detections do not have. */
function checkDetections(args: OperationArgs<"DETECTION_POSTPROCESSING", KernelTensor>): void {
  const { scores, useRegularNms, most, mostPerClass } = args;
  for (const tensor of [scores, args.deltas, args.anchors]) expectFloat(tensor);
  const [, count = 1, classes = 1] = scores.dimensions;
  const pairs = count * (useRegularNms ? Math.min(count, mostPerClass) * classes : Math.min(count, most));
  if (pairs > mostPairs) refuse(`${count} boxes may have ${pairs} pairs, more than ${mostPairs}`);
}

/** More matrices than these would make too much code. */
const mostMatrices = 64;

/** Refuses products of too many matrices: each is a step. */
export function expectFewMatrices({ dimensions }: TensorInfo): void {
  const count = elementCount(dimensions.slice(0, -2));
  if (count > mostMatrices) refuse(`${count} matrices make more code than there may be`);
}

/** Sums of this many products of bytes fit 32 bits, whatever the zero points are. */
const mostByteProducts = Math.floor((2 ** 31 - 1) / 255 ** 2);

/** Refuses what products of matrices do not have. */
function checkMatrices({ x, adjX }: OperationArgs<"BATCH_MATMUL", KernelTensor>): void {
  if (x.type === "TENSOR_INT32") return;
  const depth = x.dimensions.at(adjX ? -2 : -1) ?? 1;
  if (isQuant8(x) && depth > mostByteProducts) refuse("its sums may need more than 32 bits");
  expectFewMatrices(x);
}

/** Refuses an axis that is not constant, or not one of the tensor. */
function checkReverse({ input, axis }: OperationArgs<"REVERSE", KernelTensor>): void {
  const [place = 0] = Array.from(constantOf("the axis", axis));
  if (place < 0 || place >= input.dimensions.length) refuse(`there is no axis ${place}`);
}

/** Refuses what makes too much code, and sums that are not available. */
function checkTransposed(
  { input, filter, bias, activation, strideHeight, strideWidth }: OperationArgs<"TRANSPOSE_CONV_2D", KernelTensor>,
  { output }: OperationOutputs<"TRANSPOSE_CONV_2D", TensorInfo>,
  builder: Builder,
): void {
  const [columns = 0, height = 1, width = 1, channels = 1] = filter.dimensions;
  if (strideHeight * strideWidth > mostProducts)
    refuse(`strides of ${strideHeight}x${strideWidth} make more code than there may be`);
  const partsOf = (cells: number, stride: number) => stride * (2 * Math.ceil(cells / stride) + 1);
  if (partsOf(height, strideHeight) * partsOf(width, strideWidth) > mostProducts && mayBeInfinite(filter))
    refuse("its borders make more code than there may be, and its weights may be infinite");
  const depth = height * width * channels;
  const weights = { filter, depth, columns, depthStep: 1, columnStep: depth };
  checkSums(builder, { input, weights, bias, output, activation });
}

/** Refuses activations that there are not. */
const checkActivation = ({ activation }: { readonly activation: number }) => void activationRange(activation);

/** Refuses types that are not available. */
const checkFloat = ({ input }: { readonly input: TensorInfo }) => expectFloat(input);
const checkReal = ({ input }: { readonly input: TensorInfo }) => expectReal(input);

/** All is available. */
const noCheck = () => {};

const checks = {
  DETECTION_POSTPROCESSING: checkDetections,
  BATCH_MATMUL: checkMatrices,
  PACK: noCheck,
  REVERSE: checkReverse,
  ARGMAX: noCheck,
  ARGMIN: noCheck,
  TOPK_V2: noCheck,
  GATHER: noCheck,
  EMBEDDING_LOOKUP: noCheck,
  HASHTABLE_LOOKUP: noCheck,
  TRANSPOSE_CONV_2D: checkTransposed,
  INSTANCE_NORMALIZATION: checkFloat,
  L2_NORMALIZATION: checkReal,
  LOCAL_RESPONSE_NORMALIZATION: checkFloat,
  LOG_SOFTMAX: checkFloat,
  MIRROR_PAD: noCheck,
  ROI_ALIGN: noCheck,
  ROI_POOLING: noCheck,
  HEATMAP_MAX_KEYPOINT: noCheck,
  AXIS_ALIGNED_BBOX_TRANSFORM: noCheck,
  LSTM: noCheck,
  UNIDIRECTIONAL_SEQUENCE_LSTM: noCheck,
  BIDIRECTIONAL_SEQUENCE_LSTM: noCheck,
  RNN: checkActivation,
  UNIDIRECTIONAL_SEQUENCE_RNN: checkActivation,
  BIDIRECTIONAL_SEQUENCE_RNN: checkActivation,
  SVDF: checkActivation,
  QUANTIZED_LSTM: noCheck,
  QUANTIZED_16BIT_LSTM: noCheck,
} as const;

/** The lowering if it is loaded; else, in a trial, results without steps. */
function defer(name: Name): Lowering<AnyArgs, AnyArgs> {
  return (args, outputs, builder): Value | readonly Value[] => {
    // The arguments are those of the operation of this name.
    (checks[name] as (...all: readonly [AnyArgs, AnyArgs, Builder]) => void)(args, outputs, builder);
    const lowering = loaded?.rare[name] as Lowering<AnyArgs, AnyArgs> | undefined;
    if (lowering !== undefined) return lowering(args, outputs, builder);
    if (!builder.isTrial) throw new TypeError(`${name} is planned before its code is loaded`);
    for (const value of Object.values(args).flat()) if (isTensor(value)) builder.read(value);
    return Object.values(outputs).map((info) => outputOf(builder, info as TensorInfo));
  };
}

function isTensor(value: AnyArgs[string]): value is KernelTensor {
  return typeof value === "object" && "index" in value;
}

/** The lowerings. */
export const deferredLowerings: LoweringTable = Object.fromEntries(
  Object.keys(checks).map((name) => [name, defer(name as Name)]),
);

/** More numbers than this would keep the event loop waiting. */
const mostFolded = 4096;

/** True if the results of an operation are known when a plan is made: see `folded.ts`. */
function isFolded({ definition }: OperationView, tensors: readonly (KernelTensor | undefined)[]): boolean {
  if (definition.extension !== undefined) return false;
  if (definition.name === "RANK") return true;
  return definition.dynamic && tensors.every((tensor) => tensor === undefined || tensor.data !== undefined);
}

/** The results of an operation that are known when a plan is made; undefined if they are not. In a trial without the code for it, their types. */
export function fold(
  view: OperationView,
  tensors: readonly (KernelTensor | undefined)[],
  builder: Builder,
): Planned | undefined {
  if (!isFolded(view, tensors)) return undefined;
  const count = tensors.reduce((sum, tensor) => sum + elementCount(tensor?.dimensions ?? []), 0);
  if (view.definition.dynamic && count > mostFolded)
    refuse(`constants of ${count} elements are too large to compute with them now`);
  if (loaded !== undefined) return loaded.foldOperation(view, tensors, builder);
  if (!builder.isTrial) throw new TypeError(`${view.definition.name} is planned before its code is loaded`);
  const { outputs: infos } = bindArgumentsOf(view, tensors);
  return { infos, values: infos.map((info) => outputOf(builder, info)) };
}

/** The steps with shorter units, if the code for that is loaded. */
export function divideLong(builder: Builder, steps: readonly Step[], most?: number): readonly Step[] {
  return loaded === undefined ? steps : loaded.divideSteps(builder, steps, most);
}

/** Loads what few networks need. Resolves to false if it was loaded before. */
export async function loadRare(): Promise<boolean> {
  if (loaded !== undefined) return false;
  loaded = await import("./rare.ts");
  return true;
}

/** Loads the code for the operations of a network. */
export async function loadFor(graph: GraphView): Promise<void> {
  if (loaded !== undefined) return;
  const isRare = ({ operations }: GraphView) =>
    operations.some(({ definition: { extension, name, dynamic } }) => {
      // Operations of the extension may be planned as those of the HAL with their names.
      return name in checks || (extension === undefined && (dynamic || name === "RANK"));
    });
  if ([graph, ...graph.referenced].some(isRare)) await loadRare();
}
