import { library } from "../../tsup.base.ts";

// Node.js cannot load the ES modules of flatbuffers, since its package.json does not say that they are; bundled, they are smaller.
export default library(undefined, {
  esbuildOptions(options) {
    options.alias = { "flatbuffers/js": "flatbuffers/mjs" };
  },
});
