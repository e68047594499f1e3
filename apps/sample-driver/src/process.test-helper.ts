/** Daemons and clients as processes of their own, from their sources. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromSource } from "@nnhal/test-kit/from-source";
import { koffiHider } from "@nnhal/test-kit/without-koffi";

/** A process, and what it has written. */
export interface Started {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Resolves when stdout has a text. Rejects if the process ends before. */
  says(text: string): Promise<void>;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** A daemon and its directory. */
export interface StartedDaemon extends Started {
  readonly directory: string;
}

const folders: string[] = [];
const processes = new Set<ChildProcess>();

/** Starts a source file of this folder. */
export function startSource(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return watched(
    spawn(process.execPath, [...fromSource, path, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    }),
  );
}

/** Starts the daemon with a limit of the system (`ulimit`). */
function startWithLimit(limit: string, args: readonly string[]): Started {
  const path = fileURLToPath(new URL("main.ts", import.meta.url));
  const command = ["-c", `ulimit ${limit}; exec "$0" "$@"`, process.execPath, ...fromSource, path, ...args];
  return watched(spawn("sh", command, { stdio: ["ignore", "pipe", "pipe"] }));
}

/** Runs a command of `nnhal` to its end. */
export async function nnhal(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const started = startSource("../../cli/src/main.ts", args);
  return { code: await started.ended, ...started.output };
}

function watched(child: ChildProcess): Started {
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

/** A new folder for a test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-daemon-"));
  folders.push(folder);
  return folder;
}

/** How a daemon starts. */
interface StartOptions {
  /** Its runtime directory. Default: a new one. */
  readonly directory?: string;
  /** A limit of the system, as the arguments of `ulimit`. */
  readonly limit?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** The environment of a process that does not find koffi. */
export function withoutKoffi(): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --require ${koffiHider(newFolder())}` };
}

/** Starts a daemon, and waits until it is ready. */
export async function startDaemonProcess(
  args: readonly string[] = [],
  { directory = join(newFolder(), "run"), limit, env }: StartOptions = {},
): Promise<StartedDaemon> {
  const all = ["--dir", directory, "--devices", "nnapi-sample_all", ...args];
  const started = limit === undefined ? startSource("main.ts", all, env) : startWithLimit(limit, all);
  await started.says("ready ");
  return { ...started, directory };
}

/** Ends all processes and removes all folders. */
export async function cleanUp(): Promise<void> {
  const ends = [...processes].map((child) => {
    const end = once(child, "exit");
    child.kill("SIGKILL");
    return end;
  });
  await Promise.all(ends);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
