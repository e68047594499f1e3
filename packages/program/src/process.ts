/** The process of a program, as a value that tests can replace. */
import { readFileSync, writeSync } from "node:fs";

/** Exit codes, as the help of each program explains them: docs/cli.md#exit-codes has the table of all programs. */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** The command line is wrong, or it names something that is missing or of the wrong kind. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The exit code of a program that an error has ended. */
export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
}

/** The program's interface to its process. */
export interface Surroundings {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly version: string;
  stdout(text: string): void;
  stderr(text: string): void;
  /** Calls back at SIGTERM and SIGINT, each time. */
  onSignal(listener: (signal: NodeJS.Signals) => void): void;
  /** Ends the process. */
  exit(code: number): void;
}

/**
 * Runs a program in this process, and ends the process with its exit code. `module`: the `import.meta.url` of its main file. The
 * package.json is in the parent of that file's folder.
 */
export async function runMain(module: string, run: (surroundings: Surroundings) => Promise<number>): Promise<void> {
  process.exitCode = await run({
    args: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    version: versionOf(new URL("../package.json", module)),
    stdout: (text) => write(1, text),
    stderr: (text) => write(2, text),
    onSignal(listener) {
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => listener(signal));
      // A program that has started this one with a channel takes it along, however it ends.
      if (process.connected) process.once("disconnect", () => listener("SIGTERM"));
    },
    exit: (code) => process.exit(code),
  });
  process.exit();
}

/** Resolves with the first signal. A second one ends the process immediately. */
export function endSignal({ onSignal, exit }: Pick<Surroundings, "onSignal" | "exit">): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let signals = 0;
    onSignal((signal) => {
      signals++;
      if (signals === 1) resolve(signal);
      else exit(128 + (signal === "SIGINT" ? 2 : 15));
    });
  });
}

/** The version in a package.json; `unknown` if it has none. */
export function versionOf(manifestFile: URL): string {
  const manifest: unknown = JSON.parse(readFileSync(manifestFile, "utf8"));
  return manifest instanceof Object && "version" in manifest ? String(manifest.version) : "unknown";
}

/** Writes synchronously, so that nothing is lost at the end. A log that no process reads does not end the program. */
function write(descriptor: 1 | 2, text: string): void {
  try {
    writeSync(descriptor, text);
  } catch {
    // Nothing can be said of it: this is where it would be said.
  }
}
