/**
 * The shapes of the data that Redis has for a worker: only data of these shapes, which `submit` writes, is used, whatever else
 * is written there.
 */
import { BatchError, type Json, type Task } from "../task.ts";
import type { ChunkData } from "./connection.ts";

/** The facts of a batch. */
export interface BatchRecord {
  readonly id: string;
  readonly task: Task;
  /** Model as named by the user. */
  readonly model: string;
  /** The folder that names are relative to. */
  readonly root: string;
  /** Path of the folder or list of inputs. */
  readonly inputs: string;
  /** The folder of results; undefined: the stream in Redis. */
  readonly results?: string | undefined;
  /** The store of the model; undefined: Redis. */
  readonly store?: string | undefined;
  /** True if the bytes of inputs travel in the jobs. */
  readonly inline: boolean;
  /** Milliseconds since 1970. */
  readonly created: number;
}

/** Pattern of ids, which are parts of keys. */
const batchId = /^[\w.-]{1,64}$/;
/** SHA-256, in 43 characters and in 64 digits. */
const shortDigest = /^[\w-]{42}[AEIMQUYcgkosw048]$/;
const longDigest = /^[0-9a-f]{64}$/;
const longestText = 4096;
const mostInputs = 10_000;
/** Maximum length of a record, which contains the labels of classes. */
const longestRecord = 2 ** 24;
const deepestOptions = 8;

/** A value of an unexpected shape. */
export class ShapeError extends BatchError {}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= longestText && !value.includes("\0");
const isOptionalText = (value: unknown) => value === undefined || isText(value);

/** Reads the data of a job. Throws a ShapeError. */
export function readChunk(value: unknown): ChunkData {
  if (!isObject(value)) throw new ShapeError(`expected a chunk of a batch, got ${kindOf(value)}`);
  const { batch, inputs } = value;
  expectId(batch);
  if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > mostInputs) {
    const got = Array.isArray(inputs) ? inputs.length : kindOf(inputs);
    throw new ShapeError(`expected 1 to ${mostInputs} inputs in a chunk, got ${got}`);
  }
  for (const input of inputs) expectInput(input);
  // All fields were checked.
  return value as unknown as ChunkData;
}

function expectInput(input: unknown): void {
  if (!Array.isArray(input) || input.length < 2 || input.length > 3)
    throw new ShapeError(`expected an input to be a name, a digest and perhaps bytes, got ${kindOf(input)}`);
  const [name, digest, bytes]: readonly unknown[] = input;
  if (!isText(name) || name === "") throw new ShapeError(`expected the name of an input, got ${kindOf(name)}`);
  if (typeof digest !== "string" || !shortDigest.test(digest))
    throw new ShapeError(`expected a SHA-256 in 43 characters, got ${kindOf(digest)}`);
  if (bytes !== undefined && typeof bytes !== "string")
    throw new ShapeError(`expected the bytes of an input as a text, got ${kindOf(bytes)}`);
}

/** Throws a ShapeError if a value cannot be the id of a batch. */
export function expectId(id: unknown): asserts id is string {
  if (typeof id === "string" && batchId.test(id)) return;
  throw new ShapeError(`expected the id of a batch (letters, digits, _, . and -, at most 64), got ${kindOf(id)}`);
}

/** Reads the record of a batch. Throws a ShapeError. */
export function readRecord(text: string, id: string): BatchRecord {
  if (text.length > longestRecord)
    throw new ShapeError(`expected the record of a batch in at most ${longestRecord} characters, got ${text.length}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ShapeError("expected the record of a batch as JSON");
  }
  const problem = isObject(value) ? problemOfRecord(value, id) : `an object, got ${kindOf(value)}`;
  if (problem !== undefined) throw new ShapeError(`expected in the record of a batch ${problem}`);
  // All fields were checked.
  return value as BatchRecord;
}

function problemOfRecord(record: Readonly<Record<string, unknown>>, id: string): string | undefined {
  const { task } = record;
  if (record.id !== id) return `the id ${id}, got ${kindOf(record.id)}`;
  if (!isObject(task) || typeof task.model !== "string" || !longDigest.test(task.model))
    return "a task with the SHA-256 of a model";
  if (!isObject(task.options) || !isShallow(task.options, deepestOptions))
    return `options of the task, at most ${deepestOptions} deep`;
  for (const key of ["model", "root", "inputs"])
    if (!isText(record[key])) return `${key} as a text, got ${kindOf(record[key])}`;
  for (const key of ["results", "store"])
    if (!isOptionalText(record[key])) return `${key} as a text, got ${kindOf(record[key])}`;
  if (typeof record.inline !== "boolean") return `inline as true or false, got ${kindOf(record.inline)}`;
  if (!Number.isFinite(record.created)) return `created as a number, got ${kindOf(record.created)}`;
  return undefined;
}

/** Returns true if objects and lists are nested at most so deep. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}

/** Reads a result of a stream. Throws a ShapeError. */
export function readResult(text: string): Json {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    throw new ShapeError("expected a result as JSON");
  }
}

/** Describes the type of a value for error messages: never the value itself, which may be long. */
function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "string")
    return value.length > 80 ? `a text of ${value.length} characters` : JSON.stringify(value);
  return typeof value === "object" ? "an object" : `${value}`;
}
