import { library } from "../../tsup.base.ts";
import manifest from "./package.json" with { type: "json" };

export default library({ index: "src/index.ts" }, { external: [...manifest.foundIfInstalled] });
