/**
 * @nnhal/backend-wasm: compiles networks to WebAssembly. It runs in Node.js and in browsers.
 */
export { backend, type WasmBackendOptions, wasmBackend } from "./wasm-backend.ts";
