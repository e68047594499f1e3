/**
 * The report of `nnhal conformance`, for people and as JSON.
 */

import type { CaseResult, Counts, Summary } from "@nnhal/conformance";
import { elementAt } from "@nnhal/operations";
import { type Capabilities, canonicalHalVersion, type Device, deviceTypeNames, type HalVersion } from "@nnhal/types";
import { columns } from "./text.ts";

/** Results of one suite. */
export interface SuiteReport {
  readonly suite: string;
  /** The HAL version through which the device was driven; undefined: it was driven as it is. */
  readonly hal?: HalVersion;
  /** Subject that the suite counts by: `operation`, `mutation`, `group`. */
  readonly by: string;
  /** The order in which they are shown. Default: by name. */
  readonly order?: readonly string[];
  /** Every result, if there are few enough to list. */
  readonly cases?: readonly CaseResult[];
  /** Remark on the suite that its counts do not show. */
  readonly note?: string;
  readonly summary: Summary;
}

/** Facts of the device itself in a report. */
export interface DeviceFacts {
  /** As the user named it. */
  readonly named: string;
  readonly name: string;
  readonly type: string;
  readonly version: string;
  readonly halVersion: HalVersion;
  readonly capabilities: Capabilities;
}

/** Asks a device about itself. */
export function deviceFacts(named: string, device: Device): DeviceFacts {
  const { type } = device.getType();
  return {
    named,
    name: device.name,
    type: deviceTypeNames.get(type) ?? "UNKNOWN",
    version: device.getVersionString().version,
    halVersion: device.halVersion ?? canonicalHalVersion,
    capabilities: device.getCapabilities().capabilities,
  };
}

/** Numbers of cases, as JSON has them. */
interface CountsJson extends Counts {
  readonly total: number;
}

/** Output of `--json`. */
export interface ConformanceJson extends CountsJson {
  /** As the user named it. */
  readonly device: string;
  readonly suites: readonly SuiteJson[];
}

/** By operation, then by the name of the type. `worst` is null if no results were compared. */
export type PrecisionJson = Readonly<
  Record<string, Readonly<Record<string, CountsJson & { readonly worst: number | null }>>>
>;

interface SuiteJson extends CountsJson {
  readonly suite: string;
  /** The HAL version through which the device was driven; null: it was driven as it is. */
  readonly hal: HalVersion | null;
  /** Kind of `subjects`: `operation`, `mutation`, `group`. */
  readonly by: string;
  readonly subjects: Readonly<Record<string, CountsJson>>;
  /** Of suites of examples: the counts by operation and type of the result, and the greatest error in parts of the allowance. */
  readonly precision?: PrecisionJson;
  /** Why cases were skipped or unsupported, and how many each. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
  /** Every case, of suites that need no vectors. */
  readonly cases?: readonly CaseResult[];
}

export const verdicts = ["passed", "failed", "unsupported", "skipped"] as const satisfies readonly (keyof Counts)[];

function countsJson(counts: Counts): CountsJson {
  const { passed, failed, unsupported, skipped } = counts;
  return { passed, failed, unsupported, skipped, total: passed + failed + unsupported + skipped };
}

/** The sum of several counts. */
export function sumOf(all: readonly Counts[]): CountsJson {
  const sum = { passed: 0, failed: 0, unsupported: 0, skipped: 0 };
  for (const counts of all) for (const verdict of verdicts) sum[verdict] += counts[verdict];
  return countsJson(sum);
}

/** The report as JSON. */
export function toJson(device: string, reports: readonly SuiteReport[]): ConformanceJson {
  const suites = reports.map((report) => ({
    suite: report.suite,
    hal: report.hal ?? null,
    by: report.by,
    ...countsJson(report.summary),
    subjects: Object.fromEntries(subjectsOf(report).map(([subject, counts]) => [subject, countsJson(counts)])),
    ...(report.summary.byType.size > 0 && { precision: precisionJson(report.summary) }),
    reasons: Object.fromEntries(report.summary.reasons),
    failures: report.summary.failures,
    ...(report.cases && { cases: report.cases }),
  }));
  return { device, ...sumOf(reports.map(({ summary }) => summary)), suites };
}

function precisionJson({ byType }: Summary): PrecisionJson {
  const rows = [...byType].map(([subject, types]): [string, PrecisionJson[string]] => [
    subject,
    Object.fromEntries(
      [...types].map(([type, { worst = null, ...counts }]) => [type, { ...countsJson(counts), worst }]),
    ),
  ]);
  return Object.fromEntries(rows);
}

/** The subjects of a suite with their counts, in the order in which they are shown. */
export function subjectsOf({ order, summary }: SuiteReport): (readonly [string, Counts])[] {
  const place = (subject: string) => order?.indexOf(subject) ?? 0;
  return [...summary.bySubject].sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1));
}

/** Warning for a suite of which the device ran less than 1 %: it proves little. */
export function unproven(by: string, { passed, failed, unsupported }: Counts): string | undefined {
  const run = passed + failed;
  if (by !== "operation" || 100 * run >= run + unsupported) return undefined;
  return `Little was proven: the device ran ${run} of ${run + unsupported} examples, and supported no others.`;
}

/** The most reasons in the text for cases that did not run. */
const mostReasons = 20;

/**
 * The report as text: for each suite a table, the failed cases, and the reasons of cases that did not run; the sum in
 * the last line.
 */
export function formatReport(device: string, reports: readonly SuiteReport[]): string {
  const lines = reports.flatMap((report) => [...formatSuite(report), ""]);
  return `${[...lines, `${device}: ${sentence(sumOf(reports.map(({ summary }) => summary)))}`].join("\n")}\n`;
}

function formatSuite(report: SuiteReport): string[] {
  const { by, note, summary } = report;
  const rows = [...subjectsOf(report), ["total", summary] as const].map(([subject, counts]) => [
    subject,
    ...verdicts.map((verdict) => String(counts[verdict])),
  ]);
  const cells = [[by, ...verdicts], ...rows];
  const widths = elementAt(cells, 0).map((_, place) => Math.max(...cells.map((row) => elementAt(row, place).length)));
  const table = columns(
    cells.map((row) => row.map((cell, place) => (place === 0 ? cell : cell.padStart(elementAt(widths, place))))),
  );
  return [
    `Suite ${titleOf(report)}`,
    ...table,
    ...reasonLines(summary),
    ...(note === undefined ? [] : [note]),
    ...(report.cases ?? []).flatMap(({ name, measured }) =>
      measured ? [`MEASURED ${name}`, `         ${measured}`] : [],
    ),
    ...failureLines(summary),
  ];
}

/** The most failed cases of a suite that the text names for one reason, and the most reasons. */
const mostFailures = { sameReason: 10, reasons: 50 } as const;

/** The failed cases with their reasons. A driver that is wrong in one point can fail thousands for the same reason. */
function failureLines({ failures }: Summary): string[] {
  const byReason = new Map<string, string[]>();
  for (const { name, reason } of failures) {
    const names = byReason.get(reason);
    if (names === undefined) byReason.set(reason, [name]);
    else names.push(name);
  }
  const shown = [...byReason].slice(0, mostFailures.reasons);
  const lines = shown.flatMap(([reason, names]) => {
    const named = names.slice(0, mostFailures.sameReason);
    const more = names.length - named.length;
    return [
      ...named.map((name) => `FAILED ${name}`),
      ...(more > 0 ? [`FAILED ${more} more for the same reason`] : []),
      `       ${reason}`,
    ];
  });
  const left = failures.length - shown.reduce((sum, [, names]) => sum + names.length, 0);
  return left > 0 ? [...lines, `FAILED ${left} more for other reasons: --json and --html name all`] : lines;
}

/** A suite by its name, with its HAL version if it has one. */
export function titleOf({ suite, hal }: SuiteReport): string {
  return hal === undefined ? suite : `${suite} (HAL ${hal})`;
}

function reasonLines({ reasons }: Summary): string[] {
  if (reasons.size === 0) return [];
  const byCount = [...reasons].sort(([, a], [, b]) => b - a);
  const lines = byCount.slice(0, mostReasons).map(([reason, count]) => `${String(count).padStart(8)}  ${reason}`);
  const more = byCount.length - lines.length;
  return ["Not run:", ...lines, ...(more > 0 ? [`          and ${more} more reasons`] : [])];
}

/** Counts in words. */
export function sentence(counts: CountsJson): string {
  return `${verdicts.map((verdict) => `${counts[verdict]} ${verdict}`).join(", ")} of ${counts.total}`;
}
