/** Runs a command of the workspace and keeps what it prints, so that a gate can show it only where it matters. */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

export interface CommandResult {
  readonly ok: boolean;
  /** stdout and stderr in the order in which they came. */
  readonly output: string;
}

/** No step needs nearly as long; one that does hangs. */
const limitMilliseconds = 15 * 60_000;

/** `command` is found among the workspace's own tools first. `environment` is added to that of this process. */
export function runCommand(
  root: string,
  command: string,
  args: readonly string[],
  cwd = root,
  environment: NodeJS.ProcessEnv = {},
): Promise<CommandResult> {
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
    timeout: limitMilliseconds,
    env: {
      ...process.env,
      PATH: join(root, "node_modules", ".bin") + delimiter + (process.env.PATH ?? ""),
      CI: "true",
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      TURBO_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
      ...environment,
    },
  });
  return new Promise((resolve) => {
    const chunks: string[] = [];
    const keep = (text: string) => chunks.push(text);
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    child.on("error", (error) => resolve({ ok: false, output: `${chunks.join("")}${command}: ${error.message}\n` }));
    child.on("close", (code, signal) => {
      if (signal !== null) chunks.push(`\n${command} was ended by ${signal}\n`);
      resolve({ ok: code === 0, output: chunks.join("") });
    });
  });
}
