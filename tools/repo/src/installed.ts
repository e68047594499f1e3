/**
 * Checks packages as a user gets them: npm installs all tarballs into an empty project, where every entry is loaded with
 * `import` and with `require`, is type-checked both ways, and every command answers, with a commander of another version
 * installed. The packages that create-nnhal writes are workspaces of the project, so that one install serves all. `nnhal` is
 * installed into a second folder, by itself.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entriesOf, loadScript, withTarballs } from "./packed.ts";
import { type CommandResult, eachOf, inOrder, runCommand } from "./process.ts";
import { checkScaffolds, scaffoldedFolders, writeScaffolds } from "./scaffolded.ts";
import { checkThreeLines } from "./three-lines.ts";
import type { WorkspacePackage } from "./workspace.ts";

/** Nothing is asked of the registry that is in npm's cache; what packages would run when they are installed is not run. */
const installOptions = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** Installs every package from its tarball, with those it depends on as tarballs too, and uses it. */
export function checkInstalled(root: string, packages: readonly WorkspacePackage[]): Promise<CommandResult> {
  return withTarballs(root, packages, async (tarballs, folder) => {
    const project = join(folder, "project");
    const scaffolder = [...tarballs].find(([{ manifest }]) => manifest.name === "create-nnhal")?.[1];
    if (scaffolder === undefined) return { ok: false, output: "create-nnhal is not among the packages" };
    mkdirSync(project);
    const commands = packages.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}));
    return inOrder([
      // Before there is a manifest: the folder is empty, not a workspace.
      () => writeScaffolds(root, scaffolder, folder, project),
      async () => {
        for (const [name, text] of Object.entries(projectFiles(root, packages)))
          writeFileSync(join(project, name), text);
        return { ok: true, output: "" };
      },
      () => runCommand(root, "npm", ["install", ...installOptions, ...tarballs.values()], project),
      () => runCommand(root, process.execPath, ["load.mjs"], project),
      () => runCommand(root, "tsc", ["-p", "."], project),
      () => checkCommands(root, project, commands),
      () => checkScaffolds(root, project),
      () => checkThreeLines(root, tarballs, folder, installOptions),
    ]);
  });
}

/** A version of commander that many projects have, since tsup brings it: our packages then have copies of theirs, each its own. */
const foreignCommander = { commander: "4.1.1" };

/** Every command says its version and its help, and refuses a mistake in words, without a stack. */
async function checkCommands(root: string, project: string, commands: readonly string[]): Promise<CommandResult> {
  const problems: string[] = [];
  const asks = commands.flatMap((name) => [["-v"], ["--help"], ["--no-such-option"]].map((args) => ({ name, args })));
  await eachOf(asks, async ({ name, args }) => {
    const { ok, output } = await runCommand(root, join(project, "node_modules", ".bin", name), args, project);
    const problem = problemOfAnswer(args, ok, output);
    if (problem !== undefined) problems.push(`${name} ${args.join(" ")} ${problem}:\n${output}`);
  });
  return { ok: problems.length === 0, output: problems.join("\n") };
}

/** Returns the fault in an answer of a command; undefined if there is none. */
export function problemOfAnswer([asked]: readonly string[], ok: boolean, output: string): string | undefined {
  if (/^ +at /m.test(output)) return "answers with a stack";
  // A command may first ask for an option that it needs.
  if (asked === "--no-such-option") return !ok && /\boption\b/.test(output) ? undefined : "does not refuse it";
  if (!ok) return "fails";
  const expected = asked === "-v" ? /^\d+\.\d+\.\d+\S*$/m : /--version/;
  return expected.test(output) ? undefined : `does not print ${expected}`;
}

/** Enums of HAL versions are values and types in the built declarations too. */
const useOfEnums = `import { V1_0, V1_2, V1_3 } from "@nnhal/types";
export const values: readonly [V1_0.ErrorStatus, V1_2.DeviceType, V1_3.Priority] = [
  V1_0.ErrorStatus.NONE,
  V1_2.DeviceType.CPU,
  V1_3.Priority.LOW,
];
`;

/** Returns the files of the project in addition to the packages. */
export function projectFiles(
  root: string,
  packages: readonly Pick<WorkspacePackage, "manifest">[],
): Readonly<Record<string, string>> {
  const entries = packages.flatMap(({ manifest }) => entriesOf(manifest));
  const named = entries.map((entry, index) => ({ entry, name: `entry${index}` }));
  const all = `export const all: readonly object[] = [${named.map(({ name }) => name).join(", ")}];\n`;
  const lines = (line: (name: string, entry: string) => string) =>
    named.map(({ name, entry }) => `${line(name, entry)}\n`).join("") + all;
  const uses: Readonly<Record<string, string>> = entries.includes("@nnhal/types") ? { "enums.mts": useOfEnums } : {};
  return {
    ...uses,
    "package.json": `${JSON.stringify({ name: "project", private: true, type: "module", workspaces: scaffoldedFolders, dependencies: foreignCommander })}\n`,
    "load.mjs": loadScript(entries),
    "esm.mts": lines((name, entry) => `import * as ${name} from "${entry}";`),
    "cjs.cts": lines((name, entry) => `import ${name} = require("${entry}");`),
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        // In "node16" a CommonJS module cannot import ES modules.
        module: "node20",
        target: "es2022",
        lib: ["es2023"],
        strict: true,
        noEmit: true,
        // Declarations of other packages are not ours to check, and ours are checked where they are made.
        skipLibCheck: true,
        // Declarations may name what Node.js has; a user has these types, and npm need not fetch them for this.
        types: ["node"],
        typeRoots: [join(root, "node_modules", "@types")],
      },
      files: ["esm.mts", "cjs.cts", ...Object.keys(uses)],
    }),
  };
}
