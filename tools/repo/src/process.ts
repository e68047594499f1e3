/** Runs a command of the workspace and keeps its output, so that a gate can show it only where it matters. */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

export interface CommandResult {
  readonly ok: boolean;
  /** stdout and stderr in the order in which they came. */
  readonly output: string;
}

/** No step needs nearly as long; one that does hangs. */
const limitMilliseconds = 15 * 60_000;

/**
 * `command` is found among the workspace's own tools first. `env`: variables besides those of this process, or undefined for one to leave out.
 * `timeout`: after so many milliseconds the command is ended, and has failed. Default: 15 minutes.
 */
export function runCommand(
  root: string,
  command: string,
  args: readonly string[],
  cwd = root,
  env: Readonly<Record<string, string | undefined>> = {},
  timeout = limitMilliseconds,
): Promise<CommandResult> {
  // On Windows the tools are scripts, which need a shell; a program with its path does not.
  const inShell = process.platform === "win32" && !command.endsWith(".exe");
  const child = spawn(command, inShell ? args.map(quote) : args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    shell: inShell,
    timeout,
    env: {
      ...process.env,
      PATH: join(root, "node_modules", ".bin") + delimiter + (process.env.PATH ?? ""),
      CI: "true",
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      TURBO_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
      ...env,
    },
  });
  return new Promise((resolve) => {
    const chunks: string[] = [];
    const keep = (text: string) => chunks.push(text);
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    child.on("error", (error) => resolve({ ok: false, output: `${chunks.join("")}${command}: ${error.message}\n` }));
    child.on("close", (code, signal) => {
      // A command may end with the code 0 after a signal: turbo does.
      if (child.killed) chunks.push(`\n${command} did not end within ${timeout / 1000} s\n`);
      else if (signal !== null) chunks.push(`\n${command} was ended by ${signal}\n`);
      resolve({ ok: code === 0 && !child.killed, output: chunks.join("") });
    });
  });
}

/** An argument as the shell of Windows takes it. */
export function quote(arg: string): string {
  return /[\s"&|<>^()]/.test(arg) ? `"${arg.replaceAll('"', '\\"')}"` : arg;
}

/** Runs steps one after the other. Returns the first result that is a failure, else the last. */
export async function inOrder(steps: readonly (() => Promise<CommandResult>)[]): Promise<CommandResult> {
  let result: CommandResult = { ok: true, output: "" };
  for (const step of steps) {
    result = await step();
    if (!result.ok) return result;
  }
  return result;
}

/** Does work on items, two at a time: it is that of processes that wait for little but the processor. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
