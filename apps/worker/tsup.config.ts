import { command } from "../../tsup.base.ts";

export default command({ main: "src/main.ts", installed: "src/installed.ts" }, { external: [/^#/] });
