// The one build recipe: every published package is built to ES modules and CommonJS, each with its own declarations.
import { defineConfig, type Options } from "tsup";

/** A library package. `entry` maps each output path inside dist/ (without extension) to its source file. */
export function library(entry: Record<string, string> = { index: "src/index.ts" }, more: Options = {}) {
  return defineConfig({
    entry,
    format: ["esm", "cjs"],
    target: "node20",
    platform: "neutral",
    dts: true,
    sourcemap: true,
    clean: true,
    splitting: true,
    treeshake: false,
    ...more,
  });
}

/** A command: ES modules only, no declarations, since nobody imports it. */
export function command(entry: Record<string, string>, more: Options = {}) {
  return library(entry, { format: ["esm"], platform: "node", dts: false, ...more });
}
