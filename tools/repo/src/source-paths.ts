/** Finds sources that builds name: bundlers look for them, and users do not have them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkspacePackage } from "./workspace.ts";

/** The relative paths in strings of a script that lead to sources: `./worker.ts`, `../src/main.js`. */
export function sourcePathsIn(script: string): string[] {
  const strings = [...script.matchAll(/(["'`])(\.{1,2}\/[\w./-]+)\1/g)].map(([, , path = ""]) => path);
  return strings.filter((path) => /\.[mc]?tsx?$/.test(path) || path.split("/").includes("src"));
}

/** A line for each source that a file of a build names. */
export function checkBuiltFiles(root: string, packages: readonly Pick<WorkspacePackage, "folder">[]): string[] {
  return packages.flatMap(({ folder }) => {
    const dist = join(root, folder, "dist");
    const names = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) => /\.[mc]?js$/.test(name));
    return names.flatMap((name) =>
      sourcePathsIn(readFileSync(join(dist, name), "utf8")).map((path) => `${folder}/dist/${name} names ${path}`),
    );
  });
}
