import { library } from "../../tsup.base.ts";

export default library({
  "burst/index": "src/burst/index.ts",
  "device/index": "src/device/index.ts",
  "fence/index": "src/fence/index.ts",
  "memory/index": "src/memory/index.ts",
  "partition/index": "src/partition/index.ts",
  "versions/index": "src/versions/index.ts",
});
