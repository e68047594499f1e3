import { library } from "../../tsup.base.ts";

// Which decoders there are depends on where the package runs: the field "imports" of its package.json says so.
export default library(
  {
    index: "src/index.ts",
    tensors: "src/tensors.ts",
    "decoders-node": "src/picture/decoders-node.ts",
    "decoders-browser": "src/picture/decoders-browser.ts",
  },
  { external: [/^#/] },
);
