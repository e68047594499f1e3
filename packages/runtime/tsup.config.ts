import { library, withoutWhiteSpace } from "../../tsup.base.ts";

// Drawing a model depends on the platform: the field "imports" of package.json selects the module.
const entry = {
  index: "src/index.ts",
  "log-graph": "src/log-graph.ts",
  "log-graph-browser": "src/log-graph.browser.ts",
};

export default library(entry, { external: [/^#/], esbuildOptions: withoutWhiteSpace });
