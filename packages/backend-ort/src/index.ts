/**
 * @nnhal/backend-ort: computes with ONNX Runtime. A subgraph becomes one model of ONNX.
 */
export { backend, type OrtBackendOptions, ortBackend } from "./ort-backend.ts";
