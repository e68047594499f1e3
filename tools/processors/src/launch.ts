/** Runs a plan on one processor, in a separate process, and collects its reports. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ArmNode } from "./arm-node.ts";
import { armLibraries } from "./emulators.ts";
import type { Report } from "./plan.ts";
import { cpuinfoOf, type Emulated, type Emulators } from "./processors.ts";

/** A command with its variables. */
export interface Launch {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Memories of WebAssembly without regions of 10 GB around them: qemu keeps the state of each of their pages, and a few hundred
 * kernels of gpu.js would take all of the machine's memory.
 */
const withoutGuardRegions = "--disable-wasm-trap-handler";

/** Returns the command that runs Node.js with some arguments on a processor. `folder`: for files that it needs. */
export function launchOn(processor: Emulated, machine: Emulators, folder: string, arm: ArmNode | undefined): Launch {
  const { arch, cpu, name, numbers } = processor;
  const qemu = machine.qemu[arch] ?? "";
  if (arch === "x64") return { command: [qemu, "-cpu", cpu, process.execPath, withoutGuardRegions], env: {} };
  if (arm === undefined || numbers === undefined) throw new Error(`${name} needs a Node.js for ARM`);
  const cpuinfo = join(folder, `cpuinfo-${name}`);
  writeFileSync(cpuinfo, cpuinfoOf(numbers));
  const inside = ["sh", "-c", `mount --bind "$1" /proc/cpuinfo && shift && exec "$@"`, "sh", cpuinfo];
  return {
    command: [...machine.namespace, ...inside, qemu, "-cpu", cpu, "-L", armLibraries, arm.node, withoutGuardRegions],
    env: { NNHAL_PROCESSORS_KOFFI: arm.koffi },
  };
}

/** Reports of a process, and why it ended before the end of its plan, if it did. */
export interface Ran {
  readonly reports: readonly Report[];
  readonly problem?: string;
}

/** Starts the command and waits for its end, at most `limit` milliseconds. Each report is passed on as it comes. */
export async function runProcess(
  { command, env }: Launch,
  args: readonly string[],
  limit: number,
  onReport: (report: Report) => void = () => {},
): Promise<Ran> {
  const [program = "", ...rest] = [...command, ...args];
  const child = spawn(program, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    timeout: limit,
    killSignal: "SIGKILL",
  });
  const reports: Report[] = [];
  const strays: string[] = [];
  const errors: string[] = [];
  createInterface(child.stdout).on("line", (line) => {
    const report = parseReport(line);
    if (report === undefined) strays.push(line);
    else {
      reports.push(report);
      onReport(report);
    }
  });
  createInterface(child.stderr).on("line", (line) => {
    if (!isWarning(line) && errors.push(line) > 20) errors.shift();
  });
  const end = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(`${program} cannot be started: ${error.message}`));
    child.once("close", (code, signal) => {
      if (code !== 0) resolve(child.killed ? `ended after ${limit / 1000} s` : `ended with ${signal ?? code}`);
      else resolve(reports.at(-1)?.kind === "end" ? undefined : "ended before its plan did");
    });
  });
  if (end === undefined) return { reports };
  const said = [...strays.slice(-3), ...errors.slice(-5)].join(" ");
  return { reports, problem: said === "" ? end : `${end}: ${said}` };
}

/** A line of the process; undefined if it is not a report, since engines write to stdout too. */
export function parseReport(line: string): Report | undefined {
  if (!line.startsWith(`{"kind":`)) return undefined;
  try {
    // The program writes nothing else that begins so.
    return JSON.parse(line) as Report;
  } catch {
    return undefined;
  }
}

/** qemu names each feature of a processor that it does not have. */
function isWarning(line: string): boolean {
  return line.includes("warning: TCG doesn't support requested feature");
}
