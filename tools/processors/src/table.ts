/** The table of processors in docs/processors.md, and the summary of a run. */
import type { FormChoice } from "@nnhal/backend";
import type { ProcessorFacts } from "./inside/features.ts";
import { type CheckName, checkNames, type EngineName } from "./plan.ts";
import type { Tally } from "./result.ts";

/** What an engine did on a processor. */
export interface EngineRow {
  readonly engine: EngineName;
  readonly unavailable?: string;
  readonly version?: string;
  /** What its self-check chose. */
  readonly choices?: readonly FormChoice[];
  readonly checks: Readonly<Partial<Record<CheckName, Tally>>>;
}

/** A processor of the matrix, and what came of it. */
export interface Row {
  readonly name: string;
  readonly what: string;
  readonly facts?: ProcessorFacts;
  readonly engines?: readonly EngineRow[];
  readonly atomics?: Tally;
  /** Why it cannot run here. */
  readonly impossible?: string;
  /** Which other row shows the same. */
  readonly covered?: string;
  /** What went wrong with the process itself. */
  readonly problem?: string;
}

export const startMarker = "<!-- processors: written by `npm run processors` -->";
export const endMarker = "<!-- end of processors -->";

const head = [
  `| processor | what | features found | engine | forms by its self-check | ${checkNames.join(" | ")} | atomic operations |`,
  `|${"---|".repeat(6 + checkNames.length)}`,
];

/** All counts of a row. */
export function countsOf({ engines = [], atomics, problem }: Row): Pick<Tally, "passed" | "failed" | "skipped"> {
  const tallies = [...engines.flatMap(({ checks }) => Object.values(checks)), ...(atomics ? [atomics] : [])];
  const sum = (key: "passed" | "failed" | "skipped") => tallies.reduce((total, tally) => total + tally[key], 0);
  return { passed: sum("passed"), failed: sum("failed") + (problem === undefined ? 0 : 1), skipped: sum("skipped") };
}

/** A line for people. */
export function summaryOf(row: Row): string {
  if (row.impossible !== undefined) return `${row.name}: impossible: ${row.impossible}`;
  if (row.covered !== undefined) return `${row.name}: ${row.covered}`;
  const { passed, failed, skipped } = countsOf(row);
  const problem = row.problem === undefined ? "" : `; ${row.problem}`;
  return `${row.name}: run: ${passed} passed, ${failed} failed, ${skipped} skipped${problem}`;
}

/** Everything that failed in a row. */
export function problemsOf({ engines = [], atomics, problem }: Row): readonly string[] {
  return [
    ...(problem === undefined ? [] : [problem]),
    ...engines.flatMap(({ engine, checks }) =>
      Object.entries(checks).flatMap(([check, { problems }]) => problems.map((each) => `${engine}, ${check}: ${each}`)),
    ),
    ...(atomics?.problems ?? []),
  ];
}

/** The document with new rows between its markers. Rows that did not run stay. `order`: all names. Throws if it has no markers. */
export function withTable(document: string, rows: readonly Row[], order: readonly string[]): string {
  const [before, rest] = splitAt(document, startMarker);
  const [old, after] = splitAt(rest, endMarker);
  const kept = old.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| processor |"));
  const lines = order.flatMap((name) => {
    const row = rows.find((each) => each.name === name);
    return row === undefined ? kept.filter((line) => line.startsWith(`| ${name} |`)) : linesOf(row);
  });
  return [before, startMarker, "\n", [...head, ...lines].join("\n"), "\n", endMarker, after].join("");
}

function splitAt(text: string, marker: string): [string, string] {
  const place = text.indexOf(marker);
  if (place === -1) throw new Error(`expected the document to have the line ${marker}, got none`);
  return [text.slice(0, place), text.slice(place + marker.length)];
}

/** A line for each engine; the processor is named in each, so that lines can be told apart. */
function linesOf(row: Row): readonly string[] {
  const { name, what, facts, engines = [], atomics } = row;
  const said = row.impossible === undefined ? (row.covered ?? row.problem) : `impossible: ${row.impossible}`;
  const blank = checkNames.map(() => "");
  if (engines.length === 0)
    return [lineOf([name, what, facts?.features.join(", ") ?? "", said ?? "", "", ...blank, ""])];
  const found = facts === undefined ? "" : `${facts.name}: ${facts.features.join(", ") || "none of those that matter"}`;
  return engines.map(({ engine, version, unavailable, choices = [], checks }, place) =>
    lineOf([
      name,
      what,
      found,
      unavailable === undefined ? `${engine}: ${version}` : `${engine}: ${unavailable}`,
      choices.map(choiceText).join("; "),
      ...checkNames.map((check) => tallyText(checks[check])),
      place === 0 ? tallyText(atomics) : "",
    ]),
  );
}

function choiceText({ subject, chosen, reason }: FormChoice): string {
  return `${subject}: ${chosen ?? "refused"}${reason === undefined ? "" : ` (${reason})`}`;
}

function tallyText(tally: Tally | undefined): string {
  if (tally === undefined) return "";
  const parts = [`${tally.passed} right`];
  if (tally.failed > 0) parts.push(`**${tally.failed} wrong**`);
  if (tally.skipped > 0) parts.push(`${tally.skipped} not supported`);
  return parts.join(", ");
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}
