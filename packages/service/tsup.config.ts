import { library, withoutWhiteSpace } from "../../tsup.base.ts";

export default library(
  { index: "src/index.ts", "shared-memory/index": "src/shared-memory/index.ts" },
  { esbuildOptions: withoutWhiteSpace },
);
