import { library, withoutWhiteSpace } from "../../tsup.base.ts";

export default library(
  {
    index: "src/index.ts",
    "codec/index": "src/codec/index.ts",
    "graph/index": "src/graph/index.ts",
    "node/index": "src/node/index.ts",
    "time/index": "src/time/index.ts",
  },
  { esbuildOptions: withoutWhiteSpace },
);
