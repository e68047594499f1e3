/**
 * Checks create-nnhal as its users have it: from its tarball it writes packages into empty folders. Once npm has installed our tarballs
 * and their tools for them, they build, type-check, pass the conformance kit, and the examples of their READMEs run.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandResult, inOrder, runCommand } from "./process.ts";

/** Arguments of create-nnhal for each scaffold. The first is also the folder in the project. */
const scaffolds = [
  ["backend", "nnhal-backend-scaffolded"],
  ["extension", "nnhal-extension-scaffolded"],
] as const;

/** The folders of the packages in the project, which npm takes as workspaces. */
export const scaffoldedFolders = scaffolds.map(([kind]) => kind);

/**
 * All tests, but of the kit only the suites of the device and of its prepared models, on the device as it is: what is proven here is that the
 * packed kit works in a package of its author. The guide's backend passes the whole kit in the tests, and `npm run release-trial` runs all
 * of it on the scaffolds.
 */
const tests = "--testNamePattern=^(?!.*(through.HAL|conformance:.(memory|caching|burst|fenced|qos)))";

/** Writes the packages into a project, with the create-nnhal of a tarball that is unpacked into `folder`. */
export function writeScaffolds(root: string, tarball: string, folder: string, project: string): Promise<CommandResult> {
  const unpacked = join(folder, "create-nnhal");
  mkdirSync(unpacked);
  return inOrder([
    () => runCommand(root, "tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]),
    ...scaffolds.map(
      ([kind, name]) =>
        () =>
          runCommand(root, process.execPath, [join(unpacked, "dist/main.js"), kind, name, "-d", kind], project),
    ),
  ]);
}

/** Uses the packages as their authors do, all at once. */
export async function checkScaffolds(root: string, project: string): Promise<CommandResult> {
  const results = await Promise.all(
    scaffoldedFolders.map((kind) => {
      const folder = join(project, kind);
      const npm = (...args: string[]) =>
        nameFailure(`${kind}: npm ${args.join(" ")}`, runCommand(root, "npm", args, folder));
      return inOrder([
        () => npm("run", "build"),
        () => npm("run", "types"),
        () => npm("test", "--", tests),
        () => nameFailure(`${kind}: the example of README.md`, runExample(root, folder)),
      ]);
    }),
  );
  const failed = results.filter(({ ok }) => !ok);
  return { ok: failed.length === 0, output: failed.map(({ output }) => output).join("\n") };
}

/** Puts the name of the action before the output of a failure. */
async function nameFailure(what: string, running: Promise<CommandResult>): Promise<CommandResult> {
  const { ok, output } = await running;
  return { ok, output: `${what}\n${output}` };
}

/** Runs the example of a README. The comment on its last line is the expected output. */
async function runExample(root: string, folder: string): Promise<CommandResult> {
  const { code, expected } = exampleOf(readFileSync(join(folder, "README.md"), "utf8"));
  writeFileSync(join(folder, "example.mjs"), code);
  const { ok, output } = await runCommand(root, process.execPath, ["example.mjs"], folder);
  if (ok && output.trim() === expected) return { ok, output };
  return { ok: false, output: `prints\n${output}\nand its last line says that it prints\n${expected}` };
}

/** Returns the JavaScript example of a scaffolded README, and its expected output. Throws an Error if there is none. */
export function exampleOf(readme: string): { readonly code: string; readonly expected: string } {
  const [, code, expected] = /^```js\n([\s\S]*? \/\/ (.*)\n)```$/m.exec(readme) ?? [];
  if (code === undefined || expected === undefined)
    throw new Error("the README has no example that says what it prints");
  return { code, expected };
}
