/** The table of processors in docs/measurements-processors.md, and the summary of a run. */
import type { FormChoice } from "@nnhal/backend";
import type { ProcessorFacts } from "./features.ts";
import { type CheckName, checkNames, type EngineName, engineNames } from "./plan.ts";
import type { Tally } from "./result.ts";

/** Results of an engine on a processor. */
export interface EngineRow {
  readonly engine: EngineName;
  readonly unavailable?: string;
  readonly version?: string;
  /** Choices of its self-check. */
  readonly choices?: readonly FormChoice[];
  readonly checks: Readonly<Partial<Record<CheckName, Tally>>>;
}

/** A processor of the matrix, with its results. */
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
  /** Failure of the process itself. */
  readonly problem?: string;
}

export const startMarker = "<!-- processors: written by `npm run processors` -->";
export const endMarker = "<!-- end of processors -->";

/** A table of the document. Its lines begin with their key: the processor, and the engine if each has separate lines. */
interface Section {
  readonly title: string;
  readonly columns: readonly string[];
  readonly keys: 1 | 2;
  readonly linesOf: (row: Row) => readonly (readonly string[])[];
}

const sections: readonly Section[] = [
  {
    title: "Processors",
    columns: ["processor", "what", "found by its instructions"],
    keys: 1,
    linesOf: ({ name, what, facts, impossible, covered, problem }) => {
      const found = facts && `${facts.name}: ${facts.features.join(", ") || "none of those that matter"}`;
      const said = impossible === undefined ? (covered ?? problem) : `impossible: ${impossible}`;
      return [[name, what, [found, said].filter((each) => each !== undefined).join("; ")]];
    },
  },
  {
    title: "Results",
    columns: ["processor", "engine", ...checkNames, "atomic operations"],
    keys: 2,
    linesOf: ({ name, engines = [], atomics }) =>
      engines.map(({ engine, unavailable, checks }, place) => [
        name,
        unavailable === undefined ? engine : `${engine}: ${unavailable}`,
        ...checkNames.map((check) => tallyText(checks[check])),
        place === 0 ? tallyText(atomics) : "",
      ]),
  },
  {
    title: "Forms that are not the first choice",
    columns: ["processor", "engine", "for", "chosen", "reason"],
    keys: 2,
    linesOf: ({ name, engines = [] }) =>
      engines.flatMap(({ engine, choices = [] }) =>
        choices
          .filter(({ chosen, reason }) => chosen === undefined || reason !== undefined)
          .map(({ subject, chosen, reason }) => [name, engine, subject, chosen ?? "refused", reason ?? ""]),
      ),
  },
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

/**
 * The document with new rows between its markers. Lines of processors and engines that did not run stay. `order`: all names of
 * processors. Throws if it has no markers.
 */
export function withTable(document: string, rows: readonly Row[], order: readonly string[]): string {
  const [before, rest] = splitAt(document, startMarker);
  const [old, after] = splitAt(rest, endMarker);
  const tables = sections.map((section) => tableOf(section, old, rows, order));
  return [before, startMarker, "\n\n", tables.join("\n\n"), "\n\n", endMarker, after].join("");
}

function tableOf(
  { title, columns, keys, linesOf }: Section,
  old: string,
  rows: readonly Row[],
  order: readonly string[],
) {
  const heading = `### ${title}`;
  const [, section = ""] = old.split(`${heading}\n`);
  const [own = ""] = section.split("\n### ");
  const kept = own.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith(`| ${columns[0]} |`));
  const lines = order.flatMap((name) => {
    const row = rows.find((each) => each.name === name);
    const fresh = row === undefined ? [] : linesOf(row).map(lineOf);
    const ran = new Set<EngineName | undefined>(row?.engines?.map(({ engine }) => engine));
    const replace = (line: string) => row !== undefined && (keys === 1 || ran.size === 0 || ran.has(engineOf(line)));
    return [...kept.filter((line) => line.startsWith(`| ${name} |`) && !replace(line)), ...fresh].sort(byEngine(keys));
  });
  return [heading, "", lineOf(columns), `|${"---|".repeat(columns.length)}`, ...lines].join("\n");
}

/** The engine in the second cell of a line, before its reason. */
function engineOf(line: string): EngineName | undefined {
  const [, cell = ""] = line.split(" | ");
  const [name] = cell.split(": ");
  return engineNames.find((each) => each === name);
}

/** Engines in the order of the plan. Lines without one stay as they are. */
function byEngine(keys: 1 | 2): (left: string, right: string) => number {
  const place = (line: string) => (keys === 1 ? 0 : engineNames.indexOf(engineOf(line) ?? "ort"));
  return (left, right) => place(left) - place(right);
}

function splitAt(text: string, marker: string): [string, string] {
  const place = text.indexOf(marker);
  if (place === -1) throw new Error(`expected the document to have the line ${marker}, got none`);
  return [text.slice(0, place), text.slice(place + marker.length)];
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
