/** Reads a message ModelInferRequest. Its elements are views of it, or typed arrays; only kept members are allocated. */
import type { ElementArray } from "@nnhal/network";
import { expectValid } from "./errors.ts";
import { countVarints, createReadBudget, openMessage, type ReadBudget, type Reader, readVarints } from "./protobuf.ts";
import type { Parameters } from "./request.ts";

/** The lists of elements of a tensor. */
export type ListName = keyof typeof lists;

/** The elements of one list. */
export type ListContents = ElementArray | readonly Uint8Array[];

export interface InferMessage {
  readonly model: string;
  readonly version: string;
  readonly id: string;
  readonly parameters: Parameters;
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly number[];
    readonly parameters: Parameters;
    /** Lists that have elements. */
    readonly contents: ReadonlyMap<ListName, ListContents>;
  }[];
  readonly outputs: readonly { readonly name: string; readonly parameters: Parameters }[];
  readonly raw: readonly Uint8Array[];
}

type Wire = "varint32" | "varint64" | "fixed32" | "fixed64" | "bytes";

/** The lists of InferTensorContents: the number of the member, and its elements. */
const lists = {
  bool_contents: { number: 1, wire: "varint32", array: Uint32Array },
  int_contents: { number: 2, wire: "varint32", array: Int32Array },
  int64_contents: { number: 3, wire: "varint64", array: BigInt64Array },
  uint_contents: { number: 4, wire: "varint32", array: Uint32Array },
  uint64_contents: { number: 5, wire: "varint64", array: BigUint64Array },
  fp32_contents: { number: 6, wire: "fixed32", array: Float32Array },
  fp64_contents: { number: 7, wire: "fixed64", array: Float64Array },
  bytes_contents: { number: 8, wire: "bytes", array: undefined },
} as const satisfies Record<string, { readonly number: number; readonly wire: Wire; readonly array: unknown }>;

// The object has no other keys.
const listNames = Object.keys(lists) as readonly ListName[];

/** Reads a message. Throws a RequestError. */
export function readInferMessage(message: Uint8Array): InferMessage {
  const budget = createReadBudget();
  const texts = { 1: "", 2: "", 3: "" };
  const parameters: [string, Parameters[string]][] = [];
  const inputs: InferMessage["inputs"][number][] = [];
  const outputs: InferMessage["outputs"][number][] = [];
  const raw: Uint8Array[] = [];
  const reader = openMessage(message, budget);
  for (let number = reader.next(); number !== undefined; number = reader.next()) {
    if (number === 1 || number === 2 || number === 3) texts[number] = reader.text();
    else if (number === 4) addParameter(parameters, reader.bytes(), budget);
    else if (number === 5) inputs.push(readInput(reader.bytes(), budget));
    else if (number === 6) outputs.push(readOutput(reader.bytes(), budget));
    else if (number === 7) raw.push(reader.bytes());
  }
  const [model, version, id] = [texts[1], texts[2], texts[3]];
  return { model, version, id, parameters: Object.fromEntries(parameters), inputs, outputs, raw };
}

function readInput(message: Uint8Array, budget: ReadBudget): InferMessage["inputs"][number] {
  const texts = { 1: "", 2: "" };
  const shape: number[] = [];
  const parameters: [string, Parameters[string]][] = [];
  let parts: ContentParts = new Map();
  const reader = openMessage(message, budget);
  for (let number = reader.next(); number !== undefined; number = reader.next()) {
    if (number === 1 || number === 2) texts[number] = reader.text();
    else if (number === 3 && reader.isBytes)
      for (const extent of longsOf(reader.bytes(), budget)) shape.push(Number(extent));
    else if (number === 3) shape.push(Number(BigInt.asIntN(64, reader.long())));
    else if (number === 4) addParameter(parameters, reader.bytes(), budget);
    else if (number === 5) parts = readContents(reader.bytes(), budget, parts);
  }
  const [name, datatype] = [texts[1], texts[2]];
  return { name, datatype, shape, parameters: Object.fromEntries(parameters), contents: joinParts(parts) };
}

function readOutput(message: Uint8Array, budget: ReadBudget): InferMessage["outputs"][number] {
  let name = "";
  const parameters: [string, Parameters[string]][] = [];
  const reader = openMessage(message, budget);
  for (let number = reader.next(); number !== undefined; number = reader.next()) {
    if (number === 1) name = reader.text();
    else if (number === 2) addParameter(parameters, reader.bytes(), budget);
  }
  return { name, parameters: Object.fromEntries(parameters) };
}

/** Reads an entry of a map: a key and an InferParameter. */
function addParameter(parameters: [string, Parameters[string]][], message: Uint8Array, budget: ReadBudget): void {
  let key = "";
  let value: Parameters[string] | undefined;
  const reader = openMessage(message, budget);
  for (let number = reader.next(); number !== undefined; number = reader.next()) {
    if (number === 1) key = reader.text();
    else if (number === 2) value = readParameter(reader.bytes(), budget) ?? value;
  }
  if (value !== undefined) parameters.push([key, value]);
}

function readParameter(message: Uint8Array, budget: ReadBudget): Parameters[string] | undefined {
  let value: Parameters[string] | undefined;
  const reader = openMessage(message, budget);
  for (let number = reader.next(); number !== undefined; number = reader.next()) {
    if (number === 1) value = reader.int() !== 0;
    else if (number === 2) value = Number(BigInt.asIntN(64, reader.long()));
    else if (number === 3) value = reader.text();
    else if (number === 4) value = reader.double();
    else if (number === 5) value = Number(reader.long());
  }
  return value;
}

/** The elements of each list, in the parts of the message. */
type ContentParts = Map<ListName, (ElementArray | Uint8Array)[]>;

function readContents(message: Uint8Array, budget: ReadBudget, parts: ContentParts): ContentParts {
  const reader = openMessage(message, budget);
  for (let number = reader.next(); number !== undefined; number = reader.next()) {
    const name = listNames.find((each) => lists[each].number === number);
    if (name === undefined) continue;
    const part = readPart(reader, name, budget);
    const before = parts.get(name);
    if (before === undefined) parts.set(name, [part]);
    else before.push(part);
  }
  return parts;
}

function readPart(reader: Reader, name: ListName, budget: ReadBudget): ElementArray | Uint8Array {
  const list = lists[name];
  if (list.wire === "bytes") return reader.bytes();
  if (list.wire === "varint32" || list.wire === "varint64") {
    const packed = reader.isBytes ? reader.bytes() : undefined;
    if (packed === undefined) {
      const value = reader.long();
      const words = Uint32Array.of(Number(value & 0xffffffffn), Number(value >> 32n));
      return new list.array(words.buffer, 0, 1);
    }
    const words = list.wire === "varint64" ? 2 : 1;
    const into = new Uint32Array(countVarints(packed, budget) * words);
    readVarints(packed, into, words);
    return new list.array(into.buffer);
  }
  const size = list.array.BYTES_PER_ELEMENT;
  const bytes = reader.isBytes ? reader.bytes() : reader.readFixed(list.wire === "fixed32" ? 4 : 8);
  return new list.array(alignedCopy(bytes, size, name));
}

/** Typed arrays begin at multiples of their elements' size. */
function alignedCopy(bytes: Uint8Array, size: number, name: ListName): ArrayBuffer {
  expectValid(bytes.length % size === 0, () => `${name} have ${bytes.length} bytes, not a multiple of ${size}`);
  return Uint8Array.from(bytes).buffer;
}

function longsOf(packed: Uint8Array, budget: ReadBudget): BigInt64Array {
  const words = new Uint32Array(countVarints(packed, budget) * 2);
  readVarints(packed, words, 2);
  return new BigInt64Array(words.buffer);
}

function joinParts(parts: ContentParts): ReadonlyMap<ListName, ListContents> {
  const joined = new Map<ListName, ListContents>();
  for (const [name, some] of parts) {
    const contents = joinOne(name, some);
    if (contents.length > 0) joined.set(name, contents);
  }
  return joined;
}

function joinOne(name: ListName, parts: readonly (ElementArray | Uint8Array)[]): ListContents {
  const { array } = lists[name];
  // The parts of such a list are texts of bytes.
  if (array === undefined) return parts as readonly Uint8Array[];
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const whole = new array(parts.reduce((sum, { length }) => sum + length, 0));
  const bytes = new Uint8Array(whole.buffer);
  let place = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), place);
    place += byteLength;
  }
  return whole;
}
