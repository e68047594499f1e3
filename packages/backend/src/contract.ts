/**
 * The backend contract: what turns a graph into something that runs. A driver is made of one (see @nnhal/driver-core); a
 * backend knows nothing of drivers, pools, requests or other backends.
 */
import type { Capabilities, DeviceType, ErrorStatus, ExecutionPreference, OutputShape, Priority } from "@nnhal/types";
import type { GraphView, OperationView } from "./graph.ts";

/** An engine that can be opened. A value handed to a driver; there is no registry. */
export interface Backend {
  /** Lower case letters and digits, such as `reference`. */
  readonly name: string;
  readonly deviceType: DeviceType;
  /** Loads the engine. What stands in its way is an answer, not an error. */
  open(): Promise<BackendSession | Unavailable>;
}

/** Why a backend cannot work here. */
export interface Unavailable {
  readonly unavailable: string;
  /** What the user can do about it, such as a package to install. */
  readonly remedy?: string;
}

/** An engine at work. */
export interface BackendSession {
  /** Not empty; changes whenever results or speed may change. */
  readonly version: string;
  readonly capabilities: Capabilities;
  /**
   * Whether one operation can run here. For IF and WHILE: whether the backend can run the loop or branch itself; the
   * operations inside are asked for one by one.
   */
  supports(operation: OperationView): Support;
  /** Does all heavy work, so that the first execution is like any other. Rejects with an Error whose message is the reason. */
  compile(graph: GraphView, options: CompileOptions): Promise<Executable>;
  /** Frees the engine. Executables are closed before. */
  close(): Promise<void>;
}

/** Whether an operation can run, and why not: "CONV_2D: dilation 2x2 is not available for TENSOR_QUANT8_ASYMM". */
export type Support = { readonly supported: true } | { readonly supported: false; readonly reason: string };

/** How to compile. */
export interface CompileOptions {
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
}

/** The bytes of an argument and the shape they have. */
export interface InputBuffer {
  /** Little-endian, row-major, packed; at least as long as the shape needs. May lie at any offset. Not to be written. */
  readonly bytes: Uint8Array;
  /** Fully known. */
  readonly dimensions: readonly number[];
}

/** Where a result goes. */
export interface OutputBuffer {
  /** Any length, any offset. */
  readonly bytes: Uint8Array;
  /** What model and request know of the shape; 0 and [] are unknown. */
  readonly dimensions: readonly number[];
}

/** What a run may use and must keep to. Times are nanoseconds of the steady clock `now`. */
export interface RunContext {
  readonly now: () => bigint;
  /** When the run has to end; the outcome is MISSED_DEADLINE_TRANSIENT otherwise. */
  readonly deadline?: bigint;
  /** The most that one WHILE may take; the outcome is MISSED_DEADLINE_TRANSIENT otherwise. */
  readonly loopTimeoutDuration: bigint;
  /** Whether `timeOnDevice` is wanted. */
  readonly measure: boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The outcome of a run. */
export interface RunResult {
  /** NONE, OUTPUT_INSUFFICIENT_SIZE, or what went wrong. */
  readonly status: ErrorStatus;
  readonly message?: string;
  /** One for each output where status is NONE or OUTPUT_INSUFFICIENT_SIZE. */
  readonly outputShapes: readonly OutputShape[];
  /** Nanoseconds on the device itself, where measured. */
  readonly timeOnDevice?: bigint;
}

/** A compiled graph. Several runs may be under way at once. */
export interface Executable {
  /** Outputs that fit their buffers are written when it settles. Never rejects, never throws. Undefined: omitted. */
  run(
    inputs: readonly (InputBuffer | undefined)[],
    outputs: readonly OutputBuffer[],
    context: RunContext,
  ): Promise<RunResult> | RunResult;
  close(): void;
}
