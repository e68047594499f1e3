/**
 * The state of a model between runs: in memory, and in the file of `--state`.
 */
import { decodeStringBytes, encodeStrings } from "@nnhal/extension-tflite";
import { elementFacts, elementsOf, elementsOfReal, elementTypeOf } from "@nnhal/network/tensors";
import { byteLength, elementAt, OperationError, typeText } from "@nnhal/operations";
import {
  createStates,
  type ImportOptions,
  importTflite,
  type States,
  type StateValue,
  type TensorDescription,
  TfliteError,
} from "@nnhal/tflite";
import { messageOf, usageError } from "../failure.ts";
import { ensureWritable, isMissingFile, readUserFile, replaceUserFile } from "../files.ts";
import { oneLine, plain, shapeText } from "../text.ts";
import { type OutputValue, stateValues } from "./execute.ts";
import type { LoadedModel } from "./load.ts";
import { isString, shownValues } from "./values.ts";

/** A file of states that was read. */
export interface StateFile {
  readonly states: States;
  /** Replaces the file as a whole: a command that ends before leaves it as it was. Rejects with a usage error. */
  write(): Promise<void>;
}

/** A state in the file. */
interface StateRecord {
  readonly name: string;
  /** The HAL's type. */
  readonly type: string;
  /** Without the bytes of a row, if the elements are strings. */
  readonly shape: readonly number[];
  /** Real values, row by row: those that JSON has no number for are strings. */
  readonly values?: readonly (number | string)[];
  /** The elements instead, if the values would not say them exactly. */
  readonly base64?: string;
}

/** More than the states of any network. */
const MOST_BYTES = 2 ** 29;

/** Options of opening a file of states. */
export interface StateFileOptions {
  readonly cwd: string;
  /** Options with which the model was imported. */
  readonly importing: ImportOptions;
  /** Begins with the first values, and drops those of the file. */
  readonly isReset?: boolean;
}

/**
 * Opens the file of a model's states. One that does not exist yet stands for first values, and so does a state that is not in the file.
 * States of other signatures are kept. Rejects with a usage error if the model has no state, if the file is not one of states, or if a
 * value does not fit.
 */
export async function openStateFile(
  path: string,
  model: LoadedModel,
  { cwd, importing, isReset = false }: StateFileOptions,
): Promise<StateFile> {
  if (model.states.length === 0) throw usageError(`--state ${path}: the model keeps nothing from one run to the next`);
  await ensureWritable(path, cwd);
  const read = await readRecords(path, cwd);
  const records = isReset ? [] : read;
  const states = createStates(model);
  const others = records.filter(({ name }) => !states.names.includes(name));
  const unknown = others.find(({ name }) => !namesOfSignatures(model, importing).includes(name));
  if (unknown !== undefined) {
    const names = states.names.map((name) => `"${plain(name)}"`).join(", ");
    throw usageError(`the state file ${path}: the model has no state "${plain(unknown.name)}"; it has ${names}`);
  }
  for (const record of records) {
    if (others.includes(record)) continue;
    const { input } = elementAt(model.states, states.names.indexOf(record.name));
    const info = { ...elementAt(model.inputs, input), name: record.name };
    nameStateInErrors(path, record.name, () => states.set(record.name, stateValueOf(record, info)));
  }
  return {
    states,
    async write() {
      const own = stateValues(model, states).map(recordOf);
      // A line for each state: one for each value would be thousands.
      const lines = [...own, ...others].map((record) => `  ${JSON.stringify(record)}`);
      await replaceUserFile(path, `{ "states": [\n${lines.join(",\n")}\n] }\n`, cwd);
    },
  };
}

/** The names of the states of all signatures of a model's file. */
function namesOfSignatures({ content, signatures }: LoadedModel, importing: ImportOptions): readonly string[] {
  return [undefined, ...signatures.map(({ key }) => key)].flatMap((signature) => {
    const { signature: _, inputShapes: __, ...options } = importing;
    try {
      const { states } = importTflite(content, { ...options, ...(signature !== undefined && { signature }) });
      return states.map(({ name }) => name);
    } catch (error) {
      if (error instanceof TfliteError) return [];
      throw error;
    }
  });
}

/** Records of the file; none if there is no file. */
async function readRecords(path: string, cwd: string): Promise<readonly StateRecord[]> {
  let bytes: Uint8Array;
  try {
    bytes = await readUserFile(path, {
      what: "state file",
      cwd,
      most: { bytes: MOST_BYTES, reason: "more than any state needs" },
    });
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw usageError(`the state file ${path} is not JSON: ${oneLine(messageOf(error))}`, error);
  }
  const list = isObject(content) ? content.states : undefined;
  if (!Array.isArray(list)) throw usageError(`the state file ${path} has no list "states"`);
  const records = list.map((record, place) => nameStateInErrors(path, place, () => checkedRecord(record)));
  const names = records.map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw usageError(`the state file ${path}: it has the state "${plain(twice)}" twice`);
  return records;
}

/** Says of a RangeError or TfliteError in which state of the file it was. */
function nameStateInErrors<Result>(path: string, state: string | number, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isBadValue(error)) throw error;
    const name = typeof state === "number" ? `states[${state}]` : `the state "${plain(state)}"`;
    throw usageError(`the state file ${path}: ${name}: ${oneLine(error.message)}`, error);
  }
}

function isBadValue(error: unknown): error is Error {
  return error instanceof RangeError || error instanceof TfliteError || error instanceof OperationError;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkedRecord(record: unknown): StateRecord {
  if (!isObject(record)) throw new RangeError("it is not an object");
  const { name, type, shape, values, base64 } = record;
  if (typeof name !== "string") throw new RangeError("it has no name");
  if (typeof type !== "string") throw new RangeError(`"${plain(name)}" has no type`);
  if (!isShape(shape)) throw new RangeError(`the shape of "${plain(name)}" is not a list of whole numbers`);
  if (typeof base64 === "string" && values === undefined) return { name, type, shape, base64 };
  const isRight = Array.isArray(values) && values.every((one) => typeof one === "number" || typeof one === "string");
  if (!isRight || base64 !== undefined)
    throw new RangeError(
      `"${plain(name)}" needs either "values", a list of numbers and strings, or "base64", a string`,
    );
  return { name, type, shape, values };
}

function isShape(shape: unknown): shape is readonly number[] {
  return Array.isArray(shape) && shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0);
}

/** A value as the file has it. */
function recordOf({ info, bytes }: OutputValue): StateRecord {
  const shape = isString(info) ? info.shape.slice(0, -1) : info.shape;
  const head = { name: info.name, type: typeText(info.type), shape };
  const values = shownValues(info, bytes).map(jsonOf);
  const record = { ...head, values };
  return isExact(record, info, bytes) ? record : { ...head, base64: Buffer.from(bytes).toString("base64") };
}

/** A value in JSON, which has no number for these. */
function jsonOf(value: number | string): number | string {
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? value : String(value);
}

/** True if the values of a record are those of the bytes: not so for strings that are not UTF-8, and types without numbers. */
function isExact(record: StateRecord, info: TensorDescription, bytes: Uint8Array): boolean {
  try {
    // The written text is compared with what is read, so that this depends on nothing else.
    const written: StateRecord = JSON.parse(JSON.stringify(record));
    const read = stateValueOf(written, info);
    if (isString(info)) return sameStrings({ bytes, dimensions: info.shape }, read);
    return Buffer.compare(read.bytes, bytes) === 0;
  } catch (error) {
    if (isBadValue(error)) return false;
    throw error;
  }
}

/** True if two tensors have the same strings, in rows of any width. */
function sameStrings(one: StateValue, other: StateValue): boolean {
  const others = decodeStringBytes(other);
  return decodeStringBytes(one).every((text, place) => Buffer.compare(text, elementAt(others, place)) === 0);
}

/** The value of a record. Throws a RangeError for one that is not of the state's type, or does not have the elements of its shape. */
function stateValueOf({ type, shape, values = [], base64 }: StateRecord, info: TensorDescription): StateValue {
  if (type !== typeText(info.type))
    throw new RangeError(`it is of the type ${type}, the model's is ${typeText(info.type)}`);
  const count = elementsOf(shape);
  if (base64 !== undefined) return elementsOfBase64(base64, shape, info);
  if (values.length !== count) {
    throw new RangeError(`its shape ${shapeText(shape)} has ${count} elements, but there are ${values.length} values`);
  }
  if (isString(info)) {
    const strings = values.map((value) => {
      if (typeof value === "string") return value;
      throw new RangeError(`${value} is not a string`);
    });
    return encodeStrings(strings, shape);
  }
  const elementType = elementTypeOf(info.type);
  if (elementType === undefined || elementFacts[elementType].parts !== undefined)
    throw new RangeError(`elements of the type ${type} are not numbers: it needs "base64"`);
  const isWide = elementType === "int64" || elementType === "uint64";
  const quantization = info.scale === 0 ? undefined : { scale: info.scale, zeroPoint: info.zeroPoint };
  const numbers = values.map((value) => numberOf(value, isWide));
  const { buffer, byteOffset, byteLength: size } = elementsOfReal(elementType, quantization, numbers);
  return { bytes: new Uint8Array(buffer, byteOffset, size), dimensions: shape };
}

function elementsOfBase64(base64: string, shape: readonly number[], info: TensorDescription): StateValue {
  const bytes = new Uint8Array(Buffer.from(base64, "base64"));
  if (Buffer.from(bytes).toString("base64") !== base64) throw new RangeError("its base64 is broken");
  const count = elementsOf(shape);
  if (isString(info)) {
    const dimensions = [...shape, count === 0 ? 0 : bytes.length / count];
    // Rows that are broken are found here, not by a device.
    decodeStringBytes({ bytes, dimensions });
    return { bytes, dimensions };
  }
  const size = byteLength(info.type, count);
  if (bytes.length !== size)
    throw new RangeError(`its shape ${shapeText(shape)} takes ${size} bytes, but there are ${bytes.length}`);
  return { bytes, dimensions: shape };
}

/** A number of the file. Integers beyond 2^53 are digits in a string, since JSON's readers round them. */
function numberOf(value: number | string, isWide: boolean): number | bigint {
  if (typeof value === "number") {
    if (!isWide || Number.isSafeInteger(value)) return value;
    throw new RangeError(`${value} may be rounded: write integers beyond 2^53 as digits in a string`);
  }
  if (isWide && /^-?\d+$/.test(value)) return BigInt(value);
  if (!isWide && /^(NaN|-0|-?Infinity)$/.test(value)) return Number(value);
  throw new RangeError(`"${plain(value)}" is not a number`);
}
