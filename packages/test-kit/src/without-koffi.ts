/** Processes in which the optional package koffi is not installed, as far as they can see. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a module to a folder, for `node --require`, that hides koffi. Returns its path. */
export function koffiHider(folder: string): string {
  const path = join(folder, "hide-koffi.cjs");
  writeFileSync(
    path,
    `const Module = require("node:module");
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => resolve.call(Module, name === "koffi" ? "koffi-is-hidden" : name, ...rest);
`,
  );
  return path;
}
