import { library, withoutWhiteSpace } from "../../tsup.base.ts";

export default library(
  { index: "src/index.ts", noise: "src/noise.ts", text: "src/text.ts" },
  { esbuildOptions: withoutWhiteSpace },
);
