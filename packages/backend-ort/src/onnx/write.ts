/**
 * Writes the messages of onnx.proto that a model of this backend consists of. The numbers of the fields are those of the published
 * schema; the wire format is that of @bufbuild/protobuf.
 */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Elements, type ElementType, elementTypes } from "./types.ts";

/** The value of an attribute of a node: an integer, integers, a real number, real numbers, or a text. */
export type Attribute =
  | { readonly int: number }
  | { readonly ints: readonly number[] }
  | Real
  | { readonly text: string };
type Real = { readonly real: number } | { readonly reals: readonly number[] };

/** A node: one operator of ONNX or of an operator set of onnxruntime. */
export interface Node {
  readonly operator: string;
  /** "" is the operator set of ONNX. */
  readonly domain: string;
  /** Names of values; "" is an omitted input. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** The type, shape and name of an input or output of the graph. */
export interface Port {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
}

/** A constant of the graph. */
export interface Initializer extends Port {
  readonly elements: () => Elements;
  /** The numbers before 128 was subtracted from each, if `elements` does that. */
  readonly unsigned?: (() => Uint8Array) | undefined;
}

/** Parts of a model. */
export interface OnnxGraph {
  readonly nodes: readonly Node[];
  readonly initializers: readonly Initializer[];
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** The extents of the inputs and of the results of nodes, by name. */
  readonly shapes: ReadonlyMap<string, readonly number[]>;
}

/** Version 10 of the format, which came with version 21 of the operator set. */
const irVersion = 10;
const operatorSets = [
  ["", 21],
  ["com.microsoft", 1],
] as const;

/** `TensorProto.DataLocation` of elements that are not parts of the model. */
const externalLocation = 1;

const attributeTypes = { real: 1, int: 2, text: 3, reals: 6, ints: 7 } as const;

/** The elements of a constant beside a model, under the name that the model has for them. */
export interface ExternalElements {
  readonly path: string;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** A model, and the elements that it has beside it. */
export interface ModelParts {
  readonly model: Uint8Array<ArrayBuffer>;
  readonly externalData: readonly ExternalElements[];
}

/** Constants of fewer bytes are always parts of the model. */
const leastExternal = 1024;

/** Returns the bytes of a model with all its constants. Elements are copied once, because networks have megabytes of them. */
export function writeModel(graph: OnnxGraph): Uint8Array<ArrayBuffer> {
  return write(graph, () => false);
}

/** Returns a model whose larger constants lie beside it, where they are: they are not copied. */
export function writeModelParts(graph: OnnxGraph): ModelParts {
  const externalData: ExternalElements[] = [];
  const model = write(graph, (path, { buffer, byteOffset, byteLength }) => {
    // Others can change shared memory while the engine reads it.
    if (byteLength < leastExternal || !(buffer instanceof ArrayBuffer)) return false;
    externalData.push({ path, data: new Uint8Array(buffer, byteOffset, byteLength) });
    return true;
  });
  return { model, externalData };
}

/** `isExternal` decides whether the elements of a constant lie beside the model. */
function write(
  { nodes, initializers, inputs, outputs }: OnnxGraph,
  isExternal: (name: string, elements: Elements) => boolean,
): Uint8Array<ArrayBuffer> {
  // One for all: it keeps its memory, and there are thousands of small parts.
  const shared = new BinaryWriter();
  const written: Written = (write) => {
    write(shared);
    return shared.finish();
  };
  const graph = [
    written((writer) => {
      for (const node of nodes) message(writer, 1, () => writeNode(writer, node));
      text(writer, 2, "nnhal");
    }),
    ...initializers.flatMap((initializer) => enclose(written, 5, tensorParts(written, initializer, isExternal))),
    written((writer) => {
      for (const port of inputs) message(writer, 11, () => writePort(writer, port));
      for (const port of outputs) message(writer, 12, () => writePort(writer, port));
    }),
  ];
  const head = written((writer) => {
    int(writer, 1, irVersion);
    text(writer, 2, "nnhal");
    for (const [domain, version] of operatorSets) {
      message(writer, 8, () => {
        text(writer, 1, domain);
        int(writer, 2, version);
      });
    }
  });
  return joinBytes([head, ...enclose(written, 7, graph)]);
}

/** Returns what a function writes. */
type Written = (write: (writer: BinaryWriter) => void) => Uint8Array;

/** The parts of a field that contains other parts. */
function enclose(written: Written, field: number, parts: readonly Uint8Array[]): Uint8Array[] {
  return [written((writer) => writer.tag(field, WireType.LengthDelimited).uint32(lengthOf(parts))), ...parts];
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((length, part) => length + part.length, 0);
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(lengthOf(parts));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

function writeNode(writer: BinaryWriter, { operator, domain, inputs, outputs, attributes }: Node): void {
  for (const input of inputs) text(writer, 1, input);
  for (const output of outputs) text(writer, 2, output);
  text(writer, 4, operator);
  for (const [name, attribute] of Object.entries(attributes)) {
    message(writer, 5, () => writeAttribute(writer, name, attribute));
  }
  text(writer, 7, domain);
}

function writeAttribute(writer: BinaryWriter, name: string, attribute: Attribute): void {
  text(writer, 1, name);
  if ("int" in attribute) {
    int(writer, 3, attribute.int);
    int(writer, 20, attributeTypes.int);
  } else if ("ints" in attribute) {
    for (const each of attribute.ints) int(writer, 8, each);
    int(writer, 20, attributeTypes.ints);
  } else if ("real" in attribute) {
    writer.tag(2, WireType.Bit32).float(attribute.real);
    int(writer, 20, attributeTypes.real);
  } else if ("reals" in attribute) {
    for (const each of attribute.reals) writer.tag(7, WireType.Bit32).float(each);
    int(writer, 20, attributeTypes.reals);
  } else {
    text(writer, 4, attribute.text);
    int(writer, 20, attributeTypes.text);
  }
}

function tensorParts(
  written: Written,
  { name, type, dims, elements }: Initializer,
  isExternal: (name: string, elements: Elements) => boolean,
): Uint8Array[] {
  const stored = elements();
  const head = (beside: boolean) =>
    written((writer) => {
      for (const extent of dims) int(writer, 1, extent);
      int(writer, 2, elementTypes[type]);
      text(writer, 8, name);
      if (beside) writeLocation(writer, name, stored.byteLength);
    });
  if (isExternal(name, stored)) return [head(true)];
  return [head(false), ...enclose(written, 9, [new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength)])];
}

/** Where the elements of a constant are, that lie beside the model. */
function writeLocation(writer: BinaryWriter, location: string, length: number): void {
  for (const [key, value] of Object.entries({ location, offset: "0", length: String(length) })) {
    message(writer, 13, () => {
      text(writer, 1, key);
      text(writer, 2, value);
    });
  }
  int(writer, 14, externalLocation);
}

function writePort(writer: BinaryWriter, { name, type, dims }: Port): void {
  text(writer, 1, name);
  message(writer, 2, () =>
    message(writer, 1, () => {
      int(writer, 1, elementTypes[type]);
      message(writer, 2, () => {
        for (const extent of dims) message(writer, 1, () => int(writer, 1, extent));
      });
    }),
  );
}

function int(writer: BinaryWriter, field: number, value: number): void {
  writer.tag(field, WireType.Varint).int64(value);
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}
