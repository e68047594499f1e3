/**
 * The program on a processor: does what its plan says, and reports in lines of JSON. It starts no other process, since a child of an
 * emulated process would run on the processor of the host.
 */
import childProcess from "node:child_process";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { deserialize } from "node:v8";
import { isMainThread } from "node:worker_threads";
import { type Example, runVectors, summarise } from "@nnhal/conformance";
import type { Device } from "@nnhal/types";
import { processorFacts } from "../features.ts";
import type { Pack } from "../images.ts";
import { type EngineName, type EnginePlan, engineNames, type Plan, type Report } from "../plan.ts";
import type { Tally } from "../result.ts";
import { checkAtomics, serveAtomics } from "./atomics.ts";
import { runConvolutions } from "./convolutions.ts";
import { openEngine } from "./devices.ts";
import { runNetworks } from "./networks.ts";
import { runTestFiles } from "./tests.ts";

if (isMainThread) await main();
else {
  placeKoffi();
  if (!serveAtomics()) throw new Error("this thread has nothing to do");
}

async function main(): Promise<void> {
  forbidChildren();
  placeKoffi();
  // The command that started this process wrote the plan.
  const plan = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Plan;
  report({ kind: "processor", facts: processorFacts() });
  for (const name of engineNames) {
    const wanted = plan.engines[name];
    if (wanted !== undefined) await runEngine(name, wanted, plan);
  }
  if (plan.atomics > 0) report({ kind: "atomics", tally: await checkAtomics(process.argv[1] ?? "", plan.atomics) });
  report({ kind: "end" });
}

async function runEngine(engine: EngineName, { packs, images, vectors, tests }: EnginePlan, plan: Plan): Promise<void> {
  const opened = await openEngine(engine);
  if ("unavailable" in opened) return report({ kind: "engine", engine, unavailable: opened.unavailable });
  const { device, version, choices } = opened;
  report({ kind: "engine", engine, version, choices });
  const check = async (
    check: "networks" | "convolutions" | "vectors" | "tests",
    count: number,
    run: () => Promise<Tally>,
  ) => {
    if (count === 0) return;
    const tally = await run().catch(tallyFailure);
    report({ kind: "check", engine, check, tally });
  };
  await check("networks", plan.networks.length, () => runNetworks(device, plan.networks));
  await check("convolutions", packs, () => runConvolutions(device, read<Pack[]>(plan.packs).slice(0, packs), images));
  await check("vectors", vectors, () => runExamples(device, read<Example[]>(plan.examples).slice(0, vectors)));
  await check("tests", tests.length, () => runTestFiles(tests));
}

async function runExamples(device: Device, examples: readonly Example[]): Promise<Tally> {
  const summary = await summarise(runVectors(device, examples, { timeLimit: 600_000 }));
  const { passed, failed, unsupported, skipped, failures } = summary;
  const problems = failures.slice(0, 5).map(({ name, reason }) => `${name}: ${reason}`);
  return { passed, failed, skipped: skipped + unsupported, problems };
}

function tallyFailure(error: unknown): Tally {
  const problem = error instanceof Error ? error.message : String(error);
  return { passed: 0, failed: 1, skipped: 0, problems: [problem] };
}

/** Reads a value that the command wrote with v8's serialiser. */
function read<T>(path: string): T {
  return deserialize(readFileSync(path)) as T;
}

function report(line: Report): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function forbidChildren(): void {
  const refuse = (): never => {
    throw new Error("a process on an emulated processor must not start another one, which would run on the host's");
  };
  for (const name of ["spawn", "spawnSync", "fork", "exec", "execSync", "execFile", "execFileSync"] as const) {
    Object.assign(childProcess, { [name]: refuse });
  }
  syncBuiltinESMExports();
}

/** Lets koffi find its native part: if it is not next to koffi, koffi looks in a folder of this property, as in Electron. */
function placeKoffi(): void {
  const folder = process.env.NNHAL_PROCESSORS_KOFFI;
  if (folder) Object.assign(process, { resourcesPath: folder });
}
