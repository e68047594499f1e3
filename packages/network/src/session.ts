/**
 * A loaded model behind bytes: what computes in this thread, or in a worker. All values can be copied between threads.
 */
import type { DiffReport } from "@nnhal/diff";
import type { ImportedModel } from "@nnhal/tflite";
import type { Device } from "@nnhal/types";
import type { RunTiming } from "./execute.ts";
import type { TensorInfo } from "./tensor-info.ts";

/** The bytes of a value, and its extents. */
export interface Value {
  readonly bytes: Uint8Array;
  readonly shape: readonly number[];
}

/** Description of a model. */
export interface Description {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** States that the model carries from one run to the next. */
  readonly states: readonly TensorInfo[];
  /** The keys of the file's signatures. */
  readonly signatures: readonly string[];
  /** The devices that compute. */
  readonly devices: readonly string[];
  /** Texts of the maker; empty if there are none. */
  readonly name: string;
  readonly description: string;
  readonly license: string;
}

/** Which device computes an operation, and why. */
export interface ExplainedOperation {
  readonly index: number;
  /** The operation of the HAL, or of an extension: `CONV_2D`. */
  readonly operation: string;
  /** The operator of the file that it came from: empty for one that the import added. */
  readonly operator: string;
  /** undefined: the runtime itself goes through it, since it is an IF or WHILE over several devices. */
  readonly device: string | undefined;
  readonly reason: string;
}

/** An operation without what a plan says of it. */
export type NamedOperation = Omit<ExplainedOperation, "device" | "reason">;

/** Where a model runs, and why. */
export interface Explanation {
  readonly operations: readonly ExplainedOperation[];
  /** Parts that run on one device without a break. `predictedTime`: milliseconds of one run, as the planner expects them. */
  readonly steps: readonly {
    readonly device: string | undefined;
    readonly operations: readonly number[];
    readonly predictedTime: number;
  }[];
  /** Milliseconds of a run as the planner expects them. */
  readonly predictedTime: number;
}

/** Times of operations. */
export interface Profile {
  /** Median milliseconds of a run. */
  readonly time: number;
  /** Each operation in a step of its own; `time` is its median in milliseconds, undefined if it could not be separated. */
  readonly operations: readonly (Omit<ExplainedOperation, "reason"> & { readonly time: number | undefined })[];
}

/** Options of a run besides its outputs. */
export interface Asked {
  /** When it is aborted, the computation ends at the next pause of the device: its result is not wanted any more. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that the device may take. Devices are told if the model runs on one device, without fallback. */
  readonly timeout?: number | undefined;
  /** True if the device measures the run. It does if the model runs on one device, without fallback. */
  readonly measure?: boolean | undefined;
  /** True if the memory of the inputs moves to a worker. Default: it is copied. */
  readonly transfer?: boolean | undefined;
}

/** Options of a comparison. */
export interface DiffAsked {
  /** The values of each run. Default: noise. */
  readonly inputs?: readonly (readonly Value[])[] | undefined;
  /** Runs on noise. */
  readonly random: number;
  /** The devices of the judge, or how the report names the model that judges. */
  readonly against: string | readonly (string | Device)[];
  readonly steps?: number | undefined;
  readonly relative?: number | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Result of a run. */
export interface Computed {
  readonly values: readonly Value[];
  /** undefined: it was not measured. */
  readonly timing?: RunTiming | undefined;
}

/** A loaded model. Its methods reject with a NetworkError. */
export interface Session {
  readonly description: Description;
  /** Values by place; `into` may have the memory of some outputs, which is used if the output fits it exactly. */
  compute(inputs: readonly Value[], into?: readonly (Uint8Array | undefined)[], asked?: Asked): Promise<Computed>;
  explain(): Promise<Explanation>;
  /** Runs several times, with each operation in a step of its own. */
  profile(inputs: readonly Value[], runs: number): Promise<Profile>;
  /** The model as it was imported, if it computes in this thread. */
  readonly imported?: ImportedModel | undefined;
  /** Holds each operation against a judge: devices, or another model of this thread. */
  diff(asked: DiffAsked, other?: ImportedModel): Promise<DiffReport>;
  /** Copies of the states, by place. */
  readState(): Promise<readonly Value[]>;
  /** Sets some states; undefined is the state of the start. */
  writeState(values: ReadonlyMap<number, Value | undefined>): Promise<void>;
  /** Waits for runs that have started. */
  close(): Promise<void>;
}
