/** Runs the processors of the matrix, each in a separate process. */
import { type ArmNode, fetchArmNode } from "./arm-node.ts";
import type { ProcessorFacts } from "./features.ts";
import { type Launch, launchOn, type Ran, runProcess } from "./launch.ts";
import type { Report } from "./plan.ts";
import type { Prepared } from "./prepare.ts";
import { type Emulated, type Emulators, emulated, hostName, mismatch, reasonAgainst, vnniName } from "./processors.ts";
import type { EngineRow, Row } from "./table.ts";

/** Options of a run. */
export interface MatrixOptions {
  readonly prepared: Prepared;
  readonly machine: Emulators;
  /** For files of the run. */
  readonly folder: string;
  /** Where packages for ARM are kept. */
  readonly cache: string;
  readonly koffiVersion: string;
  /** Names of rows. */
  readonly names: readonly string[];
  /** Rows that run at the same time. */
  readonly jobs: number;
  /** Milliseconds that a processor has at most. */
  readonly limit: number;
  /** Writes the plan of a row, and returns the path of its file. */
  writePlan(name: string, plan: Prepared["plan"]): string;
  onReport?(name: string, report: Report): void;
  onRow?(row: Row): void;
}

/** Runs rows. They come in the order of the names. */
export async function runMatrix(options: MatrixOptions): Promise<readonly Row[]> {
  const rows = new Map<string, Row>();
  const queue = [...options.names];
  const worker = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const row = await runRow(name, options);
      options.onRow?.(row);
      rows.set(name, row);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
  return options.names.flatMap((name) => rows.get(name) ?? []);
}

async function runRow(name: string, options: MatrixOptions): Promise<Row> {
  if (name === hostName) {
    const ran = await start(name, options, { command: [process.execPath], env: {} });
    return rowOf(name, "the machine itself, without an emulator", ran);
  }
  if (name === vnniName) return rowOfVnni(options);
  const processor = emulated.find((each) => each.name === name);
  if (processor === undefined) throw new RangeError(`there is no processor ${name}`);
  const { what } = processor;
  const reason = reasonAgainst(processor, options.machine);
  if (reason !== undefined) return { name, what, impossible: reason };
  const arm = await armNodeFor(processor, options);
  if (arm !== undefined && "impossible" in arm) return { name, what, ...arm };
  const ran = await start(name, options, launchOn(processor, options.machine, options.folder, arm));
  const row = rowOf(name, what, ran);
  const other = row.facts && mismatch(processor, row.facts);
  // None of its findings is about this processor.
  return other === undefined ? row : { name, what, problem: other };
}

async function armNodeFor(
  { arch }: Emulated,
  options: MatrixOptions,
): Promise<ArmNode | { impossible: string } | undefined> {
  if (arch !== "arm64") return undefined;
  return fetchArmNode(options.cache, options.koffiVersion).catch((error: unknown) => ({
    impossible: error instanceof Error ? error.message : String(error),
  }));
}

/** A host with VNNI has a separate row, `host`. */
async function rowOfVnni(options: MatrixOptions): Promise<Row> {
  const what = "x86 with products of bytes that do not saturate";
  const plan = { ...options.prepared.plan, engines: {}, networks: [], atomics: 0 };
  const asked = { ...options, prepared: { ...options.prepared, plan } };
  const { reports } = await start(vnniName, asked, { command: [process.execPath], env: {} });
  const facts = factsOf(reports);
  const found = facts?.features.filter((feature) => feature.includes("VNNI")) ?? [];
  if (found.length > 0) return { name: vnniName, what, covered: `the row ${hostName} has ${found.join(" and ")}` };
  return { name: vnniName, what, impossible: "this host does not have it, and qemu does not emulate it" };
}

function start(name: string, options: MatrixOptions, launch: Launch): Promise<Ran> {
  const { prepared, limit, onReport } = options;
  // Atomic operations of emulated x86 are those of this processor.
  const isX86Emulated = emulated.some((each) => each.name === name && each.arch === "x64");
  const plan = isX86Emulated ? { ...prepared.plan, atomics: 0 } : prepared.plan;
  const path = options.writePlan(name, plan);
  return runProcess(launch, [prepared.program, path], limit, (report) => onReport?.(name, report));
}

function factsOf(reports: readonly Report[]): ProcessorFacts | undefined {
  return reports.flatMap((report) => (report.kind === "processor" ? [report.facts] : []))[0];
}

/** Makes the row of a process's reports, by engine. */
export function rowOf(name: string, what: string, { reports, problem }: Ran): Row {
  const facts = factsOf(reports);
  const engines = reports.flatMap((report): readonly EngineRow[] => {
    if (report.kind !== "engine") return [];
    if ("unavailable" in report) return [{ engine: report.engine, unavailable: report.unavailable, checks: {} }];
    const checks = reports.flatMap((each) =>
      each.kind === "check" && each.engine === report.engine ? [[each.check, each.tally] as const] : [],
    );
    const { engine, version, choices } = report;
    return [{ engine, version, choices, checks: Object.fromEntries(checks) }];
  });
  const atomics = reports.flatMap((report) => (report.kind === "atomics" ? [report.tally] : []))[0];
  return {
    name,
    what,
    engines,
    ...(facts && { facts }),
    ...(atomics && { atomics }),
    ...(problem !== undefined && { problem }),
  };
}
