/**
 * Compares quantised operators with TensorFlow Lite over random elements, and lists the size and direction of the difference of
 * each: `npm run differences`. docs/measurements-steps.md explains the columns.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { cases } from "./cases.ts";
import { deviceNames, deviceRunner } from "./device.ts";
import { type MeasuredRow, measureOperator } from "./measure.ts";
import { compareModels } from "./models/compare-models.ts";
import { serveOracle } from "./models/oracle-process.ts";
import { documentWithModels } from "./models/report.ts";
import { drawers } from "./models/run-models.ts";
import { builds, oracleAbsence, oracleEngines } from "./oracle.ts";
import { documentWith, rowText, tableFile } from "./table.ts";

const usage = `usage: npm run differences -- [--device ${deviceNames.join("|")}] [--only OPERATOR[,OPERATOR]] [--type TYPE] [--seed N] [--models N] [--write]

Runs models of single quantised operators on a device and in TensorFlow Lite, and lists the differences of their results. --models N
runs about N random models of single operators instead, of every operator and type. --write puts the table of the reference into docs/measurements-steps.md.`;

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "reference" },
    only: { type: "string" },
    type: { type: "string" },
    seed: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
    models: { type: "string" },
    // In a process that this program begins.
    oracle: { type: "string" },
    builds: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

function fail(message: string): never {
  console.error(`differences: ${message}\n\n${usage}`);
  process.exit(2);
}

if (values.help) {
  console.log(usage);
  process.exit(0);
}
const engine = oracleEngines.find((name) => name === values.oracle);
if (engine !== undefined) {
  await serveOracle(engine, values.builds ?? builds);
  await new Promise(() => {});
}
const { device, seed, write } = values;
if (!deviceNames.includes(device)) fail(`--device ${device}: expected one of ${deviceNames.join(", ")}`);
if (!/^\d{1,6}$/.test(seed)) fail(`--seed ${seed}: expected an integer from 0 to 999999`);
const only = values.only?.split(",");
const unknown = only?.find((name) => !Object.hasOwn(values.models === undefined ? cases : drawers, name));
if (unknown !== undefined) fail(`--only ${unknown}: expected one of ${Object.keys(cases).join(", ")}`);
if (write && (device !== "reference" || only || values.type))
  fail("--write: expected all operators and types, on the reference");
const absence = oracleAbsence();
if (absence !== undefined) {
  console.error(`differences: TensorFlow Lite is absent: ${absence}`);
  process.exit(1);
}

const run = await deviceRunner(device);
if (values.models !== undefined) {
  const count = Number(values.models);
  if (!(Number.isInteger(count) && count > 0)) fail(`--models ${values.models}: expected an integer above 0`);
  const program = process.argv[1] ?? "";
  const summaries = await compareModels(run, {
    count,
    seed: Number(seed),
    operators: only,
    type: values.type,
    program,
    builds,
    onLine: console.log,
  });
  for (const { operator, types, models, judged, equal, close, differing } of summaries)
    console.log(
      `${operator} (${types.join(", ")}): ${models} models, ${judged} judged, ${equal} equal, ${close} close, ${differing.length} differ`,
    );
  if (write) writeFileSync(tableFile, documentWithModels(summaries, readFileSync(tableFile, "utf8")));
  process.exit(0);
}
const rows: MeasuredRow[] = [];
for (const [operator, { types, variants }] of Object.entries(cases)) {
  if (only && !only.includes(operator)) continue;
  for (const type of types) {
    if (values.type !== undefined && values.type !== type) continue;
    const row = await measureOperator(run, { operator, type, variants: variants(type), seed: Number(seed) });
    rows.push(row);
    console.log(rowText(row));
  }
}
if (write) writeFileSync(tableFile, documentWith(rows));
process.exit(0);
