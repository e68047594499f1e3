/**
 * TensorFlow.js in the page's worker, on WebAssembly, without its threads: these start from addresses that the policy of the page forbids.
 */
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import simd from "@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url";
import { env } from "@tensorflow/tfjs-core";

/** Loads the engine as a module that exports it. */
export function loadTfjs(): Promise<typeof import("@nnhal/backend-tfjs")> {
  env().set("WASM_HAS_MULTITHREAD_SUPPORT", false);
  // It wants all three, and loads one. A browser without SIMD gets plain JavaScript.
  setWasmPaths({
    "tfjs-backend-wasm-simd.wasm": simd,
    "tfjs-backend-wasm.wasm": simd,
    "tfjs-backend-wasm-threaded-simd.wasm": simd,
  });
  return import("@nnhal/backend-tfjs");
}
