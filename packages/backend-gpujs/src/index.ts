/**
 * @nnhal/backend-gpujs: computes with gpu.js, in the best of its modes that works.
 */
export { backend, type GpujsBackendOptions, gpujsBackend } from "./gpujs-backend.ts";
export type { ModeName } from "./machine/machine.ts";
