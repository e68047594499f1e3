/**
 * The report of `nnhal vectors`, for people and as JSON.
 */
import type { Summary } from "@nnhal/conformance";

/** What `--json` prints. */
export interface VectorsJson {
  readonly device: string;
  readonly passed: number;
  readonly failed: number;
  readonly unsupported: number;
  readonly skipped: number;
  readonly total: number;
  readonly byOperation: Readonly<Record<string, { passed: number; failed: number; unsupported: number }>>;
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
}

/** The report as JSON. */
export function toJson(device: string, summary: Summary): VectorsJson {
  const { passed, failed, unsupported, skipped, total, failures } = summary;
  const byOperation = Object.fromEntries(
    sorted(summary).map(([name, counts]) => [
      name,
      { passed: counts.passed, failed: counts.failed, unsupported: counts.unsupported },
    ]),
  );
  return { device, passed, failed, unsupported, skipped, total, byOperation, failures };
}

const columns = ["passed", "failed", "unsupported", "skipped"] as const;

/** The report as a table of operations, the failures below it and the total last. */
export function formatReport(device: string, summary: Summary): string {
  const operations = sorted(summary);
  const width = Math.max(...operations.map(([name]) => name.length), "operation".length);
  const row = (name: string, cells: readonly (string | number)[]) =>
    [name.padEnd(width), ...cells.map((cell) => String(cell).padStart(11))].join("  ");
  const lines = [
    row("operation", columns),
    ...operations.map(([name, counts]) =>
      row(
        name,
        columns.map((column) => counts[column]),
      ),
    ),
    row(
      "total",
      columns.map((column) => summary[column]),
    ),
  ];
  const failures = summary.failures.map(({ name, reason }) => `FAILED ${name}\n       ${reason}`);
  const verdict = `${device}: ${columns.map((column) => `${summary[column]} ${column}`).join(", ")} of ${summary.total}`;
  return `${[...lines, "", ...failures, verdict].join("\n")}\n`;
}

function sorted({ bySubject }: Summary) {
  return [...bySubject].sort(([a], [b]) => (a < b ? -1 : 1));
}
