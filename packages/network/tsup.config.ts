import { library } from "../../tsup.base.ts";

// What there is of decoders, files and workers depends on where the package runs: the field "imports" of its package.json says so.
const entry = {
  index: "src/index.ts",
  tensors: "src/tensors.ts",
  "decoders-node": "src/picture/decoders-node.ts",
  "decoders-browser": "src/picture/decoders-browser.ts",
  "platform-node": "src/platform-node.ts",
  "platform-browser": "src/platform-browser.ts",
  "worker-node": "src/worker-node.ts",
  "worker-browser": "src/worker-browser.ts",
};

// The decoder of WebP finds its WebAssembly beside itself.
const decoder = { webp_dec: "node_modules/@jsquash/webp/codec/dec/webp_dec.wasm" };

export default library(entry, { entry: { ...entry, ...decoder }, loader: { ".wasm": "copy" }, external: [/^#/] });
