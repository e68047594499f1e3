/**
 * Checks `nnhal` as its README promises it: npm installs its tarball, with its dependencies, into an empty folder, where the
 * three lines run as an ES module, as CommonJS and as TypeScript in both ways of finding modules, and the command line starts
 * with `npx nnhal run`. The examples of documents run there as well. The installed packages must be small.
 */
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPasted } from "./pasted.ts";
import { type CommandResult, inOrder, runCommand } from "./process.ts";
import type { WorkspacePackage } from "./workspace.ts";

const body = `const model = await load("digits.tflite");
const { scores } = await model.run({ input: await picture("digit.png") });
console.log(JSON.stringify(top(scores, 5)));
`;

/** The demo's picture shows a 3. */
const expected = '[{"index":3,';

/** Bytes that `nnhal` may take with all that it needs. Engines and the conformance kit are added by those who want them. */
export const installLimit = 5_500_000;

const strict = {
  target: "es2022",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  // The declarations of `nnhal` are right for users who check installed declarations.
  skipLibCheck: false,
};

/** The files of the project. */
export function projectFiles(root: string): Readonly<Record<string, string>> {
  const node = { types: ["node"], typeRoots: [join(root, "node_modules", "@types")], lib: ["es2023"] };
  const config = (compilerOptions: object, file: string) => JSON.stringify({ compilerOptions, files: [file] });
  // The common case needs no cast.
  const typed = "const data: Float32Array = scores.data;\nconsole.log(data.length);\n";
  const typescript = `import { load, picture, top } from "nnhal";\n${body}`;
  return {
    "package.json": `${JSON.stringify({ name: "application", private: true })}\n`,
    "lines.mjs": typescript,
    "lines.cjs": `const { load, picture, top } = require("nnhal");\n(async () => {\n${body}})();\n`,
    "node16.mts": typescript + typed,
    "node16.json": config({ ...strict, ...node, module: "node16", outDir: "out" }, "node16.mts"),
    "bundler.mts": typescript + typed,
    "bundler.json": config(
      { ...strict, module: "esnext", moduleResolution: "bundler", lib: ["es2023", "dom"], types: [], outDir: "out" },
      "bundler.mts",
    ),
  };
}

/** Installs and runs the three lines. `tarballs`: of all packages. */
export async function checkThreeLines(
  root: string,
  tarballs: ReadonlyMap<WorkspacePackage, string>,
  folder: string,
  installOptions: readonly string[],
): Promise<CommandResult> {
  const project = join(folder, "three-lines");
  mkdirSync(project);
  for (const [name, text] of Object.entries(projectFiles(root))) writeFileSync(join(project, name), text);
  const demo = join(root, "apps/cli/demo");
  copyFileSync(join(demo, "digits-uint8.tflite"), join(project, "digits.tflite"));
  copyFileSync(join(demo, "3-chalk.png"), join(project, "digit.png"));
  const answers = (args: readonly string[]) => async (): Promise<CommandResult> => {
    const { ok, output } = await runCommand(root, process.execPath, args, project);
    const isRight = ok && output.includes(expected);
    return { ok: isRight, output: isRight ? output : `${args.join(" ")} did not see the 3:\n${output}` };
  };
  const types = (config: string) => () => runCommand(root, "tsc", ["-p", config], project);
  const needed = findNeeded("nnhal", [...tarballs.keys()]);
  const files = [...tarballs].filter(([one]) => needed.has(one)).map(([, file]) => file);
  const command = join(project, "node_modules", ".bin", "nnhal");
  return inOrder([
    () => runCommand(root, "npm", ["install", ...installOptions, ...files], project),
    answers(["lines.mjs"]),
    answers(["lines.cjs"]),
    types("node16.json"),
    answers(["out/node16.mjs"]),
    types("bundler.json"),
    answers(["out/bundler.mjs"]),
    async () => {
      const args = ["run", "digits.tflite", "--input", "digit.png", "--json"];
      const { ok, output } = await runCommand(root, command, args, project);
      const isRight = ok && output.includes('"top":[{"index":3,');
      return { ok: isRight, output: isRight ? "" : `nnhal ${args.join(" ")}:\n${output}` };
    },
    async () => {
      const { ok, output } = await runCommand(root, command, ["conformance", "--device", "reference"], project);
      const says = /needs the package @nnhal\/conformance: it is not installed; npm install @nnhal\/conformance$/m;
      return { ok: !ok && says.test(output), output };
    },
    () => checkPasted(root, project),
    async () => checkSize(join(project, "node_modules")),
  ]);
}

/** Checks that a folder of installed packages is small enough; if not, names the large packages. */
export function checkSize(modules: string, limit = installLimit): CommandResult {
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
  );
  const sizes = names.map((name): [string, number] => [name, sizeOf(join(modules, name))]).sort((a, b) => b[1] - a[1]);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const largest = sizes.slice(0, 10).map(([name, size]) => `  ${sizeText(size)} ${name}`);
  const output = [`nnhal takes ${sizeText(total)} when it is installed, of ${sizeText(limit)}:`, ...largest].join("\n");
  return { ok: total <= limit, output };
}

/** Bytes that the build of @nnhal/studio may take: the page, and the program that serves it. */
export const studioLimit = 3_000_000;

/** Checks that a build of @nnhal/studio is small enough. */
export function checkStudioSize(dist: string, limit = studioLimit): CommandResult {
  const size = sizeOf(dist);
  return { ok: size <= limit, output: `@nnhal/studio takes ${sizeText(size)}, of ${sizeText(limit)}` };
}

/** A package and all of this workspace that it depends on. */
export function findNeeded(name: string, packages: readonly WorkspacePackage[]): ReadonlySet<WorkspacePackage> {
  const byName = new Map(packages.map((one) => [one.manifest.name, one]));
  const needed = new Set<WorkspacePackage>();
  const add = (each: string) => {
    const one = byName.get(each);
    if (one === undefined || needed.has(one)) return;
    needed.add(one);
    for (const dependency of Object.keys(one.manifest.dependencies ?? {})) add(dependency);
  };
  add(name);
  return needed;
}

/** Bytes of a file, or of all files in a folder. */
export function sizeOf(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function sizeText(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
