/**
 * The backend contract. A backend compiles a graph into an executable. @nnhal/driver-core makes a driver of a backend; a backend
 * does not know drivers, pools, requests or other backends.
 */
import type { ExtensionDefinition, Operation, TensorInfo, VendorDefinitions } from "@nnhal/operations";
import type {
  Capabilities,
  DeviceType,
  ErrorStatus,
  ExecutionPreference,
  HardwareBufferDescription,
  OutputShape,
  Priority,
  StopSignal,
} from "@nnhal/types";
import type { PowerBasis } from "./capabilities.ts";
import type { GraphView, OperationView } from "./graph.ts";
import type { FormChoice, OutcomeStore } from "./self-check.ts";

/** An engine that can be opened. It is a value that is passed to a driver; there is no registry. */
export interface Backend {
  /** Lower case letters and digits, such as `reference`. */
  readonly name: string;
  readonly deviceType: DeviceType;
  /** Loads the engine. If that is not possible, the result is the reason; it does not reject. */
  open(options?: OpenOptions): Promise<BackendSession | Unavailable>;
  /**
   * Returns the same backend for models with operations of these vendor extensions, as far as it knows them by name.
   * Optional: without it, there are only the extensions that a session has by itself.
   */
  withExtensions?(extensions: readonly ExtensionDefinition[]): Backend;
}

/** Options of `open`. */
export interface OpenOptions {
  /** Where the outcomes of self-checks are kept between processes. Default: nowhere, so the engine checks itself whenever it opens. */
  readonly outcomes?: OutcomeStore | undefined;
}

/** Why a backend cannot work here. */
export interface Unavailable {
  readonly unavailable: string;
  /** A remedy for the user, such as installing a package. */
  readonly remedy?: string;
}

/** An open engine. */
export interface BackendSession extends VendorDefinitions {
  /** Not empty. It must change whenever results or speed may change. */
  readonly version: string;
  readonly capabilities: Capabilities;
  /** The source of `powerUsage` in the capabilities; tools show it. Default: unknown. */
  readonly powerBasis?: PowerBasis;
  /** The forms that the engine's self-check chose; tools show them. They must change `version`: see `versionSuffix`. Default: none. */
  readonly choices?: readonly FormChoice[];
  /** The type of the device that the engine runs on, if it is known only after opening. Default: that of the backend. */
  readonly deviceType?: DeviceType;
  /** The vendor extensions that it knows. The device reports them, and validates models by them. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /**
   * Names of extensions whose hints it reads, for compilations and executions (AIDL 4). Hints of others do not reach it. A model that was
   * compiled with hints is kept in a cache only if `restore` exists. Default: none.
   */
  readonly hintedExtensions?: readonly string[] | undefined;
  /** Its meaning of OEM_OPERATION. The device does not validate the operation; `supports` decides. Default: it has none. */
  readonly oemOperation?: Operation | undefined;
  /** Better engines that cannot be opened here, such as one that is not installed, best first. Default: none. */
  readonly missing?: readonly Unavailable[];
  /**
   * Returns whether one operation can run here. For IF and WHILE: whether the backend can run the loop or branch
   * itself; it is asked about each operation inside separately, and before. `referenced`: for IF and WHILE, the subgraphs that they name by index, as
   * `GraphView.referenced` has them.
   */
  supports(operation: OperationView, referenced?: readonly GraphView[]): Support;
  /**
   * Does all expensive work ahead of time, so that the first execution is not slower than the others. Rejects with an Error whose message
   * is the reason; a StatusError also has a status.
   */
  compile(graph: GraphView, options: CompileOptions): Promise<Executable>;
  /**
   * Creates an executable from the blobs that `Executable.serialize` returned for the same graph in the same version of the backend. The
   * blobs are aligned to 64 bytes, do not change, and may be kept. Rejects as `compile` does; the model is then compiled. Optional:
   * without it, `serialize` is not called, and a graph from a cache is compiled.
   */
  restore?(blobs: CacheBlobs, graph: GraphView, options: CompileOptions): Promise<Executable>;
  /**
   * Allocates a buffer in the engine's own memory for a value that one execution writes and another one reads. The value is not read back
   * in between. Undefined: such a value cannot be kept in the engine, and is stored in plain bytes. Throws an Error if there is no room.
   * Optional: without it, all values are stored in plain bytes.
   */
  allocate?(value: BufferInfo): BackendBuffer | undefined;
  /**
   * Returns whether executables can read and write a hardware buffer whose format is not BLOB. Optional: without it,
   * none is accepted.
   */
  supportsHardwareBuffer?(description: HardwareBufferDescription): Support;
  /**
   * The most runs at the same time, of all executables together. Default: 4. A run that has not ended some time after its deadline is no
   * longer counted, so the next run may start before it has ended.
   */
  readonly concurrency?: number;
  /**
   * Resolves with the reason when the engine is lost, for example because a GPU was removed or a process died. Calls in progress then end
   * with DEVICE_UNAVAILABLE, the device is OFFLINE, and only `close` is called from then on. Optional: without it, a loss shows only
   * in runs that fail.
   */
  readonly lost?: Promise<string>;
  /** Frees the engine. All executables have been closed, except those whose runs do not end. */
  close(): Promise<void>;
}

/** A value to be kept in an engine's memory. */
export interface BufferInfo extends TensorInfo {
  /** The known part of the shape: 0 is an unknown extent, [] an unknown rank. */
  readonly dimensions: readonly number[];
}

/**
 * A buffer for one value in an engine's memory. It is an input only after `write`, or after a successful run with it as an output. Its
 * content is undefined after a run that failed.
 */
export interface BackendBuffer {
  /** Copies the value to `bytes`, which has the size of the value: little-endian, row-major, packed. */
  read(bytes: Uint8Array): void | Promise<void>;
  /** Sets the value. `bytes` may change once the result has settled. */
  write(bytes: Uint8Array, dimensions: readonly number[]): void | Promise<void>;
  /** Frees the buffer. No run that uses it is in progress. */
  close(): void;
}

/**
 * Support of an operation, with the reason if it cannot run: "CONV_2D: dilation 2x2 is not available for
 * TENSOR_QUANT8_ASYMM".
 */
export type Support =
  | {
      readonly supported: true;
      /**
       * The number of separate computations of the engine, each with the cost of a start: for example those of a recurrent cell at
       * every point in time. Default: 1.
       */
      readonly dispatches?: number;
    }
  | { readonly supported: false; readonly reason: string };

/**
 * A hint of an extension for one compilation or execution. What it says must not change results. A value that the backend does not
 * understand is ignored.
 */
export interface Hint {
  readonly extension: string;
  /** The attribute's code within the extension, within [0, 65535]. */
  readonly code: number;
  readonly value: Uint8Array;
}

/** Options of `compile` and `restore`. */
export interface CompileOptions {
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
  /** The clock of `deadline`, in nanoseconds. Needed if there is a deadline. */
  readonly now?: (() => bigint) | undefined;
  /** When compiling must end: after it `compile` rejects with a StatusError of MISSED_DEADLINE_TRANSIENT. Default: none. */
  readonly deadline?: bigint | undefined;
  /** The hints of `BackendSession.hintedExtensions`; absent if there are none. A model from a cache has none. */
  readonly hints?: readonly Hint[] | undefined;
}

/** The bytes and the shape of an argument. */
export interface InputBuffer {
  /** Little-endian, row-major, packed; at least as long as the shape needs. Any alignment. Must not be written. */
  readonly bytes: Uint8Array;
  /** All extents are known. */
  readonly dimensions: readonly number[];
  /** The buffer that has the value; `bytes` is empty then. Only for backends with `allocate`. */
  readonly buffer?: BackendBuffer;
  /** The hardware buffer whose content `bytes` is. Only for backends with `supportsHardwareBuffer`. */
  readonly hardwareBuffer?: HardwareBufferDescription;
}

/** The destination of a result. */
export interface OutputBuffer {
  /** Any length, any alignment. */
  readonly bytes: Uint8Array;
  /** The shape as far as model and request determine it: 0 is an unknown extent, [] an unknown rank. */
  readonly dimensions: readonly number[];
  /** The buffer for the result; `bytes` is empty then. It is always large enough. See `InputBuffer`. */
  readonly buffer?: BackendBuffer;
  /** See `InputBuffer`. */
  readonly hardwareBuffer?: HardwareBufferDescription;
}

/** Clock, limits and observers of a run. Times are nanoseconds of the steady clock `now`. */
export interface RunContext {
  readonly now: () => bigint;
  /** When the run must end; otherwise its status is MISSED_DEADLINE_TRANSIENT. */
  readonly deadline?: bigint;
  /** When it is aborted, the run should end at its next pause, with MISSED_DEADLINE_TRANSIENT: its result is not wanted any more. */
  readonly signal?: StopSignal;
  /** The longest time of one WHILE; otherwise the status is MISSED_DEADLINE_TRANSIENT. */
  readonly loopTimeoutDuration: bigint;
  /**
   * The most bytes of all results of operations, in all runs of a session together. A run that needs more ends with
   * RESOURCE_EXHAUSTED_TRANSIENT, or with RESOURCE_EXHAUSTED_PERSISTENT if the model alone needs more. Default: no limit.
   */
  readonly temporaryLimit?: number;
  /** The hints of `BackendSession.hintedExtensions`; absent if there are none. */
  readonly hints?: readonly Hint[] | undefined;
  /** True if `timeOnDevice` is to be measured. */
  readonly measure: boolean;
  /** A random number in [0, 1), uniformly distributed. */
  readonly random: () => number;
  /** The section of the trace that contains the run; absent if nothing is traced. A section inside ends with it at the latest. */
  readonly section?: RunSection;
  /** Receives log messages of the engine about the run, one line each; absent if they are not logged. */
  readonly log?: (message: string) => void;
}

/** A part of a run in a trace; a `Section` of @nnhal/utils is one. LC is the layer of engines. */
export interface RunSection {
  /** PE: the whole run. PIO, PTR, PCO, PR: input and output, transformation, computation (with the operation's name), results. */
  begin(layer: "LC", phase: "PE" | "PIO" | "PTR" | "PCO" | "PR", detail: string): RunSection;
  end(): void;
}

/** The result of a run. */
export interface RunResult {
  /** NONE, OUTPUT_INSUFFICIENT_SIZE, or the status of the failure. */
  readonly status: ErrorStatus;
  readonly message?: string;
  /** One for each output if the status is NONE or OUTPUT_INSUFFICIENT_SIZE. */
  readonly outputShapes: readonly OutputShape[];
  /** Nanoseconds on the device itself, if they were measured. */
  readonly timeOnDevice?: bigint;
}

/** The serialized form of a compiled graph. It is untrusted: anyone who has the key of the cache can forge it. */
export interface CacheBlobs {
  /** The computation, such as code. */
  readonly model: readonly Uint8Array[];
  /** The data of the computation, such as constants in the backend's own layout. */
  readonly data: readonly Uint8Array[];
}

/** A compiled graph. Several runs may be in progress at the same time. */
export interface Executable {
  /**
   * Runs the graph. An input that is undefined is omitted. The outputs have been written if the status is NONE; otherwise their content is
   * undefined. Never rejects and never throws.
   */
  run(
    inputs: readonly (InputBuffer | undefined)[],
    outputs: readonly OutputBuffer[],
    context: RunContext,
  ): Promise<RunResult> | RunResult;
  /** The blobs that `BackendSession.restore` needs. May throw: nothing is cached then. Optional: nothing is worth caching. */
  serialize?(): CacheBlobs | Promise<CacheBlobs>;
  /**
   * Frees memory that the next run can allocate again. Called when no run has been in progress for some time. Optional: no memory is
   * kept between runs.
   */
  releaseScratch?(): void;
  close(): void;
}
