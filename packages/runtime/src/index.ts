/**
 * @nnhal/runtime: the NNAPI programming model: build a Model, compile it for devices, execute it.
 */
export {
  type AllowList,
  type AllowListOptions,
  type Application,
  allowEveryApplication,
  currentApplication,
  defaultAllowListPath,
  parseAllowList,
  readAllowList,
} from "./allow-list.ts";
export { Burst } from "./burst.ts";
export { Compilation, type CompilationOptions } from "./compilation.ts";
export { type ComputedOutput, computeOutputs, type OutputMemory } from "./compute-outputs.ts";
export { MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES } from "./constants.ts";
export { type DeviceRegistry, type RegisteredDevice, type RegisterOptions, registerDevices } from "./devices.ts";
export type { OperandDescription } from "./draft-operand.ts";
export { Event } from "./event.ts";
export { type DurationCode, defaultLoopTimeout, Execution, maximumLoopTimeout } from "./execution.ts";
export type { ArgumentRegion } from "./execution-arguments.ts";
export { addCompilationAttribute, addExecutionAttribute, type ExtensionAttribute } from "./extension-attributes.ts";
export { getRuntimeFeatureLevel } from "./feature-level.ts";
export { FinishedModel, type ModelOptions } from "./finished-model.ts";
export { type GuardedDevice, guardDevice } from "./guard/device.ts";
export { Memory } from "./memory.ts";
export type { MemoryRegion } from "./memory-content.ts";
export { MemoryDesc } from "./memory-desc.ts";
export { Model } from "./model.ts";
export type { DivideOptions } from "./plan/divide.ts";
export { type PlanMemory, planMemory } from "./plan/memory.ts";
export type { StepTime } from "./plan/run-options.ts";
export {
  getPreferredMemoryAlignmentForInput,
  getPreferredMemoryAlignmentForOutput,
  getPreferredMemoryPaddingForInput,
  getPreferredMemoryPaddingForOutput,
} from "./preferred-layout.ts";
export { convertErrorStatusToResultCode, NeuralNetworksError, ResultCode } from "./result-code.ts";
export { type RuntimeDeviceOptions, runtimeAsDevice } from "./runtime-as-device.ts";
export type { OperandValue } from "./value.ts";
