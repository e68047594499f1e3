import { library } from "../../tsup.base.ts";

export default library(
  { index: "src/index.ts", "shared-memory/index": "src/shared-memory/index.ts" },
  // Each install of nnhal has it. Lines stay short enough for the traces of errors to name a place.
  { esbuildOptions: (options) => void Object.assign(options, { minifyWhitespace: true, lineLimit: 200 }) },
);
