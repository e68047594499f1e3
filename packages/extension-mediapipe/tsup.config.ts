import { library, withoutWhiteSpace } from "../../tsup.base.ts";

export default library({ index: "src/index.ts" }, { esbuildOptions: withoutWhiteSpace });
