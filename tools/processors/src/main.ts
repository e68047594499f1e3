/** `npm run processors`: the engines on emulated processors and on this one. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chosenNames, rowNames } from "./choice.ts";
import { findEmulators } from "./emulators.ts";
import { faultsFolder } from "./folders.ts";
import { type Level, levelOf, levels } from "./levels.ts";
import { runMatrix } from "./matrix.ts";
import { engineNames } from "./plan.ts";
import { prepare } from "./prepare.ts";
import { countsOf, problemsOf, type Row, summaryOf, withTable } from "./table.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const document = join(root, "docs/measurements-processors.md");

const help = `Runs the engines on emulated processors (qemu-user) and on this one, and writes the table in docs/measurements-processors.md.

  npm run processors                      everything: an hour on two idle processors
  npm run processors -- --short           a little of everything: two or three minutes
  npm run processors -- --only Haswell    some rows, by their names, with commas between them; the others stay in the table

  --short        less of everything
  --only NAMES   ${rowNames.join(", ")}
  --engine NAME  one of ${engineNames.join(", ")}
  --jobs N       rows that run at the same time; by default as many as there are processors
  --dry          the table is not written
  --help

What is absent (qemu, libraries, rights, packages) is the reason why a row is impossible. The exit code is 1 if anything is wrong.
Vectors are looked for in NNHAL_VECTORS, the networks in NNHAL_FAULT_FILES, by default ../shared/vectors and ../shared/faults.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: ReturnType<typeof parse>;
  try {
    options = parse(args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
  const { short = false, only, engine, jobs = String(availableParallelism()), dry = false, help: isAsked } = options;
  if (isAsked) {
    console.log(help);
    return 0;
  }
  const names = chosenNames(only);
  if ("unknown" in names) {
    console.error(`expected --only to name rows out of ${rowNames.join(", ")}, got ${names.unknown}`);
    return 2;
  }
  if (!/^[1-9]\d{0,2}$/.test(jobs)) {
    console.error(`expected --jobs to be a whole number from 1 to 999, got ${jobs}`);
    return 2;
  }
  const level = levelOf(levels[short ? "short" : "full"], engine);
  if (level === undefined) {
    console.error(`expected --engine to be one of ${engineNames.join(", ")}, got ${engine}`);
    return 2;
  }
  const rows = await run(names.names, level, Number(jobs));
  if (!dry) writeFileSync(document, withTable(readFileSync(document, "utf8"), rows, rowNames));
  for (const row of rows) for (const problem of problemsOf(row)) console.log(`${row.name}: ${problem}`);
  for (const row of rows) console.log(summaryOf(row));
  return rows.some((row) => countsOf(row).failed > 0) ? 1 : 0;
}

function parse(args: readonly string[]) {
  const options = {
    short: { type: "boolean" },
    only: { type: "string" },
    engine: { type: "string" },
    jobs: { type: "string" },
    dry: { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  return parseArgs({ args: [...args], options }).values;
}

async function run(names: readonly string[], level: Level, jobs: number): Promise<readonly Row[]> {
  const cache = join(root, "node_modules/.cache/nnhal-processors");
  mkdirSync(cache, { recursive: true });
  // Bundles must lie below the checkout, and two runs must not share them.
  const folder = mkdtempSync(join(cache, "run-"));
  const started = performance.now();
  const say = (text: string) =>
    console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`);
  try {
    const prepared = await prepare(root, folder, level, faultsFolder);
    say("bundles and examples are ready");
    return await runMatrix({
      prepared,
      machine: findEmulators(),
      folder,
      cache,
      koffiVersion: JSON.parse(readFileSync(join(root, "package.json"), "utf8")).optionalDependencies.koffi,
      names,
      jobs,
      limit: level.limit * 1000,
      writePlan(name, plan) {
        const path = join(folder, `plan-${name}.json`);
        writeFileSync(path, JSON.stringify(plan));
        return path;
      },
      onReport(name, report) {
        if (report.kind === "engine" && "unavailable" in report)
          say(`${name}, ${report.engine}: ${report.unavailable}`);
        if (report.kind !== "check") return;
        const { passed, failed, skipped } = report.tally;
        say(`${name}, ${report.engine}, ${report.check}: ${passed} right, ${failed} wrong, ${skipped} not supported`);
      },
      onRow: (row) => say(summaryOf(row)),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
