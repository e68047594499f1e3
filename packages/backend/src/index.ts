/**
 * @nnhal/backend: the contract between a driver and the engine that computes for it.
 */
// Backends read and write bytes of pools.
export { byteLength, decodeTensorData, encodeTensorData } from "@nnhal/operations";
export {
  capabilitiesOf,
  type PowerBasis,
  powerBasisOf,
  type RelativeFigures,
  type RelativeTimes,
} from "./capabilities.ts";
export * from "./contract.ts";
export * from "./graph.ts";
export * from "./input.ts";
export * from "./kernels/kernel.ts";
export * from "./kernels/kernel-backend.ts";
export * from "./settle.ts";
export { StatusError } from "./status-error.ts";
