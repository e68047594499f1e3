/**
 * The commands behind the root scripts: each names the install it needs and the TypeScript file that is run from its source,
 * with the user's arguments. The command line runs in this process, from a program that is built once.
 */
import { spawn } from "node:child_process";
import module from "node:module";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureInstalled } from "./install.mjs";
import { builtProgram } from "./program.mjs";

export const root = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * @typedef {object} Command
 * @property {import("./decide.mjs").Kind} install
 * @property {string} [file] From the root of the checkout. Absent: the install is all there is to do.
 * @property {readonly string[]} [args] Come before the user's.
 * @property {boolean} [isProgram] Runs as a program that is built once, where the user typed the command, so that relative paths mean
 *   what they say.
 * @property {string} [lastLineOnFailure] What stdout ends with, if the install fails.
 */

const noTests = "0 passed, 1 failed, 0 skipped";

/** @type {Readonly<Record<string, Command>>} */
const commands = {
  start: { install: "demo", file: "apps/cli/src/main.ts", args: ["demo"], isProgram: true },
  nnhal: { install: "demo", file: "apps/cli/src/main.ts", isProgram: true },
  setup: { install: "full" },
  generate: { install: "full", file: "tools/repo/src/generate-main.ts" },
  api: { install: "full", file: "tools/repo/src/api-reports-main.ts" },
  fuzz: { install: "full", file: "tools/fuzz/src/main.ts" },
  hostile: { install: "full", file: "tools/hostile/src/main.ts" },
  mutants: { install: "full", file: "tools/repo/src/mutants-main.ts" },
  processors: { install: "full", file: "tools/processors/src/main.ts" },
  differences: { install: "full", file: "tools/differences/src/main.ts" },
  ok: { install: "full", file: "tools/repo/src/ok.ts", lastLineOnFailure: noTests },
  test: { install: "full", file: "tools/repo/src/ok.ts", lastLineOnFailure: noTests },
};

/**
 * Runs one command; the exit code is that of what ran. Undefined: it runs in this process, whose exit code it sets.
 * @param {readonly string[]} argv The command's name, then its arguments.
 * @returns {Promise<number | undefined>}
 */
export async function main([name = "", ...args]) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    console.error(`nnhal: "${name}" is not a command of this script. There are: ${Object.keys(commands).join(", ")}.`);
    return 2;
  }
  if (!(await ensureInstalled(root, command.install))) {
    if (command.lastLineOnFailure !== undefined) console.log(command.lastLineOnFailure);
    return 1;
  }
  if (command.file === undefined) return 0;
  const all = [...(command.args ?? []), ...args];
  const cwd = command.isProgram ? userFolder(process.cwd(), process.env) : root;
  if (!command.isProgram || needsSources(all)) return runFromSource(join(root, command.file), all, { cwd });
  return runHere(command.file, all, cwd);
}

/**
 * Returns true if modules from elsewhere, such as the user's backend, must find the packages of this workspace.
 * @param {readonly string[]} args
 */
export function needsSources(args) {
  return args.some((arg) => /^--(backend|extension)(=|$)/.test(arg));
}

/** @param {string} file @param {readonly string[]} args @param {string} cwd @returns {Promise<undefined>} */
async function runHere(file, args, cwd) {
  // Reading the source maps takes longer than many a command.
  if (args.includes("--debug")) process.setSourceMapsEnabled(true);
  const program = await builtProgram(root, file);
  // Node.js 22 and newer keep compiled code.
  Reflect.get(module, "enableCompileCache")?.(join(root, "node_modules/.cache/nnhal-compiled"));
  process.chdir(cwd);
  process.argv.splice(1, process.argv.length, program, ...args);
  await import(pathToFileURL(program).href);
  return undefined;
}

/**
 * The folder the user typed the command in. npm runs scripts in the root and leaves the folder in INIT_CWD; if npm did
 * not start this script, INIT_CWD belongs to another program.
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
export function userFolder(cwd, env) {
  const byNpm = env.npm_lifecycle_event !== undefined && resolve(cwd) === resolve(root);
  return (byNpm ? env.INIT_CWD : undefined) ?? cwd;
}

/** @param {string} file @param {readonly string[]} args @param {{ cwd: string }} options @returns {Promise<number>} */
function runFromSource(file, args, { cwd }) {
  const loader = new URL("sources.mjs", import.meta.url).href;
  const child = spawn(process.execPath, ["--import", loader, file, ...args], {
    cwd,
    stdio: "inherit",
  });
  // Ctrl-C reaches the child by itself, a signal to this process alone does not. Either way the child decides how to end.
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => {
      if (signal !== "SIGINT") child.kill(signal);
    });
  }
  return new Promise((done) => {
    child.on("error", (error) => {
      console.error(`nnhal: cannot start ${process.execPath}: ${error.message}`);
      done(1);
    });
    child.on("exit", (code, signal) => done(code ?? 128 + (signal === null ? 1 : constants.signals[signal])));
  });
}
