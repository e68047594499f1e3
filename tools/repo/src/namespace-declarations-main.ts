/** Mends the built declarations in the folder `dist` of the package at hand. */
import { readFileSync, writeFileSync } from "node:fs";
import { withNamespaceConstants } from "./namespace-declarations.ts";

for (const file of ["dist/index.d.ts", "dist/index.d.cts"]) {
  writeFileSync(file, withNamespaceConstants(readFileSync(file, "utf8")));
}
