/** The command line: reads arguments, asks for them if there are none and the input is a terminal, writes the package, prints the next steps. */
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ownWords, problemOfExtensionName, problemOfPackageName, withoutScope } from "./names.ts";
import { type Kind, kinds, ownVersion, problemOfFolder, scaffold } from "./scaffold.ts";
import { adviceFor, workspaceAround } from "./workspace.ts";

/** The process around the command line. */
export interface Surroundings {
  readonly cwd: string;
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
  /** Prints a line about a problem. */
  readonly complain: (line: string) => void;
  /** Asks the user; absent if the input is not a terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
}

/** Exit codes: 0 done, 1 the package cannot be written, 2 the command line is wrong. */
export type ExitCode = 0 | 1 | 2;

const help = `Writes a package for nnhal, ready to build, test and publish.

  npm create nnhal@latest -- backend NAME
  npm create nnhal@latest -- extension NAME

  backend                    an engine that computes operations of the HAL
  extension                  operand types and operations of your own, and an engine that computes them
  NAME                       of the package, such as nnhal-backend-npu or @acme/nnhal-backend-npu

Options:
  -d, --directory DIR        the folder to write it to; by default NAME without its scope. It must be absent or empty.
  -e, --extension-name NAME  of the extension, such as com.acme.npu; by default com.example and the words of the package's name
  -h, --help                 print this
  -v, --version              print the version`;

const options = {
  directory: { type: "string", short: "d" },
  "extension-name": { type: "string", short: "e" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** The command line is wrong. The message is one line. */
class UsageError extends Error {}

/** Runs the command line. The outcome is text and an exit code; it does not reject for an Error. */
export async function runProgram(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { cwd, print, complain } = surroundings;
  try {
    const { values, positionals } = parse(args);
    if (values.help) return finish(print, help);
    if (values.version) return finish(print, ownVersion());
    const [kind, name] = await choose(positionals, surroundings);
    const words = { package: name, nnhal: `^${ownVersion()}`, ...namesWithin(kind, name, values["extension-name"]) };
    const folder = resolve(cwd, values.directory ?? withoutScope(name));
    const problem = problemOfFolder(folder);
    if (problem !== undefined) throw new UsageError(problem);
    const workspace = workspaceAround(folder);
    const files = scaffold(kind, folder, words, workspace === undefined);
    print(`${name}: ${files.length} files in ${folder}`);
    if (workspace !== undefined) print(adviceFor(workspace, folder));
    print(nextSteps(relative(cwd, folder), workspace?.file === "pnpm-workspace.yaml" ? "pnpm" : "npm"));
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    complain(`create-nnhal: ${error.message}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function finish(print: Surroundings["print"], text: string): ExitCode {
  print(text);
  return 0;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // parseArgs throws only for arguments that are not valid. Its messages have hints after the first sentence.
    throw new UsageError(`${error instanceof Error ? error.message.split(". ")[0] : error}; see --help`);
  }
}

/**
 * Returns the kind of package to write, and its name. Asks for both if there are no arguments and the input is a
 * terminal.
 */
async function choose(
  positionals: readonly string[],
  { ask }: Surroundings,
): Promise<readonly [kind: Kind, name: string]> {
  const asked = positionals.length === 0 && ask !== undefined;
  const [kind, name, ...others] = asked
    ? [await ask(`What is it to be (${kinds.join(", ")})? `), await ask("Name of the package? ")]
    : positionals;
  if (kind === undefined) throw new UsageError(`what to write is missing: ${kinds.join(" or ")}; see --help`);
  if (!isKind(kind)) throw new UsageError(`${JSON.stringify(kind)} is not one of: ${kinds.join(", ")}; see --help`);
  if (name === undefined) throw new UsageError(`the name of the package is missing after "${kind}"; see --help`);
  if (others.length > 0) throw new UsageError(`unexpected after the name ${name}: ${others.join(" ")}; see --help`);
  const problem = problemOfPackageName(name);
  if (problem !== undefined) throw new UsageError(problem);
  return [kind, name];
}

/** The names of the device and of the extension. */
function namesWithin(kind: Kind, name: string, given: string | undefined) {
  const words = ownWords(name);
  if (words.length === 0)
    throw new UsageError(
      `${JSON.stringify(name)} names no device: it needs a word besides nnhal, backend and extension`,
    );
  if (given !== undefined && kind !== "extension") throw new UsageError(`a ${kind} has no --extension-name`);
  const extension = given ?? `com.example.${words.join("_")}`;
  const problem = problemOfExtensionName(extension);
  if (problem !== undefined) throw new UsageError(problem);
  return { device: words.join(""), extension };
}

function isKind(text: string): text is Kind {
  return kinds.some((kind) => kind === text);
}

function nextSteps(folder: string, manager: "npm" | "pnpm"): string {
  const commands = [`${manager} install`, `${manager} run build`, `${manager} run types`, `${manager} test`];
  const all = folder === "" ? commands : [`cd ${folder}`, ...commands];
  return ["", "Next:", ...all.map((command) => `  ${command}`)].join("\n");
}
