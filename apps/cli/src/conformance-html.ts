/**
 * The report of `nnhal conformance` as one page that needs nothing else: no scripts, no fonts, no pictures from elsewhere.
 */
import type { CaseResult, Counts, Verdict } from "@nnhal/conformance";
import { operandTypeNames, type PerformanceInfo } from "@nnhal/types";
import type { Change } from "./conformance-against.ts";
import { badgeOf } from "./conformance-badge.ts";
import { precisionOf } from "./conformance-html-precision.ts";
import { style } from "./conformance-html-style.ts";
import {
  type ConformanceJson,
  type DeviceFacts,
  type SuiteReport,
  subjectsOf,
  sumOf,
  titleOf,
  verdicts,
} from "./conformance-report.ts";
import { type Content, page, tag } from "./html.ts";

/** Text loses the spaces around it. */
const space = { html: " " };

/** Sign before a case, beside the word. */
const signs: Readonly<Record<Verdict, string>> = { passed: "✓", failed: "✗", unsupported: "–", skipped: "·" };

/** An earlier run to show beside this one. */
export interface EarlierRun {
  /** The file of its report. */
  readonly path: string;
  readonly report: ConformanceJson;
  readonly changes: readonly Change[];
}

/** The page. `day`: when the suites were run. */
export function htmlReport(
  facts: DeviceFacts,
  reports: readonly SuiteReport[],
  day: Date,
  earlier?: EarlierRun,
): string {
  const sum = sumOf(reports.map(({ summary }) => summary));
  const title = `Conformance of ${facts.name}`;
  return page(
    title,
    style,
    headerOf(facts, sum, day),
    summaryOf(reports),
    changesOf(earlier),
    failuresOf(reports),
    ...reports.map((report) => suiteOf(report, earlier)),
    capabilitiesOf(facts),
    tag(
      "footer",
      "",
      "Made by nnhal conformance. A case is unsupported if it needs something that the device, or the HAL version that it is driven through, need not have; it is skipped if the suite left it out.",
    ),
  );
}

function headerOf(facts: DeviceFacts, sum: Counts & { readonly total: number }, day: Date): Content {
  const isRight = sum.failed === 0;
  const verdict = isRight
    ? sum.passed > 0
      ? "No case failed"
      : "Nothing was proven"
    : `${count(sum.failed)} of ${count(sum.total)} cases failed`;
  const row = (name: string, value: string) => [tag("dt", "", name), tag("dd", "", value || "none")];
  return tag(
    "header",
    "",
    tag("p", 'class="kind"', "Neural Networks HAL conformance"),
    tag("h1", "", facts.name),
    tag("p", `class="verdict ${isRight && sum.passed > 0 ? "passed" : isRight ? "unsupported" : "failed"}"`, verdict),
    tag("p", "", { html: badgeOf(facts.halVersion, sum) }),
    tiles(sum),
    bar(sum),
    tag(
      "dl",
      "",
      row("Version", facts.version),
      row("Type", facts.type),
      row("HAL version", facts.halVersion),
      row("Run on", day.toISOString().slice(0, 10)),
    ),
  );
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function tiles(sum: Counts): Content {
  const tile = (verdict: Verdict) =>
    tag(
      "li",
      `class="${verdict}${sum[verdict] === 0 ? " none" : ""}"`,
      tag("b", "", count(sum[verdict])),
      tag("span", "", verdict),
    );
  return tag("ul", 'class="tiles"', ...verdicts.map(tile));
}

/** Sizes of the parts, as a picture; the numbers stand beside it. */
function bar(counts: Counts): Content {
  const total = sumOf([counts]).total;
  const part = (verdict: Verdict) =>
    counts[verdict] === 0
      ? ""
      : tag("i", `class="${verdict}" style="flex-grow:${counts[verdict] / Math.max(1, total)}"`, "");
  return tag("div", 'class="bar" aria-hidden="true"', ...verdicts.map(part));
}

function anchorOf(report: SuiteReport): string {
  return `suite-${titleOf(report).replace(/[^a-z0-9]+/gi, "-")}`;
}

function summaryOf(reports: readonly SuiteReport[]): Content {
  // On a telephone there is no room for columns of zeros.
  const shown = verdicts.filter(
    (verdict) => verdict === "passed" || verdict === "failed" || reports.some(({ summary }) => summary[verdict] > 0),
  );
  const cells = (counts: Counts) =>
    shown.map((verdict) => tag("td", `class="${counts[verdict] === 0 ? "none" : verdict}"`, count(counts[verdict])));
  const rows = reports.map((report) =>
    tag(
      "tr",
      "",
      tag("th", 'scope="row"', tag("a", `href="#${anchorOf(report)}"`, titleOf(report))),
      ...cells(report.summary),
      tag("td", 'class="wide"', bar(report.summary)),
    ),
  );
  const heads = ["Suite", ...shown].map((name) => tag("th", 'scope="col"', name));
  const head = tag("thead", "", tag("tr", "", ...heads, tag("td", 'class="wide"', "")));
  return tag(
    "section",
    "",
    tag("h2", "", "Suites"),
    tag("div", 'class="scroll"', tag("table", "", head, tag("tbody", "", ...rows))),
  );
}

/** The failed cases by name, each a way to its message. */
function failuresOf(reports: readonly SuiteReport[]): Content {
  const failures = reports.flatMap((report) =>
    report.summary.failures.map(({ name }, index) => {
      const link = tag("a", `href="#${anchorOf(report)}-${index}"`, name);
      return tag("li", "", tag("span", 'class="of"', titleOf(report)), space, link);
    }),
  );
  if (failures.length === 0) return "";
  return tag("section", "", tag("h2", "", "What failed"), tag("ul", 'class="why"', ...failures));
}

/** Changes since an earlier run: the worse ones first. */
function changesOf(earlier: EarlierRun | undefined): Content {
  if (earlier === undefined) return "";
  const kinds = ["worse", "better", "other"] as const;
  const words = { worse: "worse", better: "better", other: "other" };
  const items = kinds.flatMap((kind) =>
    earlier.changes
      .filter((change) => change.kind === kind)
      .map(({ says }) => tag("li", "", tag("span", `class="change ${kind}"`, words[kind]), space, says)),
  );
  return tag(
    "section",
    "",
    tag("h2", "", `Against ${earlier.path}`),
    items.length === 0 ? tag("p", "", "Nothing has changed.") : tag("ul", 'class="why"', ...items),
  );
}

function suiteOf(report: SuiteReport, earlier: EarlierRun | undefined): Content {
  const { summary, cases, note } = report;
  return tag(
    "section",
    `id="${anchorOf(report)}"`,
    tag("h2", "", titleOf(report), space, tag("small", "", badges(summary))),
    ...(note === undefined ? [] : [tag("p", "", note)]),
    precisionOf(report, earlier?.report),
    ...(cases === undefined ? subjectsOnly(report) : groupsOf(report, cases)),
  );
}

function badges(counts: Counts): Content[] {
  return verdicts
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => tag("span", `class="badge ${verdict}"`, `${count(counts[verdict])} ${verdict}`));
}

/** Each group of cases, those with failures open and in front. */
function groupsOf(report: SuiteReport, cases: readonly CaseResult[]): Content[] {
  const failed = cases.filter(({ verdict }) => verdict === "failed");
  const others = cases.filter(({ verdict }) => verdict !== "failed");
  return subjectsOf(report).map(([subject, counts]) => {
    const items = [...failed, ...others]
      .filter((one) => one.subject === subject)
      .map((one) => caseOf(one, one.verdict === "failed" ? `${anchorOf(report)}-${failed.indexOf(one)}` : undefined));
    return tag(
      "details",
      counts.failed > 0 ? "open" : "",
      tag("summary", "", tag("span", 'class="name"', subject), badges(counts)),
      tag("ul", 'class="cases"', ...items),
    );
  });
}

function caseOf({ name, subject, verdict, reason, measured }: CaseResult, anchor: string | undefined): Content {
  const shown = name.startsWith(`${subject}: `) ? name.slice(subject.length + 2) : name;
  const message = [reason, measured].flatMap((text) => (text === undefined ? [] : [tag("p", 'class="reason"', text)]));
  const mark = tag("span", 'class="mark"', tag("i", 'aria-hidden="true"', signs[verdict]), tag("span", "", verdict));
  const id = anchor === undefined ? "" : ` id="${anchor}"`;
  return tag("li", `class="${verdict}"${id}`, mark, tag("div", "", tag("span", "", shown), ...message));
}

/** Suites of very many cases: counts by subject, the failed cases, and the reasons of those that did not run. */
function subjectsOnly(report: SuiteReport): Content[] {
  const { failures, reasons } = report.summary;
  const failed = failures.map(({ name, reason }, index) =>
    caseOf({ name, subject: "", verdict: "failed", reason }, `${anchorOf(report)}-${index}`),
  );
  const rows = subjectsOf(report).map(([subject, counts]) =>
    tag("li", "", tag("span", 'class="name"', subject), badges(counts)),
  );
  const why = [...reasons]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, number]) => tag("li", "", tag("b", "", count(number)), space, reason));
  return [
    ...(failed.length === 0 ? [] : [tag("ul", 'class="cases"', ...failed)]),
    tag(
      "details",
      "",
      tag("summary", "", tag("span", 'class="name"', `By ${report.by}`)),
      tag("ul", 'class="subjects"', ...rows),
    ),
    ...(why.length === 0
      ? []
      : [
          tag(
            "details",
            "",
            tag("summary", "", tag("span", 'class="name"', "Not run, and why")),
            tag("ul", 'class="why"', ...why),
          ),
        ]),
  ];
}

function capabilitiesOf({ capabilities }: DeviceFacts): Content {
  const {
    relaxedFloat32toFloat16PerformanceScalar: scalar,
    relaxedFloat32toFloat16PerformanceTensor: tensor,
    operandPerformance,
    ifPerformance,
    whilePerformance,
  } = capabilities;
  const row = (name: string, { execTime, powerUsage }: PerformanceInfo) =>
    tag("tr", "", tag("th", 'scope="row"', name), tag("td", "", number(execTime)), tag("td", "", number(powerUsage)));
  return tag(
    "section",
    "",
    tag("h2", "", "Capabilities"),
    tag("p", "", "Time and power of an execution beside those of the CPU, which are 1. Less is better."),
    tag(
      "details",
      "",
      tag(
        "summary",
        "",
        tag("span", 'class="name"', `${operandPerformance.length} operand types, IF and WHILE, relaxed float32`),
      ),
      tag(
        "div",
        'class="scroll"',
        tag(
          "table",
          "",
          tag(
            "thead",
            "",
            tag("tr", "", ...["Operations on", "execTime", "powerUsage"].map((name) => tag("th", 'scope="col"', name))),
          ),
          tag(
            "tbody",
            "",
            ...operandPerformance.map(({ type, info }) => row(operandTypeNames.get(type) ?? `type ${type}`, info)),
            row("relaxed FLOAT32", scalar),
            row("relaxed TENSOR_FLOAT32", tensor),
            row("IF", ifPerformance),
            row("WHILE", whilePerformance),
          ),
        ),
      ),
    ),
  );
}

/** A ratio with about three digits; ∞ if it is extremely large. */
function number(ratio: number): string {
  if (ratio > 1e30) return "∞";
  return String(Number(ratio.toPrecision(3)));
}
