/**
 * Tries the packed packages in every runtime, package manager and bundle that can be had here, and writes the table of docs/measurements-runtimes.md:
 * `npm run runtimes`. Takes minutes and needs the network; not a part of the gate. `--help` lists its options.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { optionsOf } from "./arguments.ts";
import { withTarballs } from "./packed.ts";
import { eachOf, runCommand } from "./process.ts";
import { startRegistry } from "./registry.ts";
import { type Place, programs, type Row, rowOf } from "./runtimes/place.ts";
import {
  bundlePlace,
  functionPlace,
  installRuntime,
  npmProject,
  pnpmPlace,
  type Runtime,
  runtimePackages,
  runtimePlace,
  type Workshop,
  yarnPlace,
} from "./runtimes/places.ts";
import { sitePlace, sites } from "./runtimes/sites.ts";
import { tableOf, withTable } from "./runtimes/table.ts";
import { tryProgram } from "./runtimes/try-program.ts";
import { buildPackages } from "./steps.ts";
import { publicPackages, workspaceRoot as root } from "./workspace.ts";

const options = optionsOf(
  `npm run runtimes -- [--only TEXT,TEXT] [--keep]

Tries the packed packages in every runtime, package manager, bundle and framework that can be had here, and writes the table of
docs/measurements-runtimes.md. Takes many minutes, and needs the network.

  --only TEXT,TEXT  the places whose name has one of the texts; writes nothing
  --keep            leaves the folder in which they are tried`,
  { only: { type: "string" }, keep: { type: "boolean" } },
);
const only = options.only?.split(",");
const folder = mkdtempSync(join(tmpdir(), "nnhal-runtimes-"));

/** Messages of npm and this command for a runtime that does not exist for this machine. Any other reason is a failure. */
const isAbsent = /has no binary|EBADPLATFORM|E404/;

/** A row: every program in a place. `make` throws an Error with the reason if the place cannot be had. */
async function rowFor(name: string, make: () => Promise<Place>): Promise<Row> {
  let place: Place;
  try {
    place = await make();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const kind = isAbsent.test(why) ? "impossible" : "failed";
    console.log(`${name}: ${kind}: ${why}`);
    if (kind === "failed") process.exitCode = 1;
    return rowOf(name, () => ({ kind, why }));
  }
  const outcomes = new Map();
  for (const program of programs) {
    const outcome = await tryProgram(root, place, program);
    outcomes.set(program, outcome);
    const text = outcome.kind === "run" ? `${outcome.seconds.toFixed(1)} s` : `${outcome.kind}: ${outcome.why}`;
    console.log(`${place.name}: ${program}: ${text}`);
    if (outcome.kind === "failed") process.exitCode = 1;
  }
  return rowOf(place.name, (program) => outcomes.get(program));
}

async function tryAll(workshop: Workshop): Promise<readonly Row[]> {
  const project = await npmProject(workshop);
  const rows: Row[] = [];
  const add = async (name: string, make: () => Promise<Place>) => {
    if (only === undefined || only.some((text) => name.includes(text))) rows.push(await rowFor(name, make));
  };
  for (const one of runtimePackages)
    await add(one.name, async () => runtimePlace(project, await installRuntime(workshop, one)));
  // Package managers and bundles are tried under the Node.js of this process.
  const node: Runtime = { name: `Node.js ${process.versions.node}`, file: process.execPath, args: [], commandArgs: [] };
  await add("pnpm, isolated", () => pnpmPlace(workshop, node));
  await add("yarn, Plug'n'Play", () => yarnPlace(workshop, node));
  await add("bundle of one file (esbuild)", () => bundlePlace(workshop, project, node));
  await add("zip for a serverless function", () => functionPlace(workshop, node));
  for (const site of sites)
    await add(`${site.name}: a page is built, and a route answers`, () => sitePlace(workshop, site));
  return rows;
}

/** Publishes the packed packages on a registry on loopback, and tries them. Throws an Error if that is not possible. */
async function main(): Promise<void> {
  const built = await buildPackages(root);
  if (!built.ok) throw new Error(built.output);
  const { ok, output } = await withTarballs(root, publicPackages(root), async (tarballs) => {
    const registry = await startRegistry(root, join(folder, "registry"));
    try {
      await eachOf([...tarballs.values()], async (file) => {
        const args = ["publish", "--provenance=false", "--ignore-scripts", file];
        const published = await runCommand(root, "npm", args, folder, registry.env);
        if (!published.ok) throw new Error(`npm publish ${file}: ${published.output}`);
      });
      const rows = await tryAll({ root, folder, registry });
      const { output: commit } = await runCommand(root, "git", ["rev-parse", "--short", "HEAD"]);
      const versions = `Commit ${commit.trim()}, ${platform()}-${arch()}, ${new Date().toISOString().slice(0, 10)}; package managers and bundles under Node.js ${process.versions.node}, sites of frameworks under Node.js 24.`;
      const table = tableOf(rows, versions);
      console.log(`\n${table}`);
      const document = join(root, "docs/measurements-runtimes.md");
      if (only === undefined) writeFileSync(document, withTable(readFileSync(document, "utf8"), table));
    } finally {
      await registry.close();
    }
    return { ok: true, output: "" };
  });
  if (!ok) throw new Error(output);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  if (options.keep) console.log(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
