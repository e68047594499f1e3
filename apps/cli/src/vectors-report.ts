/**
 * The report of `nnhal vectors`, for people and as JSON.
 */
import type { Summary } from "@nnhal/conformance";
import type { HalVersion } from "@nnhal/types";

/** Output of `--json`. */
export interface VectorsJson {
  /** As the user named it. */
  readonly device: string;
  /** The HAL version that the device was driven through; absent: as it is. */
  readonly hal?: HalVersion;
  readonly passed: number;
  readonly failed: number;
  readonly unsupported: number;
  readonly skipped: number;
  readonly total: number;
  readonly byOperation: Readonly<Record<string, { passed: number; failed: number; unsupported: number }>>;
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
}

/** The report as JSON. */
export function toJson(device: string, hal: HalVersion | undefined, summary: Summary): VectorsJson {
  const { passed, failed, unsupported, skipped, total, failures } = summary;
  const byOperation = Object.fromEntries(
    operationsOf(summary).map(([name, counts]) => [
      name,
      { passed: counts.passed, failed: counts.failed, unsupported: counts.unsupported },
    ]),
  );
  const counts = { passed, failed, unsupported, skipped, total };
  return { device, ...(hal !== undefined && { hal }), ...counts, byOperation, failures };
}

const columns = ["passed", "failed", "unsupported", "skipped"] as const;

/** The most reasons in the text for cases that did not run. */
const mostReasons = 20;

/**
 * The report as text: a table of operations, the reasons for cases that did not run, the failed cases, and the sum in
 * the last line.
 */
export function formatReport(device: string, summary: Summary): string {
  const operations = operationsOf(summary);
  const width = Math.max("operation".length, ...operations.map(([name]) => name.length));
  const row = (name: string, cells: readonly (string | number)[]) =>
    [name.padEnd(width), ...cells.map((cell) => String(cell).padStart(11))].join("  ");
  const countRow = (name: string, counts: Readonly<Record<(typeof columns)[number], number>>) =>
    row(
      name,
      columns.map((column) => counts[column]),
    );
  const sections = [
    [
      row("operation", columns),
      ...operations.map(([name, counts]) => countRow(name, counts)),
      countRow("total", summary),
    ],
    reasonLines(summary),
    summary.failures.flatMap(({ name, reason }) => [`FAILED ${name}`, `       ${reason}`]),
    [`${device}: ${columns.map((column) => `${summary[column]} ${column}`).join(", ")} of ${summary.total}`],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

function reasonLines({ reasons }: Summary): string[] {
  if (reasons.size === 0) return [];
  const byCount = [...reasons].sort(([, a], [, b]) => b - a);
  const lines = byCount.slice(0, mostReasons).map(([reason, count]) => `${String(count).padStart(7)}  ${reason}`);
  const more = byCount.length - lines.length;
  return ["Not run:", ...lines, ...(more > 0 ? [`         and ${more} more reasons`] : [])];
}

function operationsOf({ bySubject }: Summary) {
  return [...bySubject].sort(([a], [b]) => (a < b ? -1 : 1));
}
