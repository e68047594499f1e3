/**
 * Bundles of the sources for the emulated processors: the loader of the launcher needs esbuild, which an emulated processor of
 * another kind does not have.
 */
import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

/** Bundles of one run. */
export interface Bundles {
  /** The program, a path. */
  readonly program: string;
  /** The path of the bundle of each test file, by its path from the root of the checkout. */
  readonly tests: ReadonlyMap<string, string>;
}

/** Bundles the program and test files into `folder`, which is emptied first. */
export async function bundle(root: string, folder: string, tests: readonly string[]): Promise<Bundles> {
  rmSync(folder, { recursive: true, force: true });
  const { packagesFromElsewhere, urlsOfSources } = await launcher();
  const program = "tools/processors/src/inside/main.ts";
  const entries = [program, ...tests];
  await build({
    absWorkingDir: root,
    entryPoints: entries.map((path) => ({ in: path, out: nameOf(path) })),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    conditions: ["@nnhal/source"],
    target: `node${process.versions.node}`,
    platform: "node",
    format: "esm",
    bundle: true,
    splitting: true,
    logLevel: "silent",
    plugins: [standInForVitest, packagesFromElsewhere, urlsOfSources],
  });
  const placeOf = (path: string) => join(folder, `${nameOf(path)}.mjs`);
  return { program: placeOf(program), tests: new Map(tests.map((path) => [path, placeOf(path)])) };
}

function nameOf(path: string): string {
  return path === "tools/processors/src/inside/main.ts" ? "program" : `${path.split("/")[1]}-${basename(path, ".ts")}`;
}

/** The plugins of the launcher. It knows files by their URLs, so it must not become part of a bundle itself. */
async function launcher(): Promise<Record<"packagesFromElsewhere" | "urlsOfSources", Plugin>> {
  return import(new URL("../../launcher/src/program.mjs", import.meta.url).href);
}

const standInForVitest: Plugin = {
  name: "stand-in for vitest",
  setup(build) {
    const path = fileURLToPath(new URL("inside/vitest.ts", import.meta.url));
    build.onResolve({ filter: /^vitest$/ }, () => ({ path }));
  },
};
