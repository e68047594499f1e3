/** The measured differences as text, and as a table in docs/measurements-steps.md. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Difference, isBiased, meanOf } from "./compare.ts";
import type { MeasuredRow } from "./measure.ts";
import { oracleEngines } from "./oracle.ts";

export const tableFile = fileURLToPath(new URL("../../../docs/measurements-steps.md", import.meta.url));

const begin = "<!-- differences: written by `npm run differences -- --write` -->";
const end = "<!-- end of differences -->";

/** A share of elements in per cent. */
function shareText({ differing, elements }: Difference): string {
  if (differing === 0) return "0";
  const share = (100 * differing) / elements;
  return share < 0.01 ? "< 0.01" : share.toFixed(2);
}

function meanText(difference: Difference): string {
  const mean = meanOf(difference);
  return mean === 0 ? "0" : mean.toFixed(4);
}

/** A row for a terminal, with the differences of each variant. */
export function rowText({ operator, type, results, variants }: MeasuredRow): string {
  const parts = oracleEngines.map((engine) => {
    const result = results[engine];
    if (typeof result === "string") return `${engine}: - (${result.slice(0, 120)})`;
    const bias = isBiased(result) ? " BIAS" : "";
    return `${engine}: ${result.elements} elements, ${shareText(result)} % differ, at most ${result.largest}, mean ${meanText(result)}${bias}`;
  });
  const each = variants.map((variant) => `${variant.differing}/${meanText(variant)}`);
  return `${operator} ${type}\n  ${parts.join("\n  ")}\n  variants: ${each.join(" ")}`;
}

function cells(result: Difference | string): string {
  return typeof result === "string" ? "- | - | -" : `${shareText(result)} | ${result.largest} | ${meanText(result)}`;
}

/** The document with the table of these rows in place of the one that it has. */
export function documentWith(rows: readonly MeasuredRow[], text = readFileSync(tableFile, "utf8")): string {
  const [before, rest] = text.split(begin);
  const [, after] = (rest ?? "").split(end);
  if (before === undefined || after === undefined)
    throw new Error(`${tableFile} has no place for the table: ${begin} … ${end}`);
  const lines = rows.map(
    ({ operator, type, results }) => `| ${operator} | ${type} | ${cells(results.litert)} | ${cells(results.tfjs)} |`,
  );
  const head = [
    "| operator | type | differ, % | largest | mean | older build: differ, % | largest | mean |",
    "|---|---|---|---|---|---|---|---|",
  ];
  return `${before}${begin}\n\n${[...head, ...lines].join("\n")}\n\n${end}${after}`;
}
