/**
 * AIDL 4: AIDL 3 with executions that are set up once and repeated, configurations in place of single arguments, and hints.
 */
import type * as AIDL3 from "./aidl-3.ts";
import type { ExecutionPreference, Priority } from "./enums.ts";
import type { SyncFence } from "./fence.ts";
import type { TokenValuePair } from "./hints.ts";
import type { ExtensionNameAndPrefix } from "./model.ts";

export * from "./aidl-3.ts";
export type { TokenValuePair } from "./hints.ts";

/** The settings of all runs of an execution. */
export interface ExecutionConfig {
  readonly measureTiming: boolean;
  /** -1: 2 seconds. */
  readonly loopTimeoutDurationNs: bigint;
  readonly executionHints: readonly TokenValuePair[];
  /** Of the extensions of the hints, and of nothing else. */
  readonly extensionNameToPrefix: readonly ExtensionNameAndPrefix[];
}

/** The settings of a preparation. */
export interface PrepareModelConfig {
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
  /** -1: none. */
  readonly deadlineNs: bigint;
  readonly modelCache: readonly AIDL3.ParcelFileDescriptor[];
  readonly dataCache: readonly AIDL3.ParcelFileDescriptor[];
  /** 32 bytes. */
  readonly cacheToken: Uint8Array;
  readonly compilationHints: readonly TokenValuePair[];
  /** Of the extensions of the hints, and of nothing else. */
  readonly extensionNameToPrefix: readonly ExtensionNameAndPrefix[];
}

/** A device. */
export interface IDevice extends AIDL3.IDevice {
  /** As `prepareModel`. */
  prepareModelWithConfig(
    model: AIDL3.Model,
    config: PrepareModelConfig,
    callback: AIDL3.IPreparedModelCallback | null,
  ): void;
}

/** A model ready to run. */
export interface IPreparedModel extends Omit<AIDL3.IPreparedModel, "configureExecutionBurst"> {
  configureExecutionBurst(): Promise<IBurst>;
  /** Sets up an execution that can be repeated. The request is checked here, or at each run. */
  createReusableExecution(request: AIDL3.Request, config: ExecutionConfig): Promise<IExecution>;
  /** As `executeSynchronously`. */
  executeSynchronouslyWithConfig(
    request: AIDL3.Request,
    config: ExecutionConfig,
    deadlineNs: bigint,
  ): Promise<AIDL3.ExecutionResult>;
  /** As `executeFenced`. */
  executeFencedWithConfig(
    request: AIDL3.Request,
    waitFor: readonly (SyncFence | null)[],
    config: ExecutionConfig,
    deadlineNs: bigint,
    durationNs: bigint,
  ): Promise<AIDL3.FencedExecutionResult>;
}

/** Executions in rapid succession. */
export interface IBurst extends AIDL3.IBurst {
  /** As `executeSynchronously`. */
  executeSynchronouslyWithConfig(
    request: AIDL3.Request,
    memoryIdentifierTokens: readonly bigint[],
    config: ExecutionConfig,
    deadlineNs: bigint,
  ): Promise<AIDL3.ExecutionResult>;
}

/**
 * An execution that can be repeated, one run at a time: a second one while one is under way, which a fenced run is until its fence is
 * signalled, is GENERAL_FAILURE. The content of the request's memory can change between runs. A run that fails does not end it.
 */
export interface IExecution extends AIDL3.AidlInterface {
  executeSynchronously(deadlineNs: bigint): Promise<AIDL3.ExecutionResult>;
  executeFenced(
    waitFor: readonly (SyncFence | null)[],
    deadlineNs: bigint,
    durationNs: bigint,
  ): Promise<AIDL3.FencedExecutionResult>;
  close?(): void;
}
