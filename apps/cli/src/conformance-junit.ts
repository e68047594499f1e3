/**
 * The report of `nnhal conformance` as JUnit XML, which systems of continuous integration read.
 */
import type { CaseResult } from "@nnhal/conformance";
import { type SuiteReport, titleOf } from "./conformance-report.ts";

/**
 * The report as XML: a test suite for each suite, a test case for each case, or for each failed one and each count by subject if the
 * suite does not list its cases. Unsupported and skipped cases are skipped ones.
 */
export function junitReport(device: string, reports: readonly SuiteReport[]): string {
  const suites = reports.map((report) => suiteOf(device, report));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name=${quote(`conformance of ${device}`)}>\n${suites.join("")}</testsuites>\n`;
}

function suiteOf(device: string, report: SuiteReport): string {
  const { summary, cases } = report;
  const skipped = summary.unsupported + summary.skipped;
  const name = titleOf(report);
  const items = cases === undefined ? countedCases(report) : cases;
  const lines = items.map((one) => caseOf(`${device}.${name}`, one));
  return `  <testsuite name=${quote(name)} tests="${items.length}" failures="${summary.failed}" errors="0" skipped=${quote(String(cases === undefined ? 0 : skipped))}>\n${lines.join("")}  </testsuite>\n`;
}

/** Suites of very many cases: one case for each subject without a failure, and each failure. */
function countedCases({ summary }: SuiteReport): CaseResult[] {
  const passed = [...summary.bySubject].flatMap(([subject, counts]): CaseResult[] =>
    counts.failed > 0 || counts.passed === 0
      ? []
      : [{ name: `${subject}: ${counts.passed} passed`, subject, verdict: "passed" }],
  );
  const failed = summary.failures.map(
    ({ name, reason }): CaseResult => ({ name, subject: name, verdict: "failed", reason }),
  );
  return [...passed, ...failed];
}

function caseOf(classname: string, { name, verdict, reason = "" }: CaseResult): string {
  const start = `    <testcase classname=${quote(classname)} name=${quote(name)}`;
  switch (verdict) {
    case "passed":
      return `${start}/>\n`;
    case "failed":
      return `${start}><failure message=${quote(reason.split("\n", 1)[0] ?? "")}>${escapeXml(reason)}</failure></testcase>\n`;
    default:
      return `${start}><skipped message=${quote(`${verdict}: ${reason}`)}/></testcase>\n`;
  }
}

function quote(text: string): string {
  return `"${escapeXml(text).replaceAll("\n", "&#10;")}"`;
}

/** Characters that XML does not have become �. */
function escapeXml(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 does not allow.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
  );
}
