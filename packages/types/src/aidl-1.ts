/**
 * AIDL 1: HAL 1.3 in the form of AIDL, with padding of arguments, tokens for the memories of bursts, and nanoseconds.
 *
 * Rules for the interfaces of all versions of AIDL:
 *
 * - A method fails by a `ServiceSpecificException` with an ErrorStatus. OUTPUT_INSUFFICIENT_SIZE is not thrown: the result says so.
 * - DEVICE_UNAVAILABLE and GENERAL_FAILURE can come from any method, INVALID_ARGUMENT from one with arguments, missed deadlines from one
 *   with a deadline or a duration, and RESOURCE_EXHAUSTED from `allocate`, preparations, executions and `configureExecutionBurst`.
 * - A preparation checks its arguments first. If one is not valid, the callback gets the status and null, and then the method throws the
 *   same status. Otherwise the method returns, and the callback is called once the task has ended. A callback that is null is
 *   INVALID_ARGUMENT by exception alone. A deadline that has passed is an outcome of the task.
 * - Times are nanoseconds; -1 is none or unknown, and less is INVALID_ARGUMENT. Deadlines are on the clock since the start of the machine,
 *   which goes on while the machine is suspended (Linux: CLOCK_BOOTTIME).
 * - Numbers have signs, and negative indexes, extents, offsets and lengths are INVALID_ARGUMENT. Those of 64 bits that state bytes are
 *   numbers here, since values above 2^32 - 1 are refused; times and tokens of memory are bigints.
 * - Methods that block until something has been computed or copied answer with a promise.
 * - `close`, where an object has it, is what AIDL does when the last reference to the object goes.
 */
import type { BufferDesc } from "./buffer.ts";
import type { Capabilities, Extension } from "./capabilities.ts";
import { BYTE_SIZE_OF_CACHE_TOKEN, MAX_NUMBER_OF_CACHE_FILES } from "./constants.ts";
import {
  OperandLifeTime as CanonicalOperandLifeTime,
  type DeviceType,
  type ErrorStatus,
  type ExecutionPreference,
  type Priority,
} from "./enums.ts";
import type { SyncFence } from "./fence.ts";
import type { BufferHandle, FileDescriptorHandle, HardwareBufferDescription } from "./memory.ts";
import type { ExtensionNameAndPrefix, Operation, SymmPerChannelQuantParams } from "./model.ts";
import { operandTypes } from "./operand-type.ts";
import { operationTypes } from "./operation-type.ts";
import type { Awaitable } from "./outcome.ts";
import type { OutputShape } from "./request.ts";
import { codesOf, tableAt } from "./table.ts";

export type { BufferDesc } from "./buffer.ts";
export type {
  Capabilities,
  Extension,
  ExtensionOperandTypeInformation,
  OperandPerformance,
  PerformanceInfo,
} from "./capabilities.ts";
export { DeviceType, ErrorStatus, ExecutionPreference, FusedActivationFunc, Priority } from "./enums.ts";
export type { HardwareBufferDescription } from "./memory.ts";
export type { ExtensionNameAndPrefix, Operation, SymmPerChannelQuantParams } from "./model.ts";
export type { OutputShape } from "./request.ts";

const { OEM: _OEM, TENSOR_OEM_BYTE: _oemByte, ...operandTypeCodes } = codesOf(tableAt(operandTypes, "aidl1"));
const { OEM_OPERATION: _oemOperation, ...operationCodes } = codesOf(tableAt(operationTypes, "aidl1"));

/** The operand types of AIDL, in all versions: those of HAL 1.3 without the OEM's. */
export const OperandType = operandTypeCodes;

/** The operations of AIDL 1: those of HAL 1.3 without OEM_OPERATION. */
export const OperationType = operationCodes;

const { CONSTANT_REFERENCE, ...sameLifeTimes } = CanonicalOperandLifeTime;

/** The lifetimes of AIDL: those of HAL 1.3, one of them under another name. */
export const OperandLifeTime = { ...sameLifeTimes, CONSTANT_POOL: CONSTANT_REFERENCE } as const;

/** Constants of the interfaces, and bounds of numbers. */
export const Constant = {
  BYTE_SIZE_OF_CACHE_TOKEN,
  MAX_NUMBER_OF_CACHE_FILES,
  /** Bits of the prefix in the code of an extension: no code is negative. */
  EXTENSION_PREFIX_BITS: 15,
  EXTENSION_TYPE_BITS: 16,
  /** The greatest code of an operand type or an operation that is not an extension's. */
  LAST_NON_EXTENSION_CODE: 0xffff,
  /** The loop timeout that -1 stands for, and the greatest, in nanoseconds. */
  DEFAULT_LOOP_TIMEOUT_DURATION_NS: 2_000_000_000n,
  MAXIMUM_LOOP_TIMEOUT_DURATION_NS: 15_000_000_000n,
  /** No deadline, no duration, an unknown time, a memory without a name. */
  NONE: -1n,
  /** Bytes to which the offsets of arguments should be aligned, and their lengths padded. */
  PREFERRED_ALIGNMENT: 64,
  PREFERRED_PADDING: 64,
} as const;

/** A descriptor of this process (AIDL's ParcelFileDescriptor). Null cannot be sent. */
export type ParcelFileDescriptor = number;

/** Where a value lies. */
export interface DataLocation {
  readonly poolIndex: number;
  readonly offset: number;
  /** Bytes of the value itself. For an output of unknown extents, those that may be written. */
  readonly length: number;
  /** Bytes after the value that the device may read, and write at will. 0 in models. */
  readonly padding: number;
}

/** A region of memory. Where AIDL sends a descriptor, the bytes can lie in a buffer of this process too. */
export type Memory =
  | { readonly ashmem: Ashmem }
  | { readonly mappableFile: MappableFile }
  | { readonly hardwareBuffer: HardwareBuffer };

/** Anonymous shared memory. */
export interface Ashmem {
  readonly fd: BufferHandle | FileDescriptorHandle | null;
  /** In bytes, > 0. */
  readonly size: number;
}

/** A part of a file. */
export interface MappableFile {
  /** In bytes, > 0. */
  readonly length: number;
  /** PROT_READ 1 and PROT_WRITE 2; no other bits. */
  readonly prot: number;
  readonly fd: ParcelFileDescriptor | null;
  readonly offset: number;
}

/** A hardware buffer. One of format BLOB has `width` bytes. */
export interface HardwareBuffer {
  readonly description: HardwareBufferDescription;
  readonly handle: BufferHandle | FileDescriptorHandle | null;
}

/** Parameters of an operand beyond scale and zeroPoint. */
export type OperandExtraParams =
  | { readonly channelQuant: SymmPerChannelQuantParams }
  | { readonly extension: Uint8Array };

/** A value of a subgraph. */
export interface Operand {
  readonly type: number;
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  readonly lifetime: number;
  readonly location: DataLocation;
  readonly extraParams: OperandExtraParams | null;
}

/** A graph of operations, in an order in which they can be executed. */
export interface Subgraph {
  readonly operands: readonly Operand[];
  readonly operations: readonly Operation[];
  readonly inputIndexes: readonly number[];
  readonly outputIndexes: readonly number[];
}

export interface Model {
  readonly main: Subgraph;
  readonly referenced: readonly Subgraph[];
  readonly operandValues: Uint8Array;
  readonly pools: readonly Memory[];
  readonly relaxComputationFloat32toFloat16: boolean;
  /** Each prefix is within [1, 32767]. */
  readonly extensionNameToPrefix: readonly ExtensionNameAndPrefix[];
}

export interface RequestArgument {
  /** Then all of `location` is 0, and there are no dimensions. */
  readonly hasNoValue: boolean;
  /** On a token's pool, and on a hardware buffer of another format than BLOB, offset, length and padding are 0. */
  readonly location: DataLocation;
  readonly dimensions: readonly number[];
}

/** `token` > 0. */
export type RequestMemoryPool = { readonly pool: Memory } | { readonly token: number };

export interface Request {
  readonly inputs: readonly RequestArgument[];
  readonly outputs: readonly RequestArgument[];
  readonly pools: readonly RequestMemoryPool[];
}

/** Durations of an execution in nanoseconds; -1 unless measured, and after a failure. */
export interface Timing {
  readonly timeOnDeviceNs: bigint;
  /** Not less than `timeOnDeviceNs`, if both are known. */
  readonly timeInDriverNs: bigint;
}

export interface ExecutionResult {
  /** False: no output is valid, and `outputShapes` says what is needed. */
  readonly outputSufficientSize: boolean;
  /** One for each output; may be empty if all extents were known and the execution has succeeded. */
  readonly outputShapes: readonly OutputShape[];
  readonly timing: Timing;
}

export interface FencedExecutionResult {
  readonly callback: IFencedExecutionCallback;
  /** Null: the execution has ended. */
  readonly syncFence: SyncFence | null;
}

export interface BufferRole {
  readonly modelIndex: number;
  readonly ioIndex: number;
  /** Within (0, 1]. HAL 1.3 names it `frequency`. */
  readonly probability: number;
}

export interface DeviceBuffer {
  readonly buffer: IBuffer;
  /** > 0. */
  readonly token: number;
}

/** An IPreparedModel, as AIDL passes it in an array. */
export interface IPreparedModelParcel {
  readonly preparedModel: IPreparedModel | null;
}

/** Each within [0, 32]. */
export interface NumberOfCacheFiles {
  readonly numModelCache: number;
  readonly numDataCache: number;
}

/** The queries that every interface answers. */
export interface AidlInterface {
  /** The version that the service implements: 1 to 4. */
  getInterfaceVersion(): number;
  /** The hash of the frozen definition of that version. */
  getInterfaceHash(): string;
}

/** A device. There is no status of it: it is there as long as it answers. */
export interface IDevice extends AidlInterface {
  /**
   * INVALID_ARGUMENT: no models, no roles, a role twice, a model that is null or not this device's, operands that do not agree.
   * GENERAL_FAILURE: the device cannot hold such a buffer.
   */
  allocate(
    desc: BufferDesc,
    preparedModels: readonly IPreparedModelParcel[],
    inputRoles: readonly BufferRole[],
    outputRoles: readonly BufferRole[],
  ): Promise<DeviceBuffer>;
  getCapabilities(): Capabilities;
  getNumberOfCacheFilesNeeded(): NumberOfCacheFiles;
  getSupportedExtensions(): readonly Extension[];
  /** One answer for each operation of the main subgraph. INVALID_ARGUMENT: the model is not valid. */
  getSupportedOperations(model: Model): Awaitable<readonly boolean[]>;
  getType(): DeviceType;
  /** Not empty. */
  getVersionString(): string;
  /** Launches a preparation. The files of the cache never fail it. `token`: 32 bytes, not read if there are no files. */
  prepareModel(
    model: Model,
    preference: ExecutionPreference,
    priority: Priority,
    deadlineNs: bigint,
    modelCache: readonly ParcelFileDescriptor[],
    dataCache: readonly ParcelFileDescriptor[],
    token: Uint8Array,
    callback: IPreparedModelCallback | null,
  ): void;
  /** Launches the preparation of the model that the files hold. GENERAL_FAILURE: it cannot be done. */
  prepareModelFromCache(
    deadlineNs: bigint,
    modelCache: readonly ParcelFileDescriptor[],
    dataCache: readonly ParcelFileDescriptor[],
    token: Uint8Array,
    callback: IPreparedModelCallback | null,
  ): void;
}

/** A model ready to run. All ways to execute it may be under way at once. */
export interface IPreparedModel extends AidlInterface {
  /** `loopTimeoutDurationNs`: most of one WHILE. -1: 2 seconds. */
  executeSynchronously(
    request: Request,
    measureTiming: boolean,
    deadlineNs: bigint,
    loopTimeoutDurationNs: bigint,
  ): Promise<ExecutionResult>;
  /**
   * Begins once all fences are signalled. All extents of the outputs must be known. `durationNs`: the most from then on; the earlier of it
   * and the deadline counts. INVALID_ARGUMENT: also for a fence in state ERROR.
   */
  executeFenced(
    request: Request,
    waitFor: readonly (SyncFence | null)[],
    measureTiming: boolean,
    deadlineNs: bigint,
    loopTimeoutDurationNs: bigint,
    durationNs: bigint,
  ): Promise<FencedExecutionResult>;
  configureExecutionBurst(): Promise<IBurst>;
  close?(): void;
}

/** Executions in rapid succession, one at a time: a second one while one is under way is GENERAL_FAILURE. */
export interface IBurst extends AidlInterface {
  /**
   * `memoryIdentifierTokens`: the client's names for the pools of the request, one for each. The service may keep a memory by its name, and
   * then uses the one that it has kept, until the name is released. -1: the memory has no name.
   */
  executeSynchronously(
    request: Request,
    memoryIdentifierTokens: readonly bigint[],
    measureTiming: boolean,
    deadlineNs: bigint,
    loopTimeoutDurationNs: bigint,
  ): Promise<ExecutionResult>;
  /** Forgets the memory of a name. -1 and unknown names have no effect; less is INVALID_ARGUMENT. */
  releaseMemoryResource(memoryIdentifierToken: bigint): void;
  close?(): void;
}

/** A buffer of a device. See the canonical `IBuffer`. */
export interface IBuffer extends AidlInterface {
  copyFrom(src: Memory, dimensions: readonly number[]): Promise<void>;
  copyTo(dst: Memory): Promise<void>;
  close?(): void;
}

/** Reports the outcome of a fenced execution, as a value: the call itself succeeds. */
export interface IFencedExecutionCallback extends AidlInterface {
  /** GENERAL_FAILURE while the fence is not signalled. Times are -1 unless measured and the status is NONE. */
  getExecutionInfo(): Promise<FencedExecutionInfo>;
}

/** The status that `getExecutionInfo` returns, and its out parameters. */
export interface FencedExecutionInfo {
  readonly status: ErrorStatus;
  readonly timingLaunched: Timing;
  readonly timingFenced: Timing;
}

/** Receives the outcome of a preparation, once. The client implements it. */
export interface IPreparedModelCallback {
  /** `preparedModel` is null for every status except NONE. */
  notify(status: ErrorStatus, preparedModel: IPreparedModel | null): void;
}
