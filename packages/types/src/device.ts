/**
 * The device contract: what a driver implements and a framework calls, in the canonical shape of HAL 1.3. Where the HAL
 * answers through a callback, a promise answers here: it settles exactly once and never rejects. No method throws;
 * every outcome is a status, and `message` says in words what a status other than NONE means.
 *
 * The faces of HAL 1.0 – 1.3 with the HAL's own method names are built over this contract.
 */
import type { Capabilities, Extension } from "./capabilities.ts";
import type { DeviceStatus, DeviceType, ErrorStatus, ExecutionPreference, MeasureTiming, Priority } from "./enums.ts";
import type { Model } from "./model.ts";
import type { OutputShape, Request, Timing } from "./request.ts";

/** The part that every answer shares. */
export interface Outcome {
  readonly status: ErrorStatus;
  /** What was attempted, which rule it broke and with which value. Only where status is not NONE. */
  readonly message?: string;
}

/** How to prepare a model (HAL 1.3 IDevice.prepareModel_1_3). */
export interface PrepareOptions {
  /** Default FAST_SINGLE_ANSWER. */
  readonly preference?: ExecutionPreference;
  /** Default MEDIUM. */
  readonly priority?: Priority;
  /** Time on the steady clock, in nanoseconds, by which the model has to be ready. Default: none. */
  readonly deadline?: bigint;
}

/** How to execute a request (HAL 1.3 IPreparedModel.execute_1_3). */
export interface ExecuteOptions {
  /** Default NO. */
  readonly measure?: MeasureTiming;
  /** Time on the steady clock, in nanoseconds, by which the execution has to end. Default: none. */
  readonly deadline?: bigint;
  /** Longest time for one WHILE loop, in nanoseconds. Default and most: `LoopTimeoutDurationNs`. */
  readonly loopTimeoutDuration?: bigint;
}

/** The answer to getSupportedOperations. */
export interface SupportedOperations extends Outcome {
  /** One for each operation of the main subgraph; empty where status is not NONE. */
  readonly supported: readonly boolean[];
  /** For each operation why it is not supported, undefined where it is. As long as `supported`. */
  readonly reasons: readonly (string | undefined)[];
}

/** The answer to prepareModel. */
export interface PrepareResult extends Outcome {
  /** Not null exactly where status is NONE. */
  readonly preparedModel: PreparedModel | null;
}

/** The answer to an execution. */
export interface ExecutionResult extends Outcome {
  /** One for each output where status is NONE or OUTPUT_INSUFFICIENT_SIZE, else empty. */
  readonly outputShapes: readonly OutputShape[];
  /** Both unknown unless measured and status is NONE. */
  readonly timing: Timing;
}

/** A model ready to run on a device (HAL IPreparedModel). */
export interface PreparedModel {
  /**
   * Executes a request. Several executions of one prepared model may be under way at once, with different shapes.
   * Outputs are complete in their pools when the promise resolves.
   */
  execute(request: Request, options?: ExecuteOptions): Promise<ExecutionResult>;
  /** Frees what the prepared model holds once executions under way have ended; executing afterwards is INVALID_ARGUMENT. */
  close(): void;
}

/** A device (HAL IDevice). */
export interface Device {
  /** The name it is registered under, such as `nnhal-reference`. */
  readonly name: string;
  /** The same at every call, and across restarts. */
  getCapabilities(): Outcome & { readonly capabilities: Capabilities };
  getType(): Outcome & { readonly type: DeviceType };
  /** Not empty; changes whenever the driver changes. */
  getVersionString(): Outcome & { readonly version: string };
  getSupportedExtensions(): Outcome & { readonly extensions: readonly Extension[] };
  /** Which operations of a model the device can execute; INVALID_ARGUMENT for a model that is not valid. */
  getSupportedOperations(model: Model): SupportedOperations;
  /** Files needed to cache a prepared model; 0 and 0: no caching. Each at most `MAX_NUMBER_OF_CACHE_FILES`. */
  getNumberOfCacheFilesNeeded(): Outcome & { readonly numModelCache: number; readonly numDataCache: number };
  getStatus(): DeviceStatus;
  /** Compiles a model. The model and its pools must not change while the prepared model lives. */
  prepareModel(model: Model, options?: PrepareOptions): Promise<PrepareResult>;
}
