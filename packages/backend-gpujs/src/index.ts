/**
 * @nnhal/backend-gpujs: computes with gpu.js, in the best of its modes that works here.
 */
export { backend, type GpujsBackendOptions, gpujsBackend } from "./gpujs-backend.ts";
export type { ModeName } from "./machine/machine.ts";
