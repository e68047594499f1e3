/**
 * The task of a batch, which names its results: an input has one result for each task, wherever and however often it is
 * computed.
 */
import { createHash } from "node:crypto";

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Work that is done with every input. Together with the input it decides the result. */
export interface Task {
  /** SHA-256 of the model's file, in hexadecimal digits. */
  readonly model: string;
  /** Options that the computing program understands. */
  readonly options: { readonly [key: string]: Json | undefined };
}

/** Outcome of an input. `task` and `input` are digests. */
export interface ResultRecord {
  readonly task: string;
  readonly input: string;
  readonly result: Json;
}

/** A computed result. */
export interface Computed {
  readonly result: Json;
  /** Additional files, such as a drawing: the endings of their names, and their bytes. */
  readonly files: readonly { readonly ending: string; readonly bytes: Uint8Array }[];
}

/** An input that cannot be used, and the reason. The others of its batch can. */
export interface Problem {
  readonly problem: string;
}

/** The whole batch cannot continue: a model is missing or cannot run, or a folder cannot be written. */
export class BatchError extends Error {
  override readonly name = "BatchError";
}

/** Changes when the same task leads to other results. */
const resultsVersion = 1;

/** Returns the SHA-256 in hexadecimal digits. */
export function digestOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Returns the digest of a task: the same for equal options in any order. */
export function taskDigest({ model, options }: Task): string {
  return digestOf(JSON.stringify([resultsVersion, model, sortProperties(options)]));
}

/** Returns a JSON value with the properties of its objects in the order of their names, without undefined ones. */
function sortProperties(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortProperties);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, each]) =>
    each === undefined ? [] : [[key, sortProperties(each)]],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
