/**
 * Builds an ONNX graph: values, constants and nodes. Shapes are known throughout. Elements of constants are computed when the model is
 * written, so that a graph that only answers a question costs little.
 */
import { elementAt, elementCount } from "@nnhal/operations";
import { type Elements, type ElementType, elementTypes } from "../onnx/types.ts";
import type { Attribute, Initializer, Node, OnnxGraph, Port } from "../onnx/write.ts";

/** A value of the graph: the result of a node, an input of the graph, or a constant. */
export interface Value {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  /** The elements of a constant. */
  readonly elements?: () => Elements;
  /** See `Initializer`. */
  readonly unsigned?: (() => Uint8Array) | undefined;
}

/** The type and the extents of a result. */
export type Result = Pick<Value, "type" | "dims">;

/** Options of a node. */
export interface NodeOptions {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Default: the operator set of ONNX. */
  readonly domain?: "" | "com.microsoft";
}

/** A graph that is being built. */
export interface Builder {
  /** Adds a node with one result. An undefined input is omitted. */
  node(operator: string, inputs: readonly (Value | undefined)[], result: Result, options?: NodeOptions): Value;
  /** Adds a node with several results. */
  nodes(
    operator: string,
    inputs: readonly (Value | undefined)[],
    results: readonly Result[],
    options?: NodeOptions,
  ): readonly Value[];
  /** A constant. It becomes a part of the graph when a node reads it. */
  constant(type: ElementType, dims: readonly number[], elements: () => Elements, unsigned?: () => Uint8Array): Value;
  /** A scalar constant; the same for the same number. */
  scalar(type: ElementType, number: number): Value;
  /** Adds an input of the graph. */
  input(result: Result): Value;
  /** Makes a value an output of the graph; returns the name of the output. */
  output(value: Value): string;
  /** Returns the graph built so far. */
  graph(): OnnxGraph;
}

/** Creates an empty graph. */
export function createBuilder(): Builder {
  const nodes: Node[] = [];
  const initializers = new Map<string, Initializer>();
  const inputs: Port[] = [];
  const outputs: Port[] = [];
  const scalars = new Map<string, Value>();
  const shapes = new Map<string, readonly number[]>();
  let count = 0;
  const nameOf = () => `v${count++}`;
  const use = (value: Value | undefined): string => {
    if (value === undefined) return "";
    const { name, type, dims, elements, unsigned } = value;
    if (elements !== undefined && !initializers.has(name)) {
      initializers.set(name, { name, type, dims, elements, unsigned });
    }
    return name;
  };
  const builder: Builder = {
    node: (operator, from, result, options) => elementAt(builder.nodes(operator, from, [result], options), 0),
    nodes(operator, from, results, { attributes = {}, domain = "" } = {}) {
      const values = results.map(({ type, dims }): Value => ({ name: nameOf(), type, dims }));
      for (const { name, dims } of values) shapes.set(name, dims);
      nodes.push({ operator, domain, inputs: from.map(use), outputs: values.map(({ name }) => name), attributes });
      return values;
    },
    constant: (type, dims, elements, unsigned) => ({ name: nameOf(), type, dims, elements, unsigned }),
    scalar(type, number) {
      const key = `${type} ${Object.is(number, -0) ? "-0" : number}`;
      const known = scalars.get(key) ?? builder.constant(type, [], () => elementOf(type, number));
      scalars.set(key, known);
      return known;
    },
    input({ type, dims }) {
      const port = { name: nameOf(), type, dims };
      inputs.push(port);
      shapes.set(port.name, dims);
      return port;
    },
    output(value) {
      const { type, dims } = value;
      // An output must not be an input, a constant or another output; onnxruntime removes the superfluous node.
      const { name } = builder.node("Identity", [value], { type, dims });
      outputs.push({ name, type, dims });
      return name;
    },
    graph: () => ({ nodes, initializers: [...initializers.values()], inputs, outputs, shapes }),
  };
  return builder;
}

/** A constant of 64-bit integers with one axis, such as a shape. */
export function integers(builder: Builder, numbers: readonly number[]): Value {
  return builder.constant("int64", [numbers.length], () => BigInt64Array.from(numbers, BigInt));
}

/** A constant with one real number; a scalar. */
export function real(builder: Builder, number: number): Value {
  return builder.scalar("float32", number);
}

/** A scalar constant of a type of whole numbers. */
export function addWholeNumber(builder: Builder, type: ElementType, number: number): Value {
  return builder.scalar(type, number);
}

function elementOf(type: ElementType, number: number): Elements {
  switch (type) {
    case "float32":
      return Float32Array.of(number);
    case "uint8":
    case "bool":
      return Uint8Array.of(number);
    case "int8":
      return Int8Array.of(number);
    case "int16":
      return Int16Array.of(number);
    case "uint16":
      return Uint16Array.of(number);
    case "int64":
      return BigInt64Array.of(BigInt(number));
    case "uint32":
      return Uint32Array.of(number);
    default:
      return Int32Array.of(number);
  }
}

/** The value with elements of another type. */
export function cast(builder: Builder, value: Value, type: ElementType): Value {
  const attributes = { to: { int: elementTypes[type] } };
  return builder.node("Cast", [value], { type, dims: value.dims }, { attributes });
}

/** A value with other extents. */
export function reshape(builder: Builder, value: Value, dims: readonly number[]): Value {
  if (value.dims.length === dims.length && value.dims.every((extent, axis) => extent === dims[axis])) return value;
  const { type, elements } = value;
  if (elements !== undefined) return builder.constant(type, dims, elements);
  // Without allowzero an extent of 0 would mean the extent of the input.
  const attributes = { allowzero: { int: 1 } };
  return builder.node("Reshape", [value, integers(builder, dims)], { type, dims }, { attributes });
}

/** A value with its axes in another order. A constant is transposed when the model is written. */
export function transpose(builder: Builder, value: Value, order: readonly number[]): Value {
  const { type, dims, elements } = value;
  const result = order.map((axis) => elementAt(dims, axis));
  const moved = order.filter((axis) => dims[axis] !== 1);
  if (moved.every((axis, place) => place === 0 || axis > elementAt(moved, place - 1))) {
    return reshape(builder, value, result);
  }
  if (elements !== undefined) return builder.constant(type, result, () => transposeElements(elements(), dims, order));
  return builder.node("Transpose", [value], { type, dims: result }, { attributes: { perm: { ints: order } } });
}

/** It runs once, before its code is optimised: one loop for all axes. */
function transposeElements(from: Elements, dims: readonly number[], order: readonly number[]): Elements {
  const extents = order.map((axis) => elementAt(dims, axis));
  const strides = order.map((axis) => elementCount(dims.slice(axis + 1)));
  const last = extents.length - 1;
  const [extent, stride] = [elementAt(extents, last), elementAt(strides, last)];
  const to = from.slice();
  const at = extents.map(() => 0);
  let written = 0;
  let offset = 0;
  while (written < to.length) {
    for (let index = 0, place = offset; index < extent; index++, place += stride) {
      to[written++] = from[place] ?? 0;
    }
    // The next row: the axes before count on as the digits of a number do.
    for (let axis = last - 1; axis >= 0; axis--) {
      offset += elementAt(strides, axis);
      const next = elementAt(at, axis) + 1;
      at[axis] = next;
      if (next < elementAt(extents, axis)) break;
      offset -= next * elementAt(strides, axis);
      at[axis] = 0;
    }
  }
  return to;
}
