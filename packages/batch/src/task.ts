/**
 * What a batch computes, and the names of its results: an input has one result for each task, wherever and however often it is computed.
 */
import { createHash } from "node:crypto";

/** A value that JSON holds. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** What is done with every input. Together with an input it decides what the result is. */
export interface Task {
  /** SHA-256 of the model's file, in hexadecimal digits. */
  readonly model: string;
  /** What the program that computes understands. */
  readonly options: { readonly [key: string]: Json | undefined };
}

/** What became of an input. `task` and `input` are digests. */
export interface ResultRecord {
  readonly task: string;
  readonly input: string;
  readonly result: Json;
}

/** A result as it is computed. */
export interface Computed {
  readonly result: Json;
  /** Files beside it, such as a drawing: what their names end in, and their bytes. */
  readonly files: readonly { readonly ending: string; readonly bytes: Uint8Array }[];
}

/** An input that cannot be used, and why. The others of its batch can. */
export interface Problem {
  readonly problem: string;
}

/** The whole batch cannot go on as it is: a model that is missing or cannot run, a folder that cannot be written. */
export class BatchError extends Error {
  override readonly name = "BatchError";
}

/** Changes when the same task would lead to other results. */
const resultsVersion = 1;

/** SHA-256 in hexadecimal digits. */
export function digestOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The digest of a task: the same for equal options in any order. */
export function taskDigest({ model, options }: Task): string {
  return digestOf(JSON.stringify([resultsVersion, model, sorted(options)]));
}

/** A JSON value with the properties of its objects in the order of their names, and without those that are undefined. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, each]) => (each === undefined ? [] : [[key, sorted(each)]]));
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
