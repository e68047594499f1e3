/**
 * The report of a benchmark as one page that needs nothing else.
 */
import { basename } from "node:path";
import { elementAt } from "@nnhal/operations";
import { style } from "../conformance-html-style.ts";
import { type Content, page, tag } from "../html.ts";
import { byteText, countText, formatCount } from "../text.ts";
import { barChart, chartStyle, intervalChart, lineChart } from "./charts.ts";
import type { BenchmarkReport, ContestantReport, ModelReport, RatioReport } from "./report.ts";
import {
  costs,
  durationText,
  microseconds,
  notesOf,
  overheadText,
  peakText,
  ratioText,
  timesOf,
  verdictOf,
} from "./report-text.ts";
import { quantile } from "./statistics.ts";

/** The page. `day`: when it was measured. */
export function benchmarkPage(report: BenchmarkReport, day: Date): string {
  const { machine, models, threads, peaks } = report;
  const names = models.map(({ model }) => basename(model)).join(", ");
  const notes = notesOf(report);
  return page(
    `Benchmark of ${names}`,
    style + chartStyle,
    tag(
      "header",
      "",
      tag("p", 'class="kind"', "Neural Networks HAL benchmark"),
      tag("h1", "", names),
      tag(
        "dl",
        "",
        fact("Machine", `${machine.processor}, ${formatCount(machine.processors, "processor")}`),
        fact("System", `${machine.system}, Node.js ${machine.node}`),
        fact("Threads", String(threads)),
        fact("Rounds", [...new Set(models.map(({ rounds }) => rounds))].join(", ")),
        ...peaks.map((peak) => fact("Peak", peakText(peak))),
        fact("Measured on", day.toISOString().slice(0, 10)),
      ),
    ),
    notes.length === 0 ? "" : tag("section", "", tag("h2", "", "Notes"), list("why", notes)),
    ...models.map(sectionOf),
    tag(
      "footer",
      "",
      "Made by nnhal bench. Bars: the least time, and a line to the median. A ratio is the time of the one divided by the time of the other, and is shown only if the outputs of both are those of the reference.",
    ),
  );
}

function sectionOf(model: ModelReport): Content {
  const measured = model.contestants.filter(({ times }) => times !== null);
  const absent = model.contestants.filter(({ problem }) => problem !== null);
  const shown = model.ratios.flatMap((one) => (one.ratio === null ? [] : [{ ...one, ratio: one.ratio }]));
  const refused = model.ratios.filter(({ ratio, reason }) => ratio === null && !reason?.endsWith("has no times"));
  const work = model.multiplyAdds === 0 ? "" : `, ${countText(model.multiplyAdds)} multiply-adds`;
  return tag(
    "section",
    "",
    tag("h2", "", basename(model.model)),
    tag("p", 'class="of"', `${byteText(model.bytes)}${work}, mostly ${model.arithmetic}`),
    model.noReference === null
      ? ""
      : tag("p", 'class="failed"', `There are no reference outputs: ${model.noReference}`),
    measured.length === 0 ? tag("p", "", "Nothing was measured.") : [timesChart(measured), roundsOf(measured)],
    shown.length === 0
      ? ""
      : [
          tag("h3", "", "Ratios"),
          intervalChart(
            "Ratios of times",
            shown.map(({ name, other, ratio }) => ({
              label: `${name} / ${other}`,
              text: ratio.median.toFixed(2),
              low: ratio.low,
              middle: ratio.median,
              high: ratio.high,
            })),
          ),
          table(
            ["", "median (10% to 90% of the rounds)", "of the least times", ""],
            shown.map(({ name, other, ratio }) => [
              `${name} / ${other}`,
              ratioText(ratio),
              ratio.ofMinima.toFixed(2),
              verdictOf(ratio),
            ]),
          ),
        ],
    refused.length === 0 ? "" : list("why", refused.map(refusalText)),
    measured.length === 0 ? "" : tables(model, measured),
    model.overheads.length === 0
      ? ""
      : [
          tag("h3", "", "Overhead above the engine by itself"),
          table(
            ["", "median (10% to 90% of the rounds)", "of the least times"],
            model.overheads.map(({ name, engine, difference }) => [
              `${name} - ${engine}`,
              overheadText(difference),
              microseconds(difference.ofMinima),
            ]),
          ),
        ],
    absent.length === 0
      ? ""
      : [
          tag("h3", "", "Not measured"),
          list(
            "why",
            absent.map(({ name, problem }) => `${name}: ${problem}`),
          ),
        ],
    settings(model.contestants),
  );
}

function timesChart(measured: readonly ContestantReport[]): Content {
  const bars = measured.flatMap(({ name, kind, times: found }) =>
    found === null
      ? []
      : [
          {
            label: name,
            text: durationText(found.min),
            value: found.min,
            most: found.median,
            isOurs: kind === "device",
          },
        ],
  );
  const legend = "A bar ends at the least time, its line at the median.";
  return [tag("h3", "", "Time of a run"), barChart("Time of a run", bars), tag("p", 'class="of"', legend)];
}

function roundsOf(measured: readonly ContestantReport[]): Content {
  const lines = measured.map(({ name, roundTimes }) => ({
    label: name,
    values: roundTimes.map((round) => quantile(round, 0.5)),
  }));
  if (!lines.some(({ values }) => values.length > 1)) return "";
  return [tag("h3", "", "Median of each round"), lineChart("Median of each round", lines, "ms")];
}

function tables(model: ModelReport, measured: readonly ContestantReport[]): Content {
  return [timesOf(model), costs].map(({ title, headings, row }) => [
    tag("h3", "", title),
    table(headings, measured.map(row)),
  ]);
}

function settings(contestants: readonly ContestantReport[]): Content {
  return [
    tag("h3", "", "How each was set up"),
    list(
      "why",
      contestants.flatMap(({ name, version, settings: details }) =>
        version === null ? [] : [`${name}: ${[version, ...details].join("; ")}`],
      ),
    ),
  ];
}

function refusalText({ name, other, reason }: RatioReport): string {
  return `${name} / ${other}: no ratio, since ${reason}`;
}

function fact(name: string, value: string): Content {
  return [tag("dt", "", name), tag("dd", "", value)];
}

function list(kind: string, lines: readonly string[]): Content {
  return tag("ul", `class="${kind}"`, ...lines.map((line) => tag("li", "", line)));
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): Content {
  const head = tag("thead", "", tag("tr", "", ...headings.map((name) => tag("th", 'scope="col"', name))));
  const body = rows.map((cells) =>
    tag("tr", "", tag("th", 'scope="row"', elementAt(cells, 0)), ...cells.slice(1).map((cell) => tag("td", "", cell))),
  );
  return tag("div", 'class="scroll"', tag("table", "", head, tag("tbody", "", ...body)));
}
