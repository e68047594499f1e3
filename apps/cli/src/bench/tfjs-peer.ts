/**
 * The peer TensorFlow.js on WebAssembly: the network as a graph of fused operations, written in tfjs directly.
 */
import { readTflite } from "@nnhal/tflite";
import { version_wasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { CannotRun, type Contestant, type Task } from "./contestant.ts";
import { tfjsNetwork } from "./tfjs-network.ts";

/** Opens the peer. */
export async function openTfjs({ bytes, inputs }: Task): Promise<Contestant> {
  if (!(await tf.setBackend("wasm"))) throw new Error("tfjs cannot start its WebAssembly engine");
  return {
    version: `tfjs wasm ${version_wasm}`,
    settings: [
      "WebAssembly with SIMD; this engine has no threads in Node.js",
      "bias and activation fused into convolutions, weights laid out once, tensors freed after their last use",
    ],
    threads: 1,
    async prepare() {
      const model = readTflite(bytes);
      const network = tfjsNetwork(model);
      if (model.subgraphs[0]?.inputs.length !== inputs.length) {
        throw new CannotRun("the graph in tfjs has no state between executions");
      }
      let results: readonly tf.TypedArray[] = [];
      return {
        keeps: false,
        run() {
          results = network(inputs);
        },
        outputs: () =>
          results.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
        close: () => tf.disposeVariables(),
      };
    },
  };
}
