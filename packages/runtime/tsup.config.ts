import { library } from "../../tsup.base.ts";

// How a model is drawn depends on where the package runs: the field "imports" of its package.json says so.
const entry = {
  index: "src/index.ts",
  "log-graph": "src/log-graph.ts",
  "log-graph-browser": "src/log-graph.browser.ts",
};

export default library(entry, { external: [/^#/] });
