import { library } from "../../tsup.base.ts";

// What there is of decoders, files and workers depends on where the package runs: the field "imports" of its package.json says so.
export default library(
  {
    index: "src/index.ts",
    tensors: "src/tensors.ts",
    "decoders-node": "src/picture/decoders-node.ts",
    "decoders-browser": "src/picture/decoders-browser.ts",
    "platform-node": "src/platform-node.ts",
    "platform-browser": "src/platform-browser.ts",
    "worker-node": "src/worker-node.ts",
    "worker-browser": "src/worker-browser.ts",
  },
  // The CommonJS build has an import.meta.url too.
  { external: [/^#/], shims: true },
);
