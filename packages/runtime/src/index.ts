/**
 * @nnhal/runtime: the NNAPI programming model: build a Model, compile it for devices, execute it.
 */
export { Compilation, type CompilationOptions } from "./compilation.ts";
export { defaultLoopTimeout, Execution, maximumLoopTimeout } from "./execution.ts";
export { MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES, Model, type ModelOptions, type OperandDescription } from "./model.ts";
export type { DivideOptions } from "./plan/divide.ts";
export { type PlanMemory, planMemory } from "./plan/memory.ts";
export type { StepTime } from "./plan/run.ts";
export { convertErrorStatusToResultCode, NeuralNetworksError, ResultCode } from "./result-code.ts";
export { type RuntimeDeviceOptions, runtimeAsDevice } from "./runtime-as-device.ts";
export type { OperandValue } from "./value.ts";
