/** Mends the built declarations in the folder `dist` of the package at hand. */
import { readFileSync, writeFileSync } from "node:fs";
import { withNamespaceConstants } from "./namespace-declarations.ts";

const file = "dist/index.d.ts";
writeFileSync(file, withNamespaceConstants(readFileSync(file, "utf8")));
