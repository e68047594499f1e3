/** Programs of this workspace as processes of their own, from their sources. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fromSource } from "./from-source.ts";

/** A process with its output. */
export interface Started {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Resolves when stdout has a text. Rejects if the process ends before. */
  says(text: string): Promise<void>;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

const processes = new Set<ChildProcess>();

/** Starts a source file. `limit`: a limit of the system, as the arguments of `ulimit`. */
export function startSource(
  path: string,
  args: readonly string[],
  { env = {}, limit }: { readonly env?: NodeJS.ProcessEnv | undefined; readonly limit?: string | undefined } = {},
): Started {
  const options = { stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } };
  const all = [...fromSource, path, ...args];
  if (limit === undefined) return watch(spawn(process.execPath, all, options));
  const shell = ["-c", `ulimit ${limit}; exec "$0" "$@"`, process.execPath, ...all];
  return watch(spawn("sh", shell, options));
}

/** Starts a program by its name. `ipc`: it is a program of Node.js, and can be sent messages. */
export function startProgram(name: string, args: readonly string[], { ipc = false } = {}): Started {
  return watch(spawn(name, args, { stdio: ["ignore", "pipe", "pipe", ...(ipc ? (["ipc"] as const) : [])] }));
}

function watch(child: ChildProcess): Started {
  processes.add(child);
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    output.stderr += chunk;
  });
  const ended = once(child, "exit").then(([code, signal]) => {
    processes.delete(child);
    return signal ?? code;
  });
  const says = async (text: string) => {
    while (!output.stdout.includes(text)) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`the process has ended without ${JSON.stringify(text)}: ${output.stdout}${output.stderr}`);
      }
      await Promise.race([child.stdout && once(child.stdout, "data"), ended]);
    }
  };
  return { child, output, says, ended };
}

/** Kills all processes that were started here. */
export async function endProcesses(): Promise<void> {
  const ends = [...processes].map((child) => {
    const end = once(child, "exit");
    child.kill("SIGKILL");
    return end;
  });
  await Promise.all(ends);
}
