import { fileURLToPath } from "node:url";
import { build } from "vite";
import { copyDeclarations, library } from "../../tsup.base.ts";

/** Builds the page, and then what serves it. */
export default async function buildStudio() {
  await build({ configFile: fileURLToPath(new URL("vite.config.ts", import.meta.url)) });
  // The code of others is in the page, and so are its licences.
  const onSuccess = async () => copyDeclarations();
  return library({ server: "src/server.ts" }, { platform: "node", clean: ["!page/**"], onSuccess });
}
