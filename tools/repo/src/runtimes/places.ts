/** Makes the places in which nnhal is tried: projects into which it is installed by name, from a registry on loopback. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { inOrder, runCommand } from "../process.ts";
import type { Registry } from "../registry.ts";
import { bundleForNode, putFiles, scripts } from "../server-bundles.ts";
import { workspaceRoot } from "../workspace.ts";
import type { Command, Place } from "./place.ts";

/** The packages that a project of an application, a driver and a server installs. */
const packages = ["nnhal", "@nnhal/service", "@nnhal/sample-driver", "@nnhal/server"] as const;

/** The packages that a serverless function installs. The default engine comes with them. */
const functionPackages = ["nnhal"] as const;

/** Maximum bytes of a function's zip: the limit of the largest providers for direct uploads. */
const zipLimit = 50_000_000;

/** npm runs no scripts of packages, as npm 12 by default. */
export const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];

/** Where places are made, and from what. */
export interface Workshop {
  readonly root: string;
  /** An empty folder for everything. */
  readonly folder: string;
  readonly registry: Registry;
}

/** A version of Node.js, or another runtime. */
export interface Runtime {
  readonly name: string;
  readonly file: string;
  /** Arguments before a script. */
  readonly args: readonly string[];
  /** Arguments before a command of a package. */
  readonly commandArgs: readonly string[];
}

/** The runtimes, as packages of npm with a binary for this machine. */
export const runtimePackages: readonly {
  readonly name: string;
  readonly spec: string;
  readonly binary: RegExp;
  readonly args?: readonly string[];
  readonly commandArgs?: readonly string[];
}[] = [
  ...["20", "22", "24", "latest"].map((version) => ({
    name: version === "latest" ? "the newest Node.js" : `Node.js ${version}`,
    spec: `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}@${version}`,
    binary: /\/bin\/node(\.exe)?$/,
  })),
  {
    name: "Deno",
    spec: "deno@latest",
    binary: /\/@deno\/[^/]+\/deno(\.exe)?$/,
    args: ["run", "--no-prompt", "--allow-read"],
    commandArgs: ["run", "--no-prompt", "--allow-all"],
  },
  { name: "Bun", spec: "bun@latest", binary: /\/@oven\/[^/]+\/bin\/bun(\.exe)?$/ },
];

/** Installs a runtime. Throws an Error with the reason if there is none for this machine. */
export async function installRuntime(
  { root, folder, registry }: Workshop,
  { name, spec, binary, args = [], commandArgs = args }: (typeof runtimePackages)[number],
): Promise<Runtime> {
  const at = emptyProject(join(folder, spec.replaceAll(/\W/g, "-")), {});
  const { ok, output } = await runCommand(root, "npm", ["install", ...quiet, spec], at, registry.env);
  if (!ok) throw new Error(`npm install ${spec}: ${output.trim()}`);
  const modules = join(at, "node_modules");
  const names = readdirSync(modules, { recursive: true, encoding: "utf8" }).map(
    (each) => `/${each.replaceAll("\\", "/")}`,
  );
  const found = names.find((each) => binary.test(each) && statSync(join(modules, each)).size > 1e6);
  if (found === undefined) throw new Error(`${spec} has no binary for ${process.platform}-${process.arch}`);
  const file = join(modules, found);
  const { output: version } = await runCommand(root, file, ["--version"], at);
  const number = /\d+\.\d+\.\d+/.exec(version)?.[0] ?? "?";
  return { name: `${name.replace(/ \d+$/, "")} ${number}`, file, args, commandArgs };
}

/** The project that npm makes: every runtime is tried in it. Throws an Error with what npm printed if it fails. */
export async function npmProject(workshop: Workshop): Promise<string> {
  const { root, folder, registry } = workshop;
  const at = emptyProject(join(folder, "npm"), { dependencies: dependenciesOn(packages) });
  await expectDone(runCommand(root, "npm", ["install", ...quiet], at, registry.env));
  return at;
}

/** A runtime in the project of npm. */
export function runtimePlace(project: string, { name, file, args, commandArgs }: Runtime): Place {
  return {
    name,
    folder: project,
    env: onPath(file),
    // A program that connects to other processes needs more permissions than to read files.
    script: (script, ...more) => [file, ...(more.length > 0 ? commandArgs : args), script, ...more],
    command: (command, ...more) => [file, ...commandArgs, binOf(project, command), ...more],
  };
}

/** The strict layout of pnpm: a package sees only its declared dependencies. */
export async function pnpmPlace({ root, folder, registry }: Workshop, node: Runtime): Promise<Place> {
  const at = emptyProject(join(folder, "pnpm"), { dependencies: dependenciesOn(packages) });
  writeFileSync(join(at, "pnpm-workspace.yaml"), "nodeLinker: isolated\nhoist: false\n");
  const args = ["install", "--ignore-scripts", "--no-frozen-lockfile", "--prefer-offline"];
  await expectDone(runCommand(root, "pnpm", args, at, registry.env));
  return {
    name: "pnpm, isolated, nothing hoisted",
    folder: at,
    env: onPath(node.file),
    script: (script, ...more) => [node.file, script, ...more],
    command: (command, ...more) => [join(at, "node_modules/.bin", command), ...more],
  };
}

/** Plug'n'Play of yarn: there is no node_modules, and packages stay zipped. */
export async function yarnPlace({ root, folder, registry }: Workshop, node: Runtime): Promise<Place> {
  const tool = emptyProject(join(folder, "yarn-tool"), {});
  await expectDone(runCommand(root, "npm", ["install", ...quiet, "@yarnpkg/cli-dist@4"], tool, registry.env));
  const yarn = join(tool, "node_modules/@yarnpkg/cli-dist/bin/yarn.js");
  const at = emptyProject(join(folder, "yarn"), { dependencies: dependenciesOn(packages) });
  writeFileSync(join(at, "yarn.lock"), "");
  const settings = {
    nodeLinker: "pnp",
    pnpMode: "strict",
    enableScripts: false,
    enableTelemetry: false,
    enableGlobalCache: false,
    // yarn's cache of a registry contains its port.
    globalFolder: join(folder, "yarn-global"),
    enableImmutableInstalls: false,
    npmRegistryServer: registry.url.replace(/\/$/, ""),
    unsafeHttpWhitelist: ["127.0.0.1"],
    // The packages of this project were published a moment ago.
    npmMinimalAgeGate: 0,
  };
  writeFileSync(join(at, ".yarnrc.yml"), JSON.stringify(settings));
  await expectDone(runCommand(root, node.file, [yarn, "install"], at, onPath(node.file)));
  const run = (...args: string[]): Command => [node.file, yarn, ...args];
  return {
    name: "yarn, Plug'n'Play, strict",
    folder: at,
    env: onPath(node.file),
    script: (script, ...more) => run("node", script, ...more),
    command: (command, ...more) => run("run", command, ...more),
  };
}

/** Bundles of one file, in a folder without packages; the worker has a separate one. Services are those of the npm project. */
export async function bundlePlace({ folder }: Workshop, project: string, node: Runtime): Promise<Place> {
  const at = emptyProject(join(folder, "bundle"), {});
  const names = ["lines", "worker", "client", "request"];
  await bundleForNode(Object.fromEntries(names.map((name) => [name, join(project, `${name}.mjs`)])), at, project);
  return {
    name: "bundle of one file (esbuild)",
    folder: at,
    env: onPath(node.file),
    script: (script, ...more) => [node.file, script.replace(/\.mjs$/, ".js"), ...more],
    command: (command, ...more) => [node.file, binOf(project, command), ...more],
    impossible: { "command line": "it is a program of its own: it is installed, not bundled" },
  };
}

/** A serverless function: its packages as a zip, unpacked where it runs. Throws an Error if the zip is too large. */
export async function functionPlace({ root, folder, registry }: Workshop, node: Runtime): Promise<Place> {
  const at = emptyProject(join(folder, "function"), { dependencies: dependenciesOn(functionPackages) });
  const install = ["install", ...quiet, "--omit=dev"];
  await expectDone(runCommand(root, "npm", install, at, registry.env));
  const zip = join(folder, "function.zip");
  const unpacked = join(folder, "unpacked");
  mkdirSync(unpacked);
  await expectDone(
    inOrder([
      () => runCommand(root, "zip", ["-q", "-r", "-y", zip, "."], at),
      () => runCommand(root, "unzip", ["-q", zip, "-d", unpacked], folder),
    ]),
  );
  const { size } = statSync(zip);
  if (size > zipLimit) throw new Error(`the zip has ${size} bytes, of which ${zipLimit} are allowed`);
  const none = "a function has no services; they are other machines to it";
  return {
    name: `zip for a serverless function: ${(size / 1e6).toFixed(1)} MB, with the default engine`,
    folder: unpacked,
    env: onPath(node.file),
    script: (script, ...more) => [node.file, script, ...more],
    command: (command, ...more) => [node.file, binOf(unpacked, command), ...more],
    impossible: { daemon: none, server: none },
  };
}

/** Returns dependencies on the latest version of each package, as a user gets them who names the packages. */
export function dependenciesOn(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, "latest"]));
}

/** A folder with a package.json, and the files of the trial. */
export function emptyProject(at: string, manifest: object): string {
  mkdirSync(at);
  cpSync(scripts, at, { recursive: true });
  putFiles(workspaceRoot, at);
  writeFileSync(join(at, "package.json"), JSON.stringify({ private: true, type: "module", ...manifest }));
  return at;
}

/** The file of a command, as the package.json of the package names it that has it. */
export function binOf(project: string, command: string): string {
  for (const name of packages) {
    const folder = join(project, "node_modules", name);
    if (!existsSync(folder)) continue;
    const { bin = {} }: { readonly bin?: Readonly<Record<string, string>> } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    if (bin[command] !== undefined) return join(folder, bin[command]);
  }
  throw new Error(`no package in ${project} has the command ${command}`);
}

/** Programs that look for `node` find this one. */
export function onPath(file: string): Readonly<Record<string, string>> {
  return { PATH: [dirname(file), process.env.PATH ?? ""].join(delimiter) };
}

export async function expectDone(running: Promise<{ readonly ok: boolean; readonly output: string }>): Promise<void> {
  const { ok, output } = await running;
  if (!ok) throw new Error(output.trim());
}
