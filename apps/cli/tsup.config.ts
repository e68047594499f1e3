import { command } from "../../tsup.base.ts";

// tsup leaves only dependencies and peers out of a bundle by itself. The others are loaded only where they are installed.
const optional = ["@viz-js/viz", "onnxruntime-node", "@tensorflow/tfjs-core", "@tensorflow/tfjs-backend-wasm"];

export default command({ main: "src/main.ts" }, { external: optional });
