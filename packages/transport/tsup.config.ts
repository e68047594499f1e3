import { library, withoutWhiteSpace } from "../../tsup.base.ts";

export default library(
  {
    "channel/index": "src/channel/index.ts",
    "client/index": "src/client/index.ts",
    "protocol/index": "src/protocol/index.ts",
    "server/index": "src/server/index.ts",
  },
  { esbuildOptions: withoutWhiteSpace },
);
