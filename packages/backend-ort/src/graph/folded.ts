/**
 * 8-bit convolutions of images with few channels, which the first layers of networks are. Pixels that are side by side count as one
 * with more channels, which changes nothing in memory, and the convolution computes several of its outputs at once; some of its
 * weights are 0. Kernels of onnxruntime multiply several bytes at once only if they are channels of one pixel.
 */
import { elementAt, elementCount } from "@nnhal/operations";
import type { Attribute, Initializer, Node } from "../onnx/write.ts";
import type { Convolution, Formed } from "./convolution-8.ts";

/** Fewest channels of an image that is not folded. The number of channels of a folded image is a multiple of it. */
const alignment = 4;

/** Geometry of a folded convolution. */
export interface Fold {
  /** The pixels that become one, and the outputs that do. */
  readonly pixels: number;
  readonly outputs: number;
  readonly stride: number;
  readonly channels: number;
  /** The columns of the image before the first pixel of a filter, which are padding, and those of the folded image. */
  readonly left: number;
  readonly foldedLeft: number;
  /** The extents of the folded image, and of the result. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly kernel: readonly [number, number];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** Returns the fold of a convolution; undefined if folding is not possible, or not needed. */
export function foldOf(
  { isDepthwise, dims, node, input }: Convolution,
  shapes: ReadonlyMap<string, readonly number[]>,
): Fold | undefined {
  const [batches = 0, height = 0, width = 0, channels = 0] = shapes.get(input) ?? [];
  if (isDepthwise || channels === 0 || channels >= alignment) return undefined;
  const [, , kernelHeight = 0, kernelWidth = 0] = dims;
  const { strides, pads, dilations } = node.attributes;
  if (strides === undefined || pads === undefined || dilations === undefined) return undefined;
  if (!("ints" in strides && "ints" in pads && "ints" in dilations)) return undefined;
  if (dilations.ints.some((each) => each !== 1)) return undefined;
  const [down = 1, stride = 1] = strides.ints;
  const [top = 0, left = 0, bottom = 0, right = 0] = pads.ints;
  const pixels = [1, 2, 3, 4].map((each) => each * stride).find((each) => (each * channels) % alignment === 0);
  if (pixels === undefined || width % pixels !== 0) return undefined;
  const outputs = pixels / stride;
  const columns = Math.floor((width + left + right - kernelWidth) / stride) + 1;
  const rows = Math.floor((height + top + bottom - kernelHeight) / down) + 1;
  const foldedLeft = Math.ceil(left / pixels);
  const last = Math.floor((stride * (outputs - 1) - left + kernelWidth - 1) / pixels);
  const foldedWidth = foldedLeft + last + 1;
  const foldedRight = columns / outputs - 1 + foldedWidth - foldedLeft - width / pixels;
  if (columns % outputs !== 0 || foldedRight < 0) return undefined;
  return {
    pixels,
    outputs,
    stride,
    channels,
    left,
    foldedLeft,
    from: [batches, height, width / pixels, pixels * channels],
    to: [batches, rows, columns],
    kernel: [kernelHeight, foldedWidth],
    attributes: {
      kernel_shape: { ints: [kernelHeight, foldedWidth] },
      strides: { ints: [down, 1] },
      pads: { ints: [top, foldedLeft, bottom, foldedRight] },
    },
  };
}

/** The nodes that fold an image, once or twice in a row; and the name of the result. */
export function foldedImage(input: string, { from }: Fold, times: number): Formed & { readonly name: string } {
  const name = `${input}-folded`;
  const [batches = 0, height = 0, width = 0, channels = 0] = from;
  const shape = shapeOf(name, [batches, height, width, channels]);
  const reshape = node("Reshape", [input, shape.name], name);
  if (times === 1) return { name, nodes: [reshape], initializers: [shape] };
  const twice = `${input}-twice`;
  const concat = node(
    "Concat",
    Array.from({ length: times }, () => name),
    twice,
    { axis: { int: 3 } },
  );
  return { name: twice, nodes: [reshape, concat], initializers: [shape] };
}

/** The folded form of a convolution whose weights are those of the image, and of as many copies of it as they have more channels. */
export function foldForm(form: Formed, fold: Fold, image: string): Formed {
  const [convolution] = form.nodes;
  if (convolution === undefined) throw new Error("a form has a convolution");
  const output = elementAt(convolution.outputs, 0);
  const inputs = [...convolution.inputs];
  const { outputs, to } = fold;
  const constantAt = (place: number): Initializer => {
    const found = form.initializers.find(({ name }) => name === inputs[place]);
    if (found === undefined) throw new Error("the weights of a convolution are constant");
    return found;
  };
  const weights = constantAt(3);
  const count = elementAt(weights.dims, 0);
  const zeroPoint = Number(elementAt<number | bigint>(constantAt(5).elements(), 0));
  const changed = [
    [0, undefined, image],
    [3, foldedWeights(weights, fold, zeroPoint, `${output}-folded-weights`)],
    [4, repeatConstant(constantAt(4), outputs, `${output}-folded-scale`)],
    [8, repeatConstant(constantAt(8), outputs, `${output}-folded-bias`)],
  ] as const;
  for (const [place, constant, name] of changed) inputs[place] = constant?.name ?? name ?? "";
  const shape = shapeOf(output, [...to, count]);
  const parts = `${output}-parts`;
  return {
    nodes: [
      { ...convolution, inputs, outputs: [parts], attributes: { ...convolution.attributes, ...fold.attributes } },
      node("Reshape", [parts, shape.name], output),
    ],
    initializers: [
      ...form.initializers,
      shape,
      ...changed.flatMap(([, constant]) => (constant === undefined ? [] : [constant])),
    ],
  };
}

function node(operator: string, inputs: readonly string[], output: string, attributes: Node["attributes"] = {}): Node {
  return { operator, domain: "", inputs, outputs: [output], attributes };
}

function shapeOf(name: string, dims: readonly number[]): Initializer {
  const elements = () => BigInt64Array.from(dims, BigInt);
  return { name: `${name}-shape`, type: "int64", dims: [dims.length], elements };
}

function foldedWeights(weights: Initializer, fold: Fold, zeroPoint: number, name: string): Initializer {
  const { pixels, outputs, stride, channels, left, foldedLeft, kernel } = fold;
  const [count = 0, all = 0, height = 0, width = 0] = weights.dims;
  const folds = pixels * all;
  const elements = (): Int8Array => {
    const stored = weights.elements();
    const to = new Int8Array(outputs * count * folds * elementCount(kernel)).fill(zeroPoint);
    for (let from = 0; from < stored.length; from++) {
      const x = from % width;
      const y = Math.floor(from / width) % height;
      const channel = Math.floor(from / (width * height)) % all;
      const row = Math.floor(from / (width * height * all));
      const copy = Math.floor(channel / channels);
      for (let output = 0; output < outputs; output++) {
        const column = output * stride - left + x + foldedLeft * pixels;
        const input = (copy * pixels + (column % pixels)) * channels + (channel % channels);
        const filter = (output * count + row) * folds + input;
        to[(filter * height + y) * kernel[1] + Math.floor(column / pixels)] = Number(stored[from]);
      }
    }
    return to;
  };
  return { name, type: "int8", dims: [outputs * count, folds, ...kernel], elements };
}

/** A constant for each output, for several outputs in a row. One number for all stays so. */
function repeatConstant(constant: Initializer, times: number, name: string): Initializer {
  const { dims } = constant;
  if (dims.length === 0) return constant;
  const elements = () => {
    const from = constant.elements();
    const length = times * from.length;
    const at = (place: number) => Number(elementAt<number | bigint>(from, place % from.length));
    const places = Array.from({ length }, (_, place) => at(place));
    return from instanceof Int32Array ? Int32Array.from(places) : Float32Array.from(places);
  };
  return { ...constant, name, dims: [times * elementCount(dims)], elements };
}
