/**
 * A report of the command line: its outcome, its facts, and its tables.
 */
import { h } from "preact";
import { countText } from "../text.ts";
import type { ReportCell, ReportTable, ReportView } from "./report.ts";
import { report } from "./store.ts";

const titles: Readonly<Record<ReportView["kind"], string>> = {
  conformance: "Conformance of a device",
  bench: "A benchmark",
  explain: "The plan of a network",
  diff: "A comparison",
};

/** The part of the page that shows a report. */
export function ReportPanel() {
  const now = report.value;
  if (now === undefined) return null;
  const { kind, verdict, facts, tables } = now.view;
  return h(
    "main",
    { class: "cards wide" },
    h(
      "section",
      { class: "card" },
      h("h2", null, titles[kind], h("small", null, now.name)),
      verdict !== undefined && h("p", { class: `verdict ${verdict.isGood ? "passed" : "failed"}` }, verdict.text),
      h(
        "dl",
        null,
        facts.map(([name, text]) => [h("dt", { key: name }, name), h("dd", { key: `${name} text` }, text)]),
      ),
    ),
    tables.map((table, place) => h(TableCard, { key: place, table })),
  );
}

/** Columns that fit beside each other on a narrow screen. The cells of others are below each other there. */
const MOST_NARROW = 3;

function TableCard({ table: { title, columns, rows, more } }: { readonly table: ReportTable }) {
  return h(
    "section",
    { class: "card" },
    h("h2", null, title),
    h(
      "div",
      { class: columns.length > MOST_NARROW ? "scroll stack" : "scroll" },
      h(
        "table",
        { "aria-label": title },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            columns.map((name, place) => h("th", { key: place }, name)),
          ),
        ),
        h(
          "tbody",
          null,
          rows.map((cells, row) =>
            h(
              "tr",
              { key: row },
              cells.map((cell, place) => h(Cell, { key: place, cell, label: columns[place] ?? "" })),
            ),
          ),
        ),
      ),
    ),
    more > 0 && h("p", { class: "soft" }, `${countText(more)} more rows are in the file.`),
  );
}

/** Letters of a text that may take several lines. */
const LONG = 40;

function Cell({ cell, label }: { readonly cell: ReportCell; readonly label: string }) {
  if (typeof cell === "string")
    return h("td", { class: cell.length > LONG ? "long" : undefined, "data-label": label }, cell);
  const { text, part, tone } = cell;
  return h(
    "td",
    { class: tone, "data-label": label },
    part !== undefined && h("meter", { min: 0, max: 1, value: part, "aria-label": text }),
    text,
  );
}
