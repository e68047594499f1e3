import { library } from "../../tsup.base.ts";

export default library({ index: "src/index.ts", "proof/index": "src/proof/index.ts" });
