/** The messages between the pool and its threads. */
import type { Computed, Json, Problem } from "./task.ts";

/** A task for a thread to open. */
export interface Opening {
  /** The digest of the task. */
  readonly task: string;
  readonly model: Uint8Array;
  readonly options: { readonly [key: string]: Json | undefined };
}

/** An input of a batch. */
export interface Input {
  /** Name of the input for users. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** An opened task in a thread. */
export interface Computer {
  /** Rejects with a BatchError if the whole task cannot continue. */
  compute(input: Input): Promise<Computed | Problem>;
  close(): Promise<void>;
}

/** Requests to a thread, one at a time. */
export type Request =
  | ({ readonly ask: "open" } & Opening)
  | { readonly ask: "compute"; readonly task: string; readonly input: Input }
  | { readonly ask: "close"; readonly task: string };

/** Answers of a thread. */
export type Answer =
  | { readonly computed: Computed | Problem }
  | { readonly done: true }
  | { readonly failed: string }
  | { readonly note: string };
