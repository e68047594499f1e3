/**
 * Quantised operations in real numbers: the float kernel on the numbers that the elements represent. The result shows how far
 * each element is from the nearest step, and so the result of a device that rounds down.
 */
import {
  type AnyArg,
  type AnyArgs,
  type AnyOutputs,
  elementAt,
  integerRange,
  type Operation,
  type OutputTensor,
  runToEnd,
  type Tensor,
} from "@nnhal/operations";

/**
 * The first result of an operation in steps of its output, its zero point added, neither rounded nor limited to the range of its type;
 * undefined if the operation has no float kernel. The arguments and outputs are those of its quantised kernel.
 */
export function realSteps(operation: Operation, args: AnyArgs, outputs: AnyOutputs): Float64Array | undefined {
  const { reference, forms } = operation;
  const [first] = outputsOf(outputs);
  if (reference === undefined || first === undefined || first.scale === 0 || !forms.some(hasFloats)) return undefined;
  const reals: Record<string, OutputTensor> = {};
  for (const [name, output] of Object.entries(outputs)) {
    // Operations with lists of outputs only move elements.
    if (output === undefined || isList(output)) return undefined;
    reals[name] = { ...output, ...ofFloats, data: new Float32Array(output.data.length) };
  }
  const given = Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, realArgument(arg, name, args)]));
  runToEnd(reference(given, reals, { random: () => 0 }));
  const data = outputsOf(reals)[0]?.data ?? [];
  return Float64Array.from(data, (real) => real / first.scale + first.zeroPoint);
}

/** The elements that an output has if exact results are rounded down. */
export function roundedDown(steps: Float64Array, type: Tensor["type"]): Float64Array {
  const [least, greatest] = integerRange(type);
  // Floats within their own rounding of a whole number are that number.
  return steps.map((value) => Math.min(greatest, Math.max(least, Math.floor(value + 2 ** -10))));
}

/** All outputs of a kernel in a row. */
export function outputsOf(outputs: AnyOutputs): OutputTensor[] {
  return Object.values(outputs)
    .flat()
    .filter((output) => output !== undefined);
}

const ofFloats = { type: "TENSOR_FLOAT32", scale: 0, zeroPoint: 0 } as const;

/** Returns true if a form has a row without quantised types. */
function hasFloats({ types }: Operation["forms"][number]): boolean {
  return types.some((row) => row.includes("TENSOR_FLOAT32") && !row.some((type) => String(type).includes("QUANT")));
}

function realArgument(arg: AnyArg, name: string, args: AnyArgs): AnyArg {
  if (isList(arg)) return arg.map((tensor) => (isTensor(tensor) ? realTensor(tensor, scalesOf(tensor)) : tensor));
  if (!isTensor(arg)) return arg;
  // The bias of a filter with a scale for each channel has no scale.
  const { input, filter } = args;
  const isOfChannels = name === "bias" && arg.scale === 0 && isTensor(input) && isTensor(filter);
  const scales = isOfChannels ? filter.channelQuant?.scales.map((scale) => scale * input.scale) : undefined;
  return realTensor(arg, scales === undefined ? scalesOf(arg) : (index) => elementAt(scales, index));
}

/** The scale of each element; undefined if the elements are numbers of their own. */
function scalesOf({ scale, dimensions, channelQuant }: Tensor): ((index: number) => number) | undefined {
  if (channelQuant === undefined) return scale === 0 ? undefined : () => scale;
  const { scales, channelDim } = channelQuant;
  const step = dimensions.slice(channelDim + 1).reduce((product, extent) => product * extent, 1);
  return (index) => elementAt(scales, Math.floor(index / step) % scales.length);
}

function realTensor(tensor: Tensor, scaleAt: ((index: number) => number) | undefined): Tensor {
  const { dimensions, zeroPoint } = tensor;
  if (scaleAt === undefined) return tensor;
  const data = Float32Array.from(tensor.data, (element, index) => (element - zeroPoint) * scaleAt(index));
  return { ...ofFloats, dimensions, data };
}

function isTensor(arg: AnyArg): arg is Tensor {
  return typeof arg === "object" && "data" in arg;
}

function isList<Item>(value: AnyArg | Item | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value);
}
