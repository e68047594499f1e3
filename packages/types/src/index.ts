/**
 * @nnhal/types: the vocabulary of the NN HAL. Enum tables, canonical structs, the device contract, and what each HAL
 * version makes of them (`V1_0` to `V1_3`; AIDL is in `@nnhal/types/aidl`); no behaviour.
 */
export type { BufferDesc, BufferRole, IBuffer } from "./buffer.ts";
export type {
  BurstMemories,
  FmqDescriptor,
  FmqRequestDatum,
  FmqRequestOperandInformation,
  FmqRequestPacketInformation,
  FmqResultDatum,
  FmqResultOperandInformation,
  FmqResultPacketInformation,
  IBurstCallback,
  IBurstContext,
} from "./burst.ts";
export type { CompilationCache, Handle } from "./cache.ts";
export type {
  Capabilities,
  Extension,
  ExtensionOperandTypeInformation,
  OperandPerformance,
  PerformanceInfo,
} from "./capabilities.ts";
export {
  BYTE_SIZE_OF_CACHE_TOKEN,
  DEVICE_TYPE_UNKNOWN,
  ExtensionTypeEncoding,
  LoopTimeoutDurationNs,
  MAX_NUMBER_OF_CACHE_FILES,
  TIMING_NOT_MEASURED,
} from "./constants.ts";
export type {
  AllocateResult,
  BurstResult,
  Device,
  ExecuteOptions,
  FencedExecuteOptions,
  FencedResult,
  PreparedModel,
  PrepareOptions,
  PrepareResult,
  ReusableExecution,
  ReusableResult,
  SharedMemorySource,
  StopSignal,
  SupportedOperations,
} from "./device.ts";
export {
  DeviceStatus,
  DeviceType,
  deviceStatuses,
  deviceStatusNames,
  deviceTypeNames,
  deviceTypes,
  ErrorStatus,
  ExecutionPreference,
  errorStatuses,
  errorStatusNames,
  executionPreferences,
  FusedActivationFunc,
  fusedActivationFuncs,
  MeasureTiming,
  measureTimings,
  OperandLifeTime,
  operandLifeTimeNames,
  operandLifeTimes,
  Priority,
  priorities,
} from "./enums.ts";
export type { ExecutionInfo, FenceState, IFencedExecutionCallback, SyncFence } from "./fence.ts";
export type { Hints, TokenValuePair } from "./hints.ts";
export type {
  BufferHandle,
  FileDescriptorHandle,
  HardwareBufferDescription,
  HardwareBufferHandle,
  Memory,
  MemoryHandle,
  MemoryName,
  RequestMemoryPool,
} from "./memory.ts";
export type {
  DataLocation,
  ExtensionNameAndPrefix,
  Model,
  Operand,
  OperandExtraParams,
  Operation,
  Subgraph,
  SymmPerChannelQuantParams,
} from "./model.ts";
export {
  OperandType,
  type OperandTypeName,
  OperandTypeRange,
  type OperandTypeRow,
  operandTypeNames,
  operandTypes,
} from "./operand-type.ts";
export {
  OperationType,
  type OperationTypeName,
  OperationTypeRange,
  operationTypeNames,
  operationTypes,
} from "./operation-type.ts";
export type { Awaitable, ExecutionResult, Outcome } from "./outcome.ts";
export type { OutputShape, Request, RequestArgument, Timing } from "./request.ts";
export { type CodesOf, type EnumRow, type EnumTable, namesOf, type TableAt } from "./table.ts";
export type { OptionalTimeoutDuration, OptionalTimePoint } from "./time.ts";
export * as V1_0 from "./v1-0.ts";
export * as V1_1 from "./v1-1.ts";
export * as V1_2 from "./v1-2.ts";
export * as V1_3 from "./v1-3.ts";
export {
  type AidlVersion,
  aidlVersions,
  canonicalHalVersion,
  featureLevels,
  type HalVersion,
  type HidlVersion,
  halVersions,
  hidlVersions,
  isAidl,
  newestHalVersion,
} from "./version.ts";
