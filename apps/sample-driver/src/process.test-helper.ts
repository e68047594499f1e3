/** Daemons and clients as processes of their own, from their sources. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endProcesses, type Started, startSource as startFile } from "@nnhal/test-kit/processes";
import { koffiHider } from "@nnhal/test-kit/without-koffi";

/** A daemon and its directory. */
export interface StartedDaemon extends Started {
  readonly directory: string;
}

const folders: string[] = [];

/** Starts a source file of this folder. */
export function startSource(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  return startFile(fileURLToPath(new URL(file, import.meta.url)), args, { env });
}

/** Runs a command of `nnhal` to its end. */
export async function nnhal(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const started = startSource("../../cli/src/main.ts", args);
  return { code: await started.ended, ...started.output };
}

/** A new folder for a test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-daemon-"));
  folders.push(folder);
  return folder;
}

/** Options of a daemon's start. */
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
  const started = startFile(fileURLToPath(new URL("main.ts", import.meta.url)), all, { env, limit });
  await started.says("ready ");
  return { ...started, directory };
}

/** Ends all processes and removes all folders. */
export async function cleanUp(): Promise<void> {
  await endProcesses();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
