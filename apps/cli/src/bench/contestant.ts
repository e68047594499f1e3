/**
 * Contestants of a benchmark: a device of ours, through the runtime or a burst of it, or a peer that runs the file directly.
 */

import type { Unavailable } from "@nnhal/backend";
import type { Hybrid, InputShapes } from "../option-values.ts";
import type { OnnxForm } from "./onnx-form.ts";

/** The peers that this program knows. */
export const peerNames = ["onnxruntime", "litert", "tfjs"] as const;
export type PeerName = (typeof peerNames)[number];

/** Names a contestant. */
export type ContestantId =
  | { readonly kind: "device"; readonly name: string; readonly path: "compute" | "burst" }
  | { readonly kind: "peer"; readonly name: PeerName };

/** The network and how to run it, the same for all contestants. */
export interface Task {
  /** The .tflite file. */
  readonly bytes: Uint8Array;
  /** As the user named it. */
  readonly path: string;
  /** The bytes of the user's inputs, in order. States start at zero. */
  readonly inputs: readonly Uint8Array[];
  /** Threads that an engine may compute with, if it can be told. */
  readonly threads: number;
  /** Form in which devices compute layers with float inputs and 8-bit weights. */
  readonly hybrid: Hybrid;
  /** Shapes of inputs by name, other than those of the file. */
  readonly inputShapes?: InputShapes;
  /** The network for onnxruntime, or why there is none. */
  readonly onnx: OnnxForm;
  /** A folder for prepared models. Absent: nothing is kept. */
  readonly cache?: string;
}

/** A contestant whose libraries are loaded. */
export interface Contestant {
  /** Of the engine that computes. */
  readonly version: string;
  /** Settings that a reader needs to know in order to trust the comparison. */
  readonly settings: readonly string[];
  /** Threads that it was told to use; null if it cannot be told. */
  readonly threads: number | null;
  /** True if it computes in a process that is not measured, such as a daemon. Default: no. */
  readonly isElsewhere?: boolean;
  /** Makes the network of a file ready to run. Rejects with a CannotRun that says why it cannot. */
  prepare(): Promise<Ready>;
}

/** A network that is ready to run. */
export interface Ready {
  /** True if the contestant keeps prepared networks in the folder of its task, and so can load them from there. */
  readonly keeps: boolean;
  /** Runs once: from inputs in arrays of JavaScript to outputs in such arrays, which is what a caller of any engine has and wants. */
  run(): Promise<void> | void;
  /** Outputs of the last run without states, in order, as bytes. Read them before the next run. */
  outputs(): readonly Uint8Array[];
  close(): Promise<void> | void;
}

/** Opens a contestant. */
export type OpenContestant = () => Promise<Contestant | Unavailable>;

/** Why a contestant cannot run a network. */
export class CannotRun extends Error {
  override readonly name = "CannotRun";
}

/** Name of a contestant in reports. */
export function titleOf(id: ContestantId): string {
  return id.kind === "device" && id.path === "burst" ? `${id.name} burst` : id.name;
}
