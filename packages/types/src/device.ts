/**
 * The device contract: what a driver implements and a framework calls, in the canonical shape of HAL 1.3. A callback
 * of the HAL is a promise here, which settles exactly once and never rejects. No method throws: every outcome is a
 * status, and `message` explains a status other than NONE.
 *
 * The faces of HAL 1.0 – 1.3 with the HAL's own method names are built over this contract.
 */
import type { BufferDesc, BufferRole, IBuffer } from "./buffer.ts";
import type { FmqDescriptor, IBurstCallback, IBurstContext } from "./burst.ts";
import type { CompilationCache } from "./cache.ts";
import type { Capabilities, Extension } from "./capabilities.ts";
import type { DEVICE_TYPE_UNKNOWN } from "./constants.ts";
import type { DeviceStatus, DeviceType, ExecutionPreference, MeasureTiming, Priority } from "./enums.ts";
import type { IFencedExecutionCallback, SyncFence } from "./fence.ts";
import type { Hints } from "./hints.ts";
import type { Memory } from "./memory.ts";
import type { Model } from "./model.ts";
import type { Awaitable, ExecutionResult, Outcome } from "./outcome.ts";
import type { Request } from "./request.ts";
import type { HalVersion } from "./version.ts";

/** Options of preparing a model (HAL 1.3 IDevice.prepareModel_1_3). */
export interface PrepareOptions {
  /** Default FAST_SINGLE_ANSWER. */
  readonly preference?: ExecutionPreference | undefined;
  /** Default MEDIUM. */
  readonly priority?: Priority | undefined;
  /** Time on the steady clock, in nanoseconds, by which the model must be ready. Default: none. */
  readonly deadline?: bigint | undefined;
  /**
   * Files to keep the prepared model in. If they cannot be used, nothing is kept and the preparation goes on.
   * Default: none.
   */
  readonly cache?: CompilationCache | undefined;
  /** Hints for the compilation (AIDL 4). Default: none. */
  readonly hints?: Hints | undefined;
}

/** A request to end an execution early. An AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
}

/** Options of an execution (HAL 1.3 IPreparedModel.execute_1_3). */
export interface ExecuteOptions {
  /** Default NO. */
  readonly measure?: MeasureTiming | undefined;
  /** Time on the steady clock, in nanoseconds, by which the execution must end. Default: none. */
  readonly deadline?: bigint | undefined;
  /** Maximum duration of one WHILE loop, in nanoseconds. Default and upper bound: `LoopTimeoutDurationNs`. */
  readonly loopTimeoutDuration?: bigint | undefined;
  /** Hints for the execution (AIDL 4). Default: none. */
  readonly hints?: Hints | undefined;
  /**
   * When it is aborted, the execution ends at its next pause, with MISSED_DEADLINE_TRANSIENT. Not part of the HAL: devices of this process
   * read it; devices of other processes, and those behind the interface of a HAL version, do not receive it. Default: none.
   */
  readonly signal?: StopSignal | undefined;
}

/** Options of a fenced execution (HAL 1.3 IPreparedModel.executeFenced). */
export interface FencedExecuteOptions extends ExecuteOptions {
  /** Maximum nanoseconds from the moment when all fences are signalled to the end of the execution. Default: no limit. */
  readonly duration?: bigint | undefined;
}

/** The answer to getSupportedOperations. */
export interface SupportedOperations extends Outcome {
  /** One for each operation of the main subgraph; empty if status is not NONE. */
  readonly supported: readonly boolean[];
  /** For each operation the reason why it is not supported; undefined if it is. As long as `supported`. */
  readonly reasons: readonly (string | undefined)[];
  /**
   * For each operation the number of computations that the device dispatches. Planning uses it to predict the time.
   * Default: 1 for each.
   */
  readonly dispatches?: readonly number[];
}

/** The answer to prepareModel. */
export interface PrepareResult extends Outcome {
  /** Not null if and only if status is NONE. */
  readonly preparedModel: PreparedModel | null;
}

/** The answer to executeFenced. */
export interface FencedResult extends Outcome {
  /**
   * Signalled when the execution has ended. Null if status is not NONE; may be null if the execution has already
   * ended.
   */
  readonly syncFence: SyncFence | null;
  /** Reports how the execution ended. Not null if and only if status is NONE. */
  readonly callback: IFencedExecutionCallback | null;
}

/** The answer to configureExecutionBurst. */
export interface BurstResult extends Outcome {
  /** Not null if and only if status is NONE. */
  readonly context: IBurstContext | null;
  /** Why the service cannot use a memory; requests with it do not go through the burst. Default: it can use every memory. */
  readonly refuseMemory?: (memory: Memory) => string | undefined;
}

/** The answer to allocate. */
export interface AllocateResult extends Outcome {
  /** Not null if and only if status is NONE. */
  readonly buffer: IBuffer | null;
  /** Identifies the buffer in requests: > 0 and unique among living buffers if status is NONE, else 0. */
  readonly token: number;
  /** True if the value lies in host memory, so that a memory pool is as fast. Default: false. */
  readonly inHostMemory?: boolean;
}

/** The answer to createReusableExecution. */
export interface ReusableResult extends Outcome {
  /** Not null if and only if status is NONE. */
  readonly execution: ReusableExecution | null;
}

/**
 * An execution that is set up once and repeated (AIDL 4 IExecution). At most one run at a time: a second one is GENERAL_FAILURE. A fenced
 * run lasts until its fence is signalled. The content of the request's memory can change between runs; a run that fails does not end it.
 */
export interface ReusableExecution {
  execute(options?: Pick<ExecuteOptions, "deadline">): Promise<ExecutionResult>;
  executeFenced(
    waitFor: readonly (SyncFence | null)[],
    options?: Pick<FencedExecuteOptions, "deadline" | "duration">,
  ): Promise<FencedResult>;
  /** Frees it. */
  close?(): void;
}

/** A model ready to run on a device (HAL IPreparedModel). */
export interface PreparedModel {
  /**
   * Executes a request. Several executions of one prepared model may be under way at once, with different shapes.
   * Outputs are complete in their pools when the promise resolves.
   */
  execute(request: Request, options?: ExecuteOptions): Promise<ExecutionResult>;
  /**
   * Executes a request once some fences are signalled; answers when the execution is under way. The dimensions of all
   * outputs must be known. INVALID_ARGUMENT: a fence is null or in state ERROR. A later failure, such as a fence in
   * `waitFor` that fails, puts the execution's own fence in state ERROR. Optional: without it, callers of the HAL get
   * GENERAL_FAILURE.
   */
  executeFenced?(
    request: Request,
    waitFor: readonly (SyncFence | null)[],
    options?: FencedExecuteOptions,
  ): Promise<FencedResult>;
  /**
   * Serves a burst: reads requests from one queue and writes results to the other until the context is closed.
   * INVALID_ARGUMENT: the callback is null, or a queue cannot be used. Optional: as `executeFenced`.
   */
  configureExecutionBurst?(
    callback: IBurstCallback | null,
    requestChannel: FmqDescriptor<"FmqRequestDatum">,
    resultChannel: FmqDescriptor<"FmqResultDatum">,
  ): Promise<BurstResult>;
  /**
   * Sets up an execution of a request that can be repeated (AIDL 4). Optional: callers repeat `execute`.
   */
  createReusableExecution?(
    request: Request,
    options?: Pick<ExecuteOptions, "measure" | "loopTimeoutDuration" | "hints">,
  ): Promise<ReusableResult>;
  /**
   * Allocates the memory for the queues of a burst and for the values of its requests. Absent: the device sees all memory of
   * this process.
   */
  readonly sharedMemory?: SharedMemorySource;
  /**
   * True if the service that has the prepared model is gone. No execution will succeed; prepare the model again.
   * Default: false.
   */
  readonly isLost?: boolean;
  /**
   * Frees the prepared model once executions under way have ended. Later executions are refused with
   * INVALID_ARGUMENT.
   */
  close(): void;
}

/** Makes memory that a device in another process, or behind a connection, shares with this one. */
export interface SharedMemorySource {
  /** Returns zeroed memory of `size` bytes. Throws if none can be had. */
  allocate(size: number): Memory;
}

/** A device (HAL IDevice). */
export interface Device {
  /** The name under which it is registered, such as `nnhal-reference`. */
  readonly name: string;
  /** The HAL version of the driver behind it. Default: 1.3. */
  readonly halVersion?: HalVersion;
  /** The same at every call, and across restarts. */
  getCapabilities(): Outcome & { readonly capabilities: Capabilities };
  /** DEVICE_TYPE_UNKNOWN only for a device older than HAL 1.2. */
  getType(): Outcome & { readonly type: DeviceType | typeof DEVICE_TYPE_UNKNOWN };
  /** Not empty; changes whenever the driver changes. */
  getVersionString(): Outcome & { readonly version: string };
  getSupportedExtensions(): Outcome & { readonly extensions: readonly Extension[] };
  /**
   * Reports which operations of a model the device can execute; INVALID_ARGUMENT for a model that is not valid. The facts above
   * are known without asking the device. This one is not, so a remote device answers with a promise.
   */
  getSupportedOperations(model: Model): Awaitable<SupportedOperations>;
  /** Files needed to cache a prepared model; 0 and 0: no caching. Each at most `MAX_NUMBER_OF_CACHE_FILES`. */
  getNumberOfCacheFilesNeeded(): Outcome & { readonly numModelCache: number; readonly numDataCache: number };
  /** The status now; of a remote device the last one that it has reported, and OFFLINE if it cannot be reached. */
  getStatus(): DeviceStatus;
  /**
   * Makes memory whose bytes the device sees without copies, also if it is in another process: for pools, and for the queues of bursts.
   * Throws RangeError for a size that is not valid. Optional: without it, the device sees any memory without copies.
   */
  createMemory?(size: number): Memory;
  /** Compiles a model. The model and its pools must not change while the prepared model lives. */
  prepareModel(model: Model, options?: PrepareOptions): Promise<PrepareResult>;
  /**
   * Prepares the model that a cache holds. If the cache cannot be used: GENERAL_FAILURE or INVALID_ARGUMENT.
   * `model`: the model that the cache should hold, if the caller has it. It is not part of the HAL's method; a device in the same process
   * then need not read and check the one in the cache. Optional: without the method, callers of the HAL get GENERAL_FAILURE.
   */
  prepareModelFromCache?(
    cache: CompilationCache,
    options?: Pick<PrepareOptions, "deadline">,
    model?: Model,
  ): Promise<PrepareResult>;
  /**
   * Allocates a buffer for inputs and outputs of prepared models. INVALID_ARGUMENT: no models, no roles, a role
   * twice, a model that is null or of another device, or operands that do not all have the same type, scale,
   * zeroPoint, extraParams and compatible dimensions. GENERAL_FAILURE: the device cannot hold such a buffer.
   * Optional: as `prepareModelFromCache`.
   */
  allocate?(
    desc: BufferDesc,
    preparedModels: readonly (PreparedModel | null)[],
    inputRoles: readonly BufferRole[],
    outputRoles: readonly BufferRole[],
  ): Promise<AllocateResult>;
}
