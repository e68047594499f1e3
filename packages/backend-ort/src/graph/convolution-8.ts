/** 8-bit convolutions of a graph whose weights are constant, and other forms of them that compute some of the same sums. */
import { elementAt, elementCount } from "@nnhal/operations";
import type { Elements } from "../onnx/types.ts";
import type { Attribute, Initializer, Node } from "../onnx/write.ts";

/** A convolution in the order NHWC with constant weights, zero point and bias. */
export interface Convolution {
  readonly node: Node;
  readonly input: string;
  readonly output: string;
  /** [outputs, inputs of a group, height, width]. */
  readonly dims: readonly number[];
  /** Whether each output has an input of its own. If not, it reads all. */
  readonly isDepthwise: boolean;
  readonly weights: Initializer;
  readonly zeroPoint: number;
  readonly scale: Initializer;
  readonly bias: Initializer;
  /** The weights that do not fit 8 bits without their zero point. */
  readonly beyond: readonly { readonly output: number; readonly input: number }[];
}

/** A channel that a convolution reads, by its number in the convolution as it was. */
export interface Column {
  readonly channel: number;
  /** What multiplies it: the weight as far as it fits 8 bits, what remains of it, or 0. */
  readonly part: "most" | "rest" | "none";
}

/** A form of a convolution. */
export interface Form {
  readonly input: string;
  readonly output: string;
  /** The channels that it reads. Only symmetric forms have parts of weights. Undefined: as before. */
  readonly columns?: readonly Column[] | undefined;
  /** The outputs that it computes, by their numbers before. Undefined: all. */
  readonly rows?: readonly number[] | undefined;
  /** Whether the zero point of its weights is 0. */
  readonly isSymmetric: boolean;
  /** Whether a depthwise convolution becomes one that reads all of `columns`, of which each output uses those of its channel. */
  readonly isDense?: boolean;
}

/** The convolution of a node, if it has 8-bit constant weights with one zero point. */
export function convolutionOf(node: Node, constants: ReadonlyMap<string, Initializer>): Convolution | undefined {
  if (node.operator !== "QLinearConv" || node.domain !== "com.microsoft") return undefined;
  const [weights, scale, zeroPoints, bias] = [3, 4, 5, 8].map((place) => constants.get(node.inputs[place] ?? ""));
  if (weights?.type !== "int8" || scale === undefined || bias === undefined || zeroPoints === undefined)
    return undefined;
  const [outputs = 0, inputs = 0] = weights.dims;
  const group = numberOf(node.attributes.group);
  if (group !== 1 && (inputs !== 1 || outputs !== group)) return undefined;
  const zeroPoint = Number(elementAt<number | bigint>(zeroPoints.elements(), 0));
  const stored = once(() => signed(weights));
  const beyond: { output: number; input: number }[] = [];
  const cells = elementCount(weights.dims.slice(2));
  const all = zeroPoint === 0 ? new Int8Array() : stored();
  for (let place = 0; place < all.length; place++) {
    const weight = (all[place] ?? 0) - zeroPoint;
    if (weight >= -128 && weight <= 127) continue;
    // What remains must fit 8 bits too.
    if (weight > 254) return undefined;
    const filter = Math.floor(place / cells);
    beyond.push({ output: Math.floor(filter / inputs), input: filter % inputs });
  }
  const input = elementAt(node.inputs, 0);
  const output = elementAt(node.outputs, 0);
  const facts = { dims: weights.dims, isDepthwise: group !== 1, zeroPoint, beyond };
  return { node, input, output, weights: { ...weights, elements: stored }, scale, bias, ...facts };
}

function once<T>(compute: () => T): () => T {
  let result: T | undefined;
  return () => {
    result ??= compute();
    return result;
  };
}

/** The number of an attribute; 1 if it is absent, as strides and groups are. */
export function numberOf(attribute: Attribute | undefined): number {
  return attribute !== undefined && "int" in attribute ? attribute.int : 1;
}

/** Nodes with their constants. */
export interface Formed {
  readonly nodes: readonly Node[];
  readonly initializers: readonly Initializer[];
}

/** The node of a form. */
export function formed(
  convolution: Convolution,
  { input, output, columns, rows, isSymmetric, isDense = false }: Form,
): Formed {
  const { node, dims, zeroPoint, isDepthwise } = convolution;
  const [outputs = 0, inputs = 0, ...kernel] = dims;
  const named = (name: string) => `${output}-${name}`;
  const chosen = rows ?? Array.from({ length: outputs }, (_, row) => row);
  const read = columns ?? Array.from({ length: inputs }, (_, channel): Column => ({ channel, part: "most" }));
  const removed = isSymmetric ? zeroPoint : 0;
  const isWhole = columns === undefined && rows === undefined && removed === 0;
  const weights: Initializer = isWhole
    ? convolution.weights
    : {
        name: named("weights"),
        type: "int8",
        dims: [chosen.length, read.length, ...kernel],
        elements: () => filters(convolution, chosen, read, removed, isDense),
      };
  const zero: Initializer = {
    name: named("zero"),
    type: "int8",
    dims: [],
    elements: () => Int8Array.of(zeroPoint - removed),
  };
  const [scale, bias] = [convolution.scale, convolution.bias].map((each, place): Initializer => {
    if (rows === undefined || elementCount(each.dims) === 1) return each;
    return { ...each, name: named(`row${place}`), dims: [rows.length], elements: () => picked(each.elements(), rows) };
  });
  if (scale === undefined || bias === undefined) throw new Error("a convolution has a scale and a bias");
  const inputsOf = [...node.inputs];
  inputsOf[0] = input;
  for (const [place, { name }] of [
    [3, weights],
    [4, scale],
    [5, zero],
    [8, bias],
  ] as const)
    inputsOf[place] = name;
  const group = isDepthwise && !isDense ? chosen.length : 1;
  return {
    nodes: [
      { ...node, inputs: inputsOf, outputs: [output], attributes: { ...node.attributes, group: { int: group } } },
    ],
    initializers: [weights, scale, zero, bias],
  };
}

function signed({ elements }: Initializer): Int8Array {
  const stored = elements();
  return stored instanceof Int8Array ? stored : Int8Array.from(stored, Number);
}

function picked(elements: Elements, rows: readonly number[]): Elements {
  if (elements instanceof Int32Array) return Int32Array.from(rows, (row) => elementAt<number>(elements, row));
  return Float32Array.from(rows, (row) => Number(elementAt<number | bigint>(elements, row)));
}

/** The weights of some outputs for some channels, less `zeroPoint`. */
function filters(
  { weights, dims: [, inputs = 0, ...kernel], isDepthwise }: Convolution,
  rows: readonly number[],
  columns: readonly Column[],
  zeroPoint: number,
  isDense: boolean,
): Int8Array {
  const stored = signed(weights);
  const cells = elementCount(kernel);
  const to = new Int8Array(rows.length * columns.length * cells);
  let place = 0;
  for (const row of rows) {
    for (const { channel, part } of columns) {
      const isUsed = part !== "none" && (!isDense || channel === row);
      let from = (isDepthwise ? row : row * inputs + channel) * cells;
      for (let cell = 0; cell < cells; cell++, from++, place++) {
        const weight = (stored[from] ?? 0) - zeroPoint;
        const most = weight < -128 ? -128 : weight > 127 ? 127 : weight;
        if (isUsed) to[place] = part === "most" ? most : weight - most;
      }
    }
  }
  return to;
}
