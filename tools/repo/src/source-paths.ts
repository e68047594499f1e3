/**
 * Finds what bundlers would trip over in builds: sources that are named, which users do not have, and comments for bundlers that are lost, as a build
 * without white space loses them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readCode, type WorkspacePackage } from "./workspace.ts";

/** The relative paths in strings of a script that lead to sources: `./worker.ts`, `../src/main.js`. */
export function sourcePathsIn(script: string): string[] {
  const strings = [...script.matchAll(/(["'`])(\.{1,2}\/[\w./-]+)\1/g)].map(([, , path = ""]) => path);
  return strings.filter((path) => /\.[mc]?tsx?$/.test(path) || path.split("/").includes("src"));
}

/** Comments that tell a bundler to leave an import as it is. */
const bundlerComment = /\/\* (webpackIgnore: true|turbopackIgnore: true|@vite-ignore) \*\//g;

/** Comments for bundlers in the sources of a package that none of its built scripts has. */
function lostComments(root: string, folder: string, built: readonly string[]): string[] {
  const sources = readCode(root, join(root, folder, "src")).filter(({ path }) => !path.includes(".test"));
  const wanted = new Set(sources.flatMap(({ text }) => text.match(bundlerComment) ?? []));
  return [...wanted].filter((comment) => !built.some((script) => script.includes(comment)));
}

/** A line for each source that a file of a build names, and for each comment for bundlers that a build lacks. */
export function checkBuiltFiles(root: string, packages: readonly Pick<WorkspacePackage, "folder">[]): string[] {
  return packages.flatMap(({ folder }) => {
    const dist = join(root, folder, "dist");
    const names = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) => /\.[mc]?js$/.test(name));
    const scripts = names.map((name) => ({ name, text: readFileSync(join(dist, name), "utf8") }));
    const lost = lostComments(
      root,
      folder,
      scripts.map(({ text }) => text),
    );
    return [
      ...scripts.flatMap(({ name, text }) => sourcePathsIn(text).map((path) => `${folder}/dist/${name} names ${path}`)),
      ...lost.map((comment) => `${folder}/dist has no ${comment}, which is in its sources`),
    ];
  });
}
