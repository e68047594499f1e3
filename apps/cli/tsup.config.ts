import { command } from "../../tsup.base.ts";
import manifest from "./package.json" with { type: "json" };

// tsup leaves only dependencies and peers out of a bundle by itself. Engines are found, not bundled.
export default command(
  { main: "src/main.ts", "batch-thread": "src/batch-thread.ts", installed: "src/installed.ts" },
  { external: [/^#/, ...manifest.foundIfInstalled] },
);
