import { library, withoutWhiteSpace } from "../../tsup.base.ts";

// The package's field "imports" selects the module that maps files, by the platform.
const entry = {
  "burst/index": "src/burst/index.ts",
  "device/index": "src/device/index.ts",
  "fence/index": "src/fence/index.ts",
  "guard/index": "src/guard/index.ts",
  "memory/index": "src/memory/index.ts",
  "cache/file-outcomes": "src/cache/file-outcomes.ts",
  "cache/file-outcomes.browser": "src/cache/file-outcomes.browser.ts",
  "partition/index": "src/partition/index.ts",
  "versions/index": "src/versions/index.ts",
  "file-mapping": "src/memory/file-mapping.ts",
  "file-mapping-browser": "src/memory/file-mapping.browser.ts",
};

export default library(entry, { external: [/^#/], esbuildOptions: withoutWhiteSpace });
