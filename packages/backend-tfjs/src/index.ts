/**
 * @nnhal/backend-tfjs: computes with TensorFlow.js, on the best of its engines that is available.
 */
export type { EngineName } from "./engine.ts";
export { backend, type TfjsBackendOptions, tfjsBackend } from "./tfjs-backend.ts";
