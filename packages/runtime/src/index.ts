/**
 * @nnhal/runtime: the NNAPI programming model: build a Model, compile it for devices, execute it.
 */
export { Compilation, type CompilationOptions } from "./compilation.ts";
export { defaultLoopTimeout, Execution, maximumLoopTimeout } from "./execution.ts";
export { MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES, Model, type OperandDescription } from "./model.ts";
export { convertErrorStatusToResultCode, NeuralNetworksError, ResultCode } from "./result-code.ts";
export type { OperandValue } from "./value.ts";
