/**
 * Checks of arguments: the bytes of a file, or a model as plain objects. Any other value is refused with the expected and the actual
 * kind of value.
 */
import { describeValue, ensure, fail } from "./error.ts";
import { ensureIndexes } from "./indexes.ts";
import type { TfliteModel } from "./model.ts";

/** The bytes of a file: any view of memory, or the memory itself. */
export type TfliteBytes = ArrayBufferView | ArrayBuffer | SharedArrayBuffer;

/** Refuses an argument. `needs`: the kind of value that the function needs. */
function refuse(caller: string, needs: string, value: unknown): never {
  fail("", `${caller} needs ${needs}, not ${describe(value)}`);
}

const fileText = "the bytes of a file as a Uint8Array or ArrayBuffer";
const modelText = "a TfliteModel";

/** The actual kind of value, with advice if it is a common mistake. */
function describe(value: unknown): string {
  if (typeof value === "string") return "a string; read the file first";
  if (value instanceof Promise) return "a Promise; await it first";
  if (isBytes(value)) return "bytes; read them with readTflite first";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return describeValue(value);
  if ("main" in value && "operandValues" in value) return "a HAL model";
  return "subgraphs" in value
    ? "an object whose field subgraphs is not a list"
    : "an object without the field subgraphs";
}

function isBytes(value: unknown): value is TfliteBytes {
  return (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer)
  );
}

/** The bytes as a plain Uint8Array: one of a class of its own may have another `slice`, as the Buffer of Node.js has. */
function viewOf(bytes: TfliteBytes): Uint8Array {
  if (Object.getPrototypeOf(bytes) === Uint8Array.prototype && bytes instanceof Uint8Array) return bytes;
  // Memory that was transferred elsewhere has no bytes, and no view can be made of it.
  if (bytes.byteLength === 0) return new Uint8Array(0);
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}

/** An argument that must be the bytes of a file, without a copy. */
export function fileArgument(value: unknown, caller: string): Uint8Array {
  return isBytes(value) ? viewOf(value) : refuse(caller, fileText, value);
}

/** An argument that must be the bytes of a file or a model. */
export function sourceArgument(value: unknown, caller: string): Uint8Array | TfliteModel {
  if (isBytes(value)) return viewOf(value);
  return hasSubgraphs(value) ? modelOf(value) : refuse(caller, `${fileText}, or ${modelText}`, value);
}

/** An argument that must be a model. Its indexes are not checked. */
export function modelArgument(value: unknown, caller: string): TfliteModel {
  return hasSubgraphs(value) && !isBytes(value) ? wellFormed(value) : refuse(caller, modelText, value);
}

function hasSubgraphs(value: unknown): value is { readonly subgraphs: readonly unknown[] } {
  return typeof value === "object" && value !== null && "subgraphs" in value && Array.isArray(value.subgraphs);
}

function modelOf(value: object): TfliteModel {
  const model = wellFormed(value);
  ensureIndexes(model);
  return model;
}

/** Refuses a value at a path of the model. */
type Check = (value: unknown, path: string) => void;

function check(is: (value: unknown) => boolean, name: string): Check {
  return (value, path) => ensure(is(value), path, () => `expected ${name}, got ${describeValue(value)}`);
}

const text = check((value) => typeof value === "string", "a string");
const number = check((value) => typeof value === "number", "a number");
const flag = check((value) => typeof value === "boolean", "a boolean");
const bytes = check((value) => value instanceof Uint8Array, "a Uint8Array");

function optional(part: Check): Check {
  return (value, path) => {
    if (value !== undefined) part(value, path);
  };
}

function list(part: Check): Check {
  return (value, path) => {
    ensure(Array.isArray(value), path, () => `expected a list, got ${describeValue(value)}`);
    // Every place counts, also one that a sparse list leaves out.
    for (let i = 0; i < value.length; i++) part(value[i], `${path}[${i}]`);
  };
}

function record(parts: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    ensure(
      typeof value === "object" && value !== null && !Array.isArray(value),
      path,
      () => `expected an object, got ${describeValue(value)}`,
    );
    const fields: Readonly<Record<string, unknown>> = { ...value };
    for (const [name, part] of Object.entries(parts)) part(fields[name], path === "" ? name : `${path}.${name}`);
  };
}

const sparseDimension: Check = (value, path) => {
  const isWhole = typeof value === "object" && value !== null && "size" in value;
  record(isWhole ? { size: number } : { segments: list(number), indexes: list(number) })(value, path);
};
const tensor = record({
  name: text,
  shape: list(number),
  shapeSignature: optional(list(number)),
  type: text,
  data: optional(bytes),
  external: optional(record({ group: optional(text), offset: number, length: number })),
  isVariable: flag,
  sparsity: optional(
    record({ traversalOrder: list(number), blockMap: list(number), dimensions: list(sparseDimension) }),
  ),
  blocks: optional(
    record({ scales: number, zeroPoints: number, blockSize: number, dimensions: optional(list(number)) }),
  ),
  quantization: optional(record({ scale: list(number), zeroPoint: list(number), quantizedDimension: number })),
});
const operator = record({
  name: text,
  customCode: optional(text),
  customOptions: optional(bytes),
  version: number,
  inputs: list(number),
  outputs: list(number),
  options: record({}),
  intermediates: optional(list(number)),
  mutatingVariableInputs: optional(list(flag)),
});
const namedTensors = list(record({ name: text, tensor: number }));
const model = record({
  version: number,
  description: text,
  subgraphs: list(
    record({
      name: text,
      tensors: list(tensor),
      operators: list(operator),
      inputs: list(number),
      outputs: list(number),
    }),
  ),
  metadata: list(record({ name: text, data: bytes })),
  signatures: list(record({ key: text, subgraph: number, inputs: namedTensors, outputs: namedTensors })),
});

function wellFormed(value: object): TfliteModel {
  model(value, "");
  // The checks above are those of the type.
  return value as TfliteModel;
}
