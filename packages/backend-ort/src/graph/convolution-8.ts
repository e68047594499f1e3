/** 8-bit convolutions of a graph whose weights are constant, and other forms of them that compute some of the same sums. */
import { elementAt, elementCount } from "@nnhal/operations";
import type { Elements } from "../onnx/types.ts";
import type { Attribute, Initializer, Node } from "../onnx/write.ts";
import { difference } from "./bytes.ts";

/** A convolution in the order NHWC with constant weights, zero point and bias. */
export interface Convolution {
  readonly node: Node;
  readonly input: string;
  readonly output: string;
  /** [outputs, inputs of a group, height, width]. */
  readonly dims: readonly number[];
  /** True if each output reads one input of its own; otherwise each reads all. */
  readonly isDepthwise: boolean;
  readonly weights: Initializer;
  readonly zeroPoint: number;
  readonly scale: Initializer;
  readonly bias: Initializer;
  /** The weights less their zero point, as far as they fit 8 bits. */
  readonly symmetric: Int8Array;
  /** The weights that do not fit 8 bits without their zero point. */
  readonly beyond: readonly Beyond[];
}

interface Beyond {
  readonly output: number;
  readonly input: number;
  /** Index among all weights. */
  readonly place: number;
  /** The part of the weight that does not fit. */
  readonly rest: number;
}

/** A channel that a convolution reads, by its number in the convolution as it was. */
export interface Column {
  readonly channel: number;
  /** Its factor: the weight as far as it fits 8 bits, the rest of it, or 0. */
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
  /** True if the zero point of its weights is 0. */
  readonly isSymmetric: boolean;
  /** True if a depthwise convolution becomes one that reads all of `columns`; each output uses those of its channel. */
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
  const { numbers: symmetric, beyond: places } =
    zeroPoint === 0
      ? { numbers: readSigned(weights), beyond: [] }
      : difference(weights.unsigned?.() ?? readSigned(weights), zeroPoint);
  const cells = elementCount(weights.dims.slice(2));
  const beyond: Beyond[] = [];
  for (const { place, rest } of places) {
    if (rest > 127) return undefined;
    const filter = Math.floor(place / cells);
    beyond.push({ output: Math.floor(filter / inputs), input: filter % inputs, place, rest });
  }
  const input = elementAt(node.inputs, 0);
  const output = elementAt(node.outputs, 0);
  const facts = { dims: weights.dims, isDepthwise: group !== 1, zeroPoint, symmetric, beyond };
  const kept = zeroPoint === 0 ? { ...weights, elements: () => symmetric } : weights;
  return { node, input, output, weights: kept, scale, bias, ...facts };
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
export function buildForm(
  convolution: Convolution,
  { input, output, columns, rows, isSymmetric, isDense = false }: Form,
): Formed {
  const { node, dims, zeroPoint, isDepthwise } = convolution;
  const [outputs = 0, inputs = 0, ...kernel] = dims;
  const named = (name: string) => `${output}-${name}`;
  const chosen = rows ?? Array.from({ length: outputs }, (_, row) => row);
  const read = columns ?? Array.from({ length: inputs }, (_, channel): Column => ({ channel, part: "most" }));
  const removed = isSymmetric ? zeroPoint : 0;
  const isWhole = columns === undefined && rows === undefined;
  const whole: Initializer =
    removed === 0
      ? convolution.weights
      : { ...convolution.weights, name: named("weights"), elements: () => convolution.symmetric };
  const weights: Initializer = isWhole
    ? whole
    : {
        name: named("weights"),
        type: "int8",
        dims: [chosen.length, read.length, ...kernel],
        elements: () => filters(convolution, chosen, read, isSymmetric, isDense),
      };
  const zero: Initializer = {
    name: `zero${zeroPoint - removed}`,
    type: "int8",
    dims: [],
    elements: () => Int8Array.of(zeroPoint - removed),
  };
  const [scale, bias] = [convolution.scale, convolution.bias].map((each, place): Initializer => {
    if (rows === undefined || elementCount(each.dims) === 1) return each;
    return {
      ...each,
      name: named(`row${place}`),
      dims: [rows.length],
      elements: () => pickRows(each.elements(), rows),
    };
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

function readSigned({ elements }: Initializer): Int8Array {
  const stored = elements();
  return stored instanceof Int8Array ? stored : Int8Array.from(stored, Number);
}

function pickRows(elements: Elements, rows: readonly number[]): Elements {
  if (elements instanceof Int32Array) return Int32Array.from(rows, (row) => elementAt<number>(elements, row));
  return Float32Array.from(rows, (row) => Number(elementAt<number | bigint>(elements, row)));
}

/**
 * The weights of some outputs for some channels. It runs once, before its code is optimised: its loops are few, call nothing, and write
 * one row after the other.
 */
function filters(
  { weights, symmetric, beyond, dims: [, inputs = 0, ...kernel], isDepthwise }: Convolution,
  rows: readonly number[],
  columns: readonly Column[],
  isSymmetric: boolean,
  isDense: boolean,
): Int8Array {
  const from = isSymmetric ? symmetric : readSigned(weights);
  const cells = elementCount(kernel);
  const width = columns.length * cells;
  const to = new Int8Array(rows.length * width);
  const rowSize = isDepthwise ? cells : inputs * cells;
  const own = isDense ? 0 : Math.min(inputs, columns.length);
  let place = 0;
  if (own * cells === rowSize) {
    // The filters that are rows in order: copied at once to the end of their rows, then moved, which makes no object for each.
    while (rows[place] === place) place++;
    const begin = place * (width - rowSize);
    to.set(from.subarray(0, place * rowSize), begin);
    for (let row = 0; rowSize < width && row < place; row++) {
      const source = begin + row * rowSize;
      to.copyWithin(row * width, source, source + rowSize);
      to.fill(0, row * width + rowSize, (row + 1) * width);
    }
  }
  for (; place < rows.length; place++) {
    const begin = elementAt(rows, place) * rowSize;
    to.set(from.subarray(begin, begin + own * cells), place * width);
  }
  /** The columns that are not where they were. */
  const moved = columns.flatMap(({ channel, part }, column) =>
    part === "most" && (column >= own || channel !== column) ? [column] : [],
  );
  if (isDense) {
    const columnsOf = listByKey(moved, (column) => elementAt(columns, column).channel);
    for (const [place, row] of rows.entries()) {
      const filter = from.subarray(row * cells, (row + 1) * cells);
      for (const column of columnsOf.get(row) ?? []) to.set(filter, place * width + column * cells);
    }
  } else if (moved.length > 0) {
    const targets = Int32Array.from(moved, (column) => column * cells);
    const sources = Int32Array.from(moved, (column) => elementAt(columns, column).channel * cells);
    for (let place = 0; place < rows.length; place++) {
      const begin = elementAt(rows, place) * rowSize;
      for (let each = 0; each < targets.length; each++) {
        const target = place * width + (targets[each] ?? 0);
        const source = begin + (sources[each] ?? 0);
        for (let cell = 0; cell < cells; cell++) to[target + cell] = from[source + cell] ?? 0;
      }
    }
  }
  const changed = columns.flatMap(({ part }, column) => (part === "most" ? [] : [column]));
  for (const column of changed) {
    if (column < own) for (let at = column * cells; at < to.length; at += width) to.fill(0, at, at + cells);
  }
  const rests = changed.filter((column) => columns[column]?.part === "rest");
  if (rests.length === 0) return to;
  const restsOf = listByKey(rests, (column) => elementAt(columns, column).channel);
  const divided = new Set(beyond.map(({ output }) => output));
  const places = rows.flatMap((row, place) => (divided.has(row) ? [place] : []));
  const placesOf = listByKey(places, (place) => elementAt(rows, place));
  for (const { output, input, place: at, rest } of beyond) {
    for (const column of restsOf.get(isDense ? output : input) ?? []) {
      for (const place of placesOf.get(output) ?? []) to[place * width + column * cells + (at % cells)] = rest;
    }
  }
  return to;
}

/** Numbers by what a function says of them. */
function listByKey(
  numbers: readonly number[],
  keyOf: (number: number) => number,
): ReadonlyMap<number, readonly number[]> {
  const lists = new Map<number, number[]>();
  for (const number of numbers) {
    const key = keyOf(number);
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [number]);
    else list.push(number);
  }
  return lists;
}
