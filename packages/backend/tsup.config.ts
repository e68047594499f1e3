import { library, withoutWhiteSpace } from "../../tsup.base.ts";

export default library(
  {
    index: "src/index.ts",
    engines: "src/engines.ts",
    "float32/index": "src/float32/index.ts",
    "proof/index": "src/proof/index.ts",
    "threads/index": "src/threads/index.ts",
  },
  { esbuildOptions: withoutWhiteSpace },
);
