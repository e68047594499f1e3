/**
 * @nnhal/backend: the contract between a driver and the engine that computes for it.
 */
export * from "./codec.ts";
export * from "./contract.ts";
export * from "./graph.ts";
export * from "./kernels/kernel.ts";
export * from "./kernels/kernel-backend.ts";
export * from "./settle.ts";
