/**
 * What the pool and its threads say to each other.
 */
import type { Computed, Json, Problem } from "./task.ts";

/** A task as a thread opens it. */
export interface Opening {
  /** The digest of the task. */
  readonly task: string;
  readonly model: Uint8Array;
  readonly options: { readonly [key: string]: Json | undefined };
}

/** An input of a batch. */
export interface Input {
  /** What users call it. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What a thread computes: one opened task. */
export interface Computer {
  /** Rejects with a BatchError if the task itself cannot go on. */
  compute(input: Input): Promise<Computed | Problem>;
  close(): Promise<void>;
}

/** To a thread. It is asked one thing at a time. */
export type Request =
  | ({ readonly ask: "open" } & Opening)
  | { readonly ask: "compute"; readonly task: string; readonly input: Input }
  | { readonly ask: "close"; readonly task: string };

/** From a thread. */
export type Answer =
  | { readonly computed: Computed | Problem }
  | { readonly done: true }
  | { readonly failed: string }
  | { readonly note: string };
