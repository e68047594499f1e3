/**
 * The backend contract: what turns a graph into something that runs. A driver is made of one (see @nnhal/driver-core); a
 * backend knows nothing of drivers, pools, requests or other backends.
 */
import type {
  Capabilities,
  DeviceType,
  ErrorStatus,
  ExecutionPreference,
  HardwareBufferDescription,
  OperandTypeName,
  OutputShape,
  Priority,
} from "@nnhal/types";
import type { PowerBasis } from "./capabilities.ts";
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
  /** Where `powerUsage` in the capabilities comes from; tools show it. Default: not known. */
  readonly powerBasis?: PowerBasis;
  /** Where only opening tells what the engine runs on. Default: that of the backend. */
  readonly deviceType?: DeviceType;
  /** What would make it better here, such as a faster engine that is not installed; the first is the best. Default: nothing. */
  readonly missing?: readonly Unavailable[];
  /**
   * Whether one operation can run here. For IF and WHILE: whether the backend can run the loop or branch itself; the
   * operations inside are asked for one by one.
   */
  supports(operation: OperationView): Support;
  /**
   * Does all heavy work, so that the first execution is like any other. Rejects with an Error whose message is the reason; a
   * StatusError also says the status.
   */
  compile(graph: GraphView, options: CompileOptions): Promise<Executable>;
  /**
   * Makes what `Executable.serialize` gave for the same graph run again, in this version of the backend, without the work
   * that it saves. The blobs are aligned to 64 bytes, stay as they are, and may be kept. Rejects as `compile`; the model is
   * then prepared anew. Optional: without it, executables are not asked for blobs, and a graph from a cache is compiled.
   */
  restore?(blobs: CacheBlobs, graph: GraphView, options: CompileOptions): Promise<Executable>;
  /**
   * Makes a place in the engine's own memory for a value that goes from one execution to another, so that it need not be
   * read back in between. Undefined: such a value cannot be kept here, and lies in plain bytes. Throws an Error where
   * there is no room. Optional: without it, all values lie in plain bytes.
   */
  allocate?(value: BufferInfo): BackendBuffer | undefined;
  /**
   * Whether executables can read and write a hardware buffer that is no BLOB. Optional: without it, none is accepted.
   */
  supportsHardwareBuffer?(description: HardwareBufferDescription): Support;
  /**
   * Most runs that may be under way at once, on all executables together. Default: 4. A run that has not ended a while after its
   * deadline is not counted any more: the next one may then start beside it.
   */
  readonly concurrency?: number;
  /**
   * Resolves with the reason when the engine is gone for good, such as a GPU that was removed or a process that died. What is under
   * way then ends with DEVICE_UNAVAILABLE, the device is OFFLINE, and nothing but `close` is called any more. Optional: without it,
   * the device learns of a loss from each run that fails.
   */
  readonly lost?: Promise<string>;
  /** Frees the engine. Executables are closed before, except those whose runs do not end. */
  close(): Promise<void>;
}

/** A value that is to be kept in an engine's memory. */
export interface BufferInfo {
  readonly type: OperandTypeName;
  /** What is known of the shape; 0 and [] are unknown. */
  readonly dimensions: readonly number[];
  /** As in the operands that the value is for. */
  readonly scale: number;
  readonly zeroPoint: number;
}

/**
 * A place for a value in an engine's memory. It comes as an input only after a successful run had it as an output or
 * after `write`, and its content does not matter after a run that failed.
 */
export interface BackendBuffer {
  /** Copies the value out: little-endian, row-major, packed. The bytes are as long as the value. */
  read(bytes: Uint8Array): void | Promise<void>;
  /** Sets the value. The bytes may change when it has settled. */
  write(bytes: Uint8Array, dimensions: readonly number[]): void | Promise<void>;
  /** Frees the place. No run that has it is under way. */
  close(): void;
}

/** Whether an operation can run, and why not: "CONV_2D: dilation 2x2 is not available for TENSOR_QUANT8_ASYMM". */
export type Support =
  | {
      readonly supported: true;
      /**
       * How many computations of the engine the operation takes, where each costs a start of its own, such as those of a
       * recurrent cell at every point in time. Default: 1.
       */
      readonly dispatches?: number;
    }
  | { readonly supported: false; readonly reason: string };

/** How to compile. */
export interface CompileOptions {
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
  /** Nanoseconds of the clock that `deadline` is a time of. Needed if there is a deadline. */
  readonly now?: () => bigint;
  /** When compiling must have ended: `compile` then rejects with a StatusError of MISSED_DEADLINE_TRANSIENT. Default: none. */
  readonly deadline?: bigint;
}

/** The bytes of an argument and the shape they have. */
export interface InputBuffer {
  /** Little-endian, row-major, packed; at least as long as the shape needs. May lie at any offset. Not to be written. */
  readonly bytes: Uint8Array;
  /** Fully known. */
  readonly dimensions: readonly number[];
  /** Where the value lies instead of in `bytes`, which are empty: only for backends with `allocate`. */
  readonly buffer?: BackendBuffer;
  /** What `bytes` are the content of: only for backends with `supportsHardwareBuffer`. */
  readonly hardwareBuffer?: HardwareBufferDescription;
}

/** Where a result goes. */
export interface OutputBuffer {
  /** Any length, any offset. */
  readonly bytes: Uint8Array;
  /** What model and request know of the shape; 0 and [] are unknown. */
  readonly dimensions: readonly number[];
  /** Where the result goes instead of to `bytes`, which are empty; it is always large enough. As in `InputBuffer`. */
  readonly buffer?: BackendBuffer;
  /** As in `InputBuffer`. */
  readonly hardwareBuffer?: HardwareBufferDescription;
}

/** What a run may use and must keep to. Times are nanoseconds of the steady clock `now`. */
export interface RunContext {
  readonly now: () => bigint;
  /** When the run has to end; the outcome is MISSED_DEADLINE_TRANSIENT otherwise. */
  readonly deadline?: bigint;
  /** The most that one WHILE may take; the outcome is MISSED_DEADLINE_TRANSIENT otherwise. */
  readonly loopTimeoutDuration: bigint;
  /**
   * Bytes that the results of operations may take together, in all runs of a session at once. A run that needs more ends with
   * RESOURCE_EXHAUSTED_TRANSIENT, or with RESOURCE_EXHAUSTED_PERSISTENT if the model alone decides that. Default: no limit.
   */
  readonly temporaryLimit?: number;
  /** Whether `timeOnDevice` is wanted. */
  readonly measure: boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The section of a trace that the run lies in; absent where nothing is traced. What begins in it ends with it at the latest. */
  readonly section?: RunSection;
  /** Takes what the engine has to say about the run, a line at a time; absent where nobody listens. */
  readonly log?: (message: string) => void;
}

/** A stretch of a run in a trace; a `Section` of @nnhal/utils is one. LC is the layer of engines. */
export interface RunSection {
  /** PE: all of a run. PIO, PTR, PCO, PR: placing, transforming, computing (with the name of an operation), results. */
  begin(layer: "LC", phase: "PE" | "PIO" | "PTR" | "PCO" | "PR", detail: string): RunSection;
  end(): void;
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

/** What a compiled graph is kept as in a cache. Whoever has the key of the cache could have made up all of it. */
export interface CacheBlobs {
  /** What decides which computation runs, such as code. */
  readonly model: readonly Uint8Array[];
  /** What is computed with, such as constants in an order of the backend's own. */
  readonly data: readonly Uint8Array[];
}

/** A compiled graph. Several runs may be under way at once. */
export interface Executable {
  /**
   * The outputs are written when it settles with NONE; otherwise their content does not matter. Never rejects, never throws.
   * Undefined: omitted.
   */
  run(
    inputs: readonly (InputBuffer | undefined)[],
    outputs: readonly OutputBuffer[],
    context: RunContext,
  ): Promise<RunResult> | RunResult;
  /** What `BackendSession.restore` needs. May throw: nothing is kept then. Optional: there is nothing worth keeping. */
  serialize?(): CacheBlobs | Promise<CacheBlobs>;
  /**
   * Lets go of memory that runs need and the next one can take again. Called when no run has been under way for a while,
   * and during none. Optional: nothing is kept between runs.
   */
  releaseScratch?(): void;
  close(): void;
}
