/**
 * A weighted sum of 8 bits in the making: operands by the names of their parameters, with scales such that its results neither all
 * saturate nor all vanish.
 */
import { createData, elementAt, elementCount, integerRange, type Tensor, type TensorInfo } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import type { RandomOperation } from "../random/draw.ts";
import { scalarTensor } from "../random/elements.ts";
import type { Random } from "../random/random.ts";
import type { Signature } from "../random/signature.ts";
import { exactSums, operandsOf, type Sums } from "./exact.ts";

/** The shape, zero point and elements of an operand. */
export interface Drawn {
  readonly dimensions: readonly number[];
  readonly zeroPoint: number;
  readonly elements: ArrayLike<number>;
}

/** The parts of a weighted sum, without its scales. */
export interface Layer {
  readonly signature: Signature;
  readonly input: Drawn;
  readonly filter: Drawn;
  /** One for each output channel, in units of the sums. */
  readonly bias: readonly number[];
  /** Scalars by the names of their parameters; those that the signature does not have are ignored. */
  readonly scalars: Readonly<Record<string, number | boolean>>;
}

/** The scalars of a layer with strides and dilations of 1 and without padding: the window of an image of its size is taken once. */
export function oneWindow(groups: number): Layer["scalars"] {
  return {
    strideWidth: 1,
    strideHeight: 1,
    dilationWidth: 1,
    dilationHeight: 1,
    depthMultiplier: 1,
    groups,
    paddingScheme: 2,
  };
}

/** The types of input and filter of a signature. */
export function typesOfSum({ inputs, types }: Signature): readonly [input: OperandTypeName, filter: OperandTypeName] {
  const [input, filter] = inputs.slice(0, 2).map((param) => types.get(param));
  if (input === undefined || filter === undefined) throw new TypeError("a weighted sum has an input and a filter");
  return [input, filter];
}

/** Returns true if a signature is one of 8 bits whose window is not given by the shape of its result. */
export function isOf8Bits({ inputs, types }: Signature): boolean {
  const [first] = inputs;
  const type = first && types.get(first);
  const is8Bit = type === "TENSOR_QUANT8_ASYMM" || type === "TENSOR_QUANT8_ASYMM_SIGNED";
  return is8Bit && inputs.every(({ name }) => name !== "outputShape");
}

/** The scale and zero point of an output, chosen for its sums. */
export interface OutputChoice {
  /** The greatest of all sums is so many steps. Default: as many as all sums fit into the range of the output. */
  readonly span?: number | undefined;
  /** If true, the zero point is sometimes one that moves sums beyond the range. Default: false. */
  readonly anyZeroPoint?: boolean | undefined;
}

/** Builds the operation of a layer. Filters with separate scales get such ones that their greatest sums are about equal. */
export function operationOfLayer(
  layer: Layer,
  random: Random,
  { span, anyZeroPoint = false }: OutputChoice = {},
): RandomOperation {
  const { signature, input, filter, bias } = layer;
  const [inputType, filterType] = typesOfSum(signature);
  const [inputScale, filterScale] = [drawScale(random), drawScale(random)];
  const isPerChannel = filterType === "TENSOR_QUANT8_SYMM_PER_CHANNEL";
  const channelDim = signature.operation.name === "DEPTHWISE_CONV_2D" ? 3 : 0;
  const tensors = (scales: readonly number[]): Readonly<Record<string, Tensor>> => {
    const weights = isPerChannel
      ? { ...tensorOf(filterType, filter, 0), channelQuant: { scales, channelDim } }
      : tensorOf(filterType, filter, filterScale);
    return {
      input: tensorOf(inputType, input, inputScale),
      filter: weights,
      weights,
      bias: tensorOf(
        "TENSOR_INT32",
        { dimensions: [bias.length], zeroPoint: 0, elements: bias },
        isPerChannel ? 0 : inputScale * filterScale,
      ),
    };
  };
  const operation = (scales: readonly number[], output: Pick<TensorInfo, "scale" | "zeroPoint">): RandomOperation => {
    const given = tensors(scales);
    return {
      signature,
      inputs: signature.inputs.map(({ name, kind, type }) =>
        kind === "tensor"
          ? given[name]
          : scalarTensor(kind === "boolean" ? "BOOL" : scalarType(type), layer.scalars[name] ?? 0),
      ),
      outputs: [{ type: inputType, dimensions: [], ...output }],
    };
  };
  const equal = bias.map(() => filterScale);
  const found = exactSums(operandsOf(operation(equal, { scale: 1, zeroPoint: 0 })));
  const greatest = greatestSums(found, bias.length);
  const most = Math.max(1, ...greatest);
  const scales = greatest.map((own) => Math.fround((filterScale * most) / Math.max(1, own)));
  const range = integerRange(inputType);
  const fitting = zeroPointFor(found, range);
  const steps = span ?? Math.max(range[1] - fitting, fitting - range[0]) - 5;
  return operation(isPerChannel ? scales : equal, {
    scale: Math.fround((inputScale * filterScale * most) / steps),
    zeroPoint: anyZeroPoint && random.chance(0.2) ? random.pick([...range, random.integer(...range)]) : fitting,
  });
}

/** A scale as training finds them: no power of two. */
function drawScale(random: Random): number {
  return Math.fround(2 ** -random.integer(2, 9) * (1 + random.next()));
}

function scalarType(type: unknown): OperandTypeName {
  // The scalars of weighted sums are of one integer type.
  return type === "FLOAT32" ? "FLOAT32" : "INT32";
}

function tensorOf(type: OperandTypeName, { dimensions, zeroPoint, elements }: Drawn, scale: number): Tensor {
  const data = createData(type, elementCount(dimensions));
  data.set(Array.from(elements));
  return { type, dimensions, scale: Math.fround(scale), zeroPoint, data };
}

/** The greatest magnitude of each output channel. */
function greatestSums({ sums, channels }: Sums, count: number): number[] {
  const greatest = new Array<number>(count).fill(0);
  for (const [place, sum] of sums.entries()) {
    const channel = elementAt(channels, place);
    greatest[channel] = Math.max(elementAt(greatest, channel), Math.abs(sum));
  }
  return greatest;
}

/** The zero point of an output by which its sums are within its range. */
function zeroPointFor({ sums }: Sums, [least, greatest]: readonly [number, number]): number {
  const [isBelow, isAbove] = [sums.some((sum) => sum < 0), sums.some((sum) => sum > 0)];
  return isBelow && isAbove ? Math.ceil((least + greatest) / 2) : isBelow ? greatest : least;
}
