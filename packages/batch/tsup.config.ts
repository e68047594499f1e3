import { library } from "../../tsup.base.ts";
import manifest from "./package.json" with { type: "json" };

export default library(
  { index: "src/index.ts", "queue/index": "src/queue/index.ts" },
  {
    external: [...manifest.foundIfInstalled],
    // Each install of nnhal has it. Lines stay short enough for the traces of errors to name a place.
    esbuildOptions: (options) => void Object.assign(options, { minifyWhitespace: true, lineLimit: 200 }),
  },
);
