/**
 * @nnhal/backend: the contract between a driver and the engine that computes for it, and the executor for engines that are a table of
 * kernels. The self-check of engines is in `@nnhal/backend/proof`, 8-bit arithmetic in float32 in `@nnhal/backend/float32`.
 */
// Backends read and write the bytes of requests.
export { byteLength, decodeTensorData, encodeTensorData } from "@nnhal/operations";
export {
  capabilitiesOf,
  type PowerBasis,
  powerBasisOf,
  type RelativeFigures,
  type RelativeTimes,
} from "./capabilities.ts";
export type {
  Backend,
  BackendBuffer,
  BackendSession,
  BufferInfo,
  CacheBlobs,
  CompileOptions,
  Executable,
  Hint,
  InputBuffer,
  OpenOptions,
  OutputBuffer,
  RunContext,
  RunResult,
  RunSection,
  Support,
  Unavailable,
} from "./contract.ts";
export {
  type GraphSource,
  type GraphView,
  type OperandView,
  type OperationView,
  type SubgraphView,
  type UnknownOperation,
  viewModel,
  viewReferenced,
  viewSubgraph,
} from "./graph.ts";
export { checkInput, inputInfo } from "./input.ts";
export type { BoundOperation } from "./kernels/chain.ts";
export {
  type ExtensionKernels,
  type ExtensionKernelTable,
  extensionKernels,
  type Following,
  type Kernel,
  type KernelEngine,
  type KernelFor,
  type KernelOf,
  type KernelOfDefinition,
  type KernelOutcome,
  type KernelRun,
  type KernelSetup,
  type KernelTable,
  type KernelTensor,
  kernelsByName,
  type ReadTensor,
} from "./kernels/kernel.ts";
export { type KernelBackendOptions, kernelBackend } from "./kernels/kernel-backend.ts";
export { shortage } from "./kernels/output-buffers.ts";
export { bindArgumentsOf, isOmitted, withFacts } from "./kernels/plan.ts";
export { checkOf } from "./kernels/run.ts";
export { awaitValue, type Check, type Pause, type Steps } from "./kernels/steps.ts";
export { optionalTensor, requiredTensor, type TensorArgs } from "./kernels/tensor-args.ts";
export { type BackendPart, partialBackend } from "./partial-backend.ts";
export type { FormChoice, FormFailures, OutcomeStore } from "./self-check.ts";
export { failedRun, StatusError } from "./status-error.ts";
export { addVariant, hasExtents, staticExtents } from "./variants.ts";
