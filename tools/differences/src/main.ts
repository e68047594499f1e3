/**
 * Compares quantised operators with TensorFlow Lite over random elements, and lists the size and direction of the difference of
 * each: `npm run differences`. docs/measurements-steps.md explains the columns.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { cases } from "./cases.ts";
import { deviceNames, deviceRunner } from "./device.ts";
import { type MeasuredRow, measureOperator } from "./measure.ts";
import { oracleAbsence } from "./oracle.ts";
import { documentWith, rowText, tableFile } from "./table.ts";

const usage = `usage: npm run differences -- [--device ${deviceNames.join("|")}] [--only OPERATOR[,OPERATOR]] [--type TYPE] [--seed N] [--write]

Runs models of single quantised operators on a device and in TensorFlow Lite, and lists the differences of their results. --write puts the table of
the reference into docs/measurements-steps.md.`;

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "reference" },
    only: { type: "string" },
    type: { type: "string" },
    seed: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
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
const { device, seed, write } = values;
if (!deviceNames.includes(device)) fail(`--device ${device}: expected one of ${deviceNames.join(", ")}`);
if (!/^\d{1,6}$/.test(seed)) fail(`--seed ${seed}: expected an integer from 0 to 999999`);
const only = values.only?.split(",");
const unknown = only?.find((name) => !Object.hasOwn(cases, name));
if (unknown !== undefined) fail(`--only ${unknown}: expected one of ${Object.keys(cases).join(", ")}`);
if (write && (device !== "reference" || only || values.type))
  fail("--write: expected all operators and types, on the reference");
const absence = oracleAbsence();
if (absence !== undefined) {
  console.error(`differences: TensorFlow Lite is absent: ${absence}`);
  process.exit(1);
}

const run = await deviceRunner(device);
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
