import { library } from "../../tsup.base.ts";

// The field "imports" of package.json names what starts a thread, which names the file of the thread.
const entry = {
  index: "src/index.ts",
  "start-browser": "src/start-browser.ts",
  "start-node": "src/start-node.ts",
  thread: "src/thread.ts",
};

export default library(entry, { external: [/^#/] });
