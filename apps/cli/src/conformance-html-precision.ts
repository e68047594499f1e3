/**
 * Precision of a device, as a picture: a table of operations by types, each cell a bar of the greatest error in parts of what is
 * allowed. Beside it a mark of an earlier run.
 */
import type { Precision } from "@nnhal/conformance";
import { type OperandTypeName, operandTypes } from "@nnhal/types";
import { type ConformanceJson, type SuiteReport, titleOf } from "./conformance-report.ts";
import { type Content, tag } from "./html.ts";

/** The picture of a bar: its parts are in units of its own. The line of what is allowed is at `allowed`. */
const [width, height, allowed] = [100, 10, 80];

/** Text loses the spaces around it. */
const space = { html: " " };

/** Changes smaller than this part of the allowance are not marked. */
const leastChange = 0.02;

/** The table of a suite of examples; nothing for other suites. */
export function precisionOf(report: SuiteReport, earlier: ConformanceJson | undefined): Content {
  const { byType } = report.summary;
  if (byType.size === 0) return "";
  const before = earlier?.suites.find(({ suite, hal }) => suite === report.suite && hal === (report.hal ?? null));
  const present = new Set([...byType.values()].flatMap((types) => [...types.keys()]));
  const columns = Object.keys(operandTypes)
    .filter(isType)
    .filter((type) => present.has(type))
    .sort((one, other) => Number(isScalar(one)) - Number(isScalar(other)));
  const rows = [...byType]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([operation, types]) =>
      tag(
        "tr",
        "",
        tag("th", 'scope="row"', operation),
        ...columns.map((type) => cellOf(types.get(type), before?.precision?.[operation]?.[type]?.worst)),
      ),
    );
  const heads = ["", ...columns.map(shortName)].map((name) => tag("th", 'scope="col"', name));
  return tag(
    "details",
    'class="precision" open',
    tag("summary", "", tag("span", 'class="name"', "How exact, by operation and type of the result")),
    tag("p", 'class="legend"', ...legend(titleOf(report), before !== undefined)),
    tag(
      "div",
      'class="scroll"',
      tag("table", "", tag("thead", "", tag("tr", "", ...heads)), tag("tbody", "", ...rows)),
    ),
  );
}

function isType(name: string): name is OperandTypeName {
  return Object.hasOwn(operandTypes, name);
}

function isScalar(type: OperandTypeName): boolean {
  return !type.startsWith("TENSOR_");
}

/** `TENSOR_QUANT8_ASYMM_SIGNED` as `quant8 asymm signed`, `INT32` as `int32 scalar`. */
function shortName(type: OperandTypeName): string {
  const words = type.replace("TENSOR_", "").replaceAll("_", " ").toLowerCase();
  return isScalar(type) ? `${words} scalar` : words;
}

function legend(suite: string, hasEarlier: boolean): Content[] {
  return [
    `Of the examples of ${suite}: how many were tried, and the greatest error in parts of what is allowed.`,
    space,
    picture("passed", 0.5, undefined),
    space,
    "half of it, where the line is all of it;",
    space,
    picture("failed", 3, undefined),
    space,
    "more than that; = exactly as expected; – not supported.",
    ...(hasEarlier ? [space, "▲ worse and ▼ better than in the earlier run, whose error is the thin mark."] : []),
  ];
}

function cellOf(precision: Precision | undefined, before: number | null | undefined): Content {
  if (precision === undefined) return tag("td", "", "");
  const { passed, failed, unsupported, worst } = precision;
  const tried = passed + failed;
  if (tried === 0) return tag("td", `class="none" title="${unsupported} examples, none supported"`, "–");
  const verdict = failed > 0 ? "failed" : "passed";
  const old = before ?? undefined;
  const change = worst === undefined || old === undefined ? 0 : worst - old;
  const sign = Math.abs(change) < leastChange ? "" : change > 0 ? "▲" : "▼";
  const said = [
    `${tried} tried, ${failed} failed${unsupported > 0 ? `, ${unsupported} not supported` : ""}`,
    ...(worst === undefined ? ["no results compared"] : [`greatest error ${partOf(worst)} of what is allowed`]),
    ...(old === undefined ? [] : [`before ${partOf(old)}`]),
  ];
  return tag(
    "td",
    `title="${said.join("; ")}"`,
    picture(verdict, worst ?? 0, sign === "" ? undefined : old),
    tag(
      "span",
      `class="${verdict}"`,
      `${tried} · ${failed > 0 ? `${failed} ✗ ` : ""}${worst === undefined ? "" : worst === 0 ? "=" : partOf(worst)}`,
      ...(sign === "" ? [] : [tag("b", `class="change ${change > 0 ? "worse" : "better"}"`, sign)]),
    ),
  );
}

/** A part in words: `3 %`, `×12`, and `×∞` for what is beyond all measure. */
function partOf(error: number): string {
  if (error >= 1e9) return "×∞";
  if (error > 1) return `×${error.toLocaleString("en-US", { maximumSignificantDigits: 2 })}`;
  const percent = error * 100;
  return `${percent > 0 && percent < 1 ? "<1" : Math.round(percent)} %`;
}

/** Where an error ends in the picture: up to what is allowed in proportion, beyond it by its logarithm. */
function lengthOf(error: number): number {
  if (error <= 1) return error * allowed;
  return Math.min(width, allowed + Math.log10(error) * 7 + 3);
}

function picture(verdict: "passed" | "failed", error: number, before: number | undefined): Content {
  const bar = `<rect class="${verdict}" width="${lengthOf(error).toFixed(1)}" height="${height}" rx="1.5"/>`;
  const mark =
    before === undefined
      ? ""
      : `<rect class="before" x="${Math.max(0, lengthOf(before) - 1).toFixed(1)}" width="2" height="${height}"/>`;
  return {
    html:
      `<svg class="error" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">` +
      `<rect class="room" width="${width}" height="${height}" rx="1.5"/>${bar}<rect class="limit" x="${allowed}" width="1" height="${height}"/>${mark}</svg>`,
  };
}
