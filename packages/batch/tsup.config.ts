import { library, withoutWhiteSpace } from "../../tsup.base.ts";
import manifest from "./package.json" with { type: "json" };

export default library(
  { index: "src/index.ts", "queue/index": "src/queue/index.ts" },
  {
    external: [...manifest.foundIfInstalled],
    esbuildOptions: withoutWhiteSpace,
  },
);
