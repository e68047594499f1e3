/**
 * The report of `nnhal diff` as one page that needs nothing else: the error along the network, its graph, and for the operations that differ
 * most both tensors as histograms and the values around the worst element.
 */
import { basename } from "node:path";
import {
  type DiffReport,
  type OnOperation,
  type ReportedDifference,
  type ReportedOperation,
  realValuesOf,
} from "@nnhal/diff";
import { numberText, shareText } from "@nnhal/diff/text";
import { elementAt } from "@nnhal/operations";
import type { Model } from "@nnhal/types";
import { type DrawnEdge, drawGraphs } from "@nnhal/utils/graph";
import { chartStyle, lineChart } from "../bench/charts.ts";
import { style } from "../conformance-html-style.ts";
import { type Content, page, tag } from "../html.ts";
import { plain } from "../text.ts";
import { largestText } from "./report.ts";

/** Values of an output that differs, as the page shows them. */
export interface ShownOutput {
  readonly operation: number;
  readonly histogram: Histogram;
  /** The elements around the worst one in memory order, in real numbers. */
  readonly around: readonly { readonly element: number; readonly expected: number; readonly actual: number }[];
}

/** Counts of both tensors in intervals of one length. */
export interface Histogram {
  readonly least: number;
  readonly greatest: number;
  readonly expected: readonly number[];
  readonly actual: readonly number[];
}

const INTERVALS = 32;
/** Elements before and after the worst one. */
const NEIGHBOURS = 4;
/** Operations whose values are kept: those with the greatest part of their allowance. */
const MOST_SHOWN = 40;

/** A collector of the values of the operations that differ most. */
export interface ValueCollector {
  readonly take: OnOperation;
  readonly listShown: () => readonly ShownOutput[];
}

/** Makes a collector. It keeps counts and a few elements, no tensors. */
export function createValueCollector(): ValueCollector {
  const kept: { readonly excess: number; readonly shown: ShownOutput }[] = [];
  const take: OnOperation = (operation, { runs, tensors }) => {
    const differs = operation.outputs.findIndex(({ alone }) => alone !== undefined && alone.differing > 0);
    const [run] = runs;
    const [alone, tensor] = [operation.outputs[differs]?.alone, tensors[differs]];
    if (run === undefined || alone === undefined || tensor === undefined || alone.otherShape !== undefined) return;
    const [expected, actual] = [run.expected, run.actual].map((all) => realValuesOf(tensor, elementAt(all, differs)));
    if (expected === undefined || actual === undefined) return;
    kept.push({ excess: operation.excess, shown: { operation: operation.index, ...valuesOf(expected, actual) } });
    kept.sort((a, b) => b.excess - a.excess);
    kept.splice(MOST_SHOWN);
  };
  return { take, listShown: () => kept.map(({ shown }) => shown) };
}

/** The histogram of both tensors, and the values around the element that differs most. */
function valuesOf(expected: ArrayLike<number>, actual: ArrayLike<number>): Pick<ShownOutput, "histogram" | "around"> {
  let [least, greatest, worst, furthest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -1];
  for (let index = 0; index < expected.length; index++) {
    for (const value of [elementAt(expected, index), elementAt(actual, index)]) {
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
    const distance = Math.abs(elementAt(expected, index) - elementAt(actual, index));
    // NaN on one side is further than any number.
    const far =
      Number.isNaN(distance) && !Object.is(expected[index], actual[index]) ? Number.POSITIVE_INFINITY : distance;
    if (far > furthest) [furthest, worst] = [far, index];
  }
  const countsOf = (values: ArrayLike<number>) => {
    const counts = new Array<number>(INTERVALS).fill(0);
    for (let index = 0; index < values.length; index++) {
      const place = Math.floor(((elementAt(values, index) - least) / (greatest - least || 1)) * INTERVALS);
      // NaN and infinities are in no interval.
      if (place >= 0 && place <= INTERVALS)
        counts[Math.min(place, INTERVALS - 1)] = (counts[Math.min(place, INTERVALS - 1)] ?? 0) + 1;
    }
    return counts;
  };
  const from = Math.max(0, worst - NEIGHBOURS);
  const to = Math.min(expected.length, worst + NEIGHBOURS + 1);
  return {
    histogram: { least, greatest, expected: countsOf(expected), actual: countsOf(actual) },
    around: Array.from({ length: to - from }, (_, place) => ({
      element: from + place,
      expected: elementAt(expected, from + place),
      actual: elementAt(actual, from + place),
    })),
  };
}

/** A tensor's name, as far as it is shown. */
function shownName(name: string | null | undefined): string {
  return plain(name ?? "").slice(0, MOST_NAME);
}

const MOST_NAME = 120;

const pageStyle = `${style}${chartStyle}
main { max-width: 84rem; }
.chart { max-width: 60rem; }
h2 small { overflow-wrap: anywhere; }
.graph { overflow: auto; max-height: 40rem; border: 1px solid var(--line); border-radius: .5rem; background: #fff; }
.graph svg { display: block; }
.histogram { display: block; width: 100%; max-width: 40rem; height: auto; }
.histogram .expected { fill: var(--unsupported); opacity: .45; }
.histogram .actual { fill: none; stroke: var(--failed); stroke-width: 1.5; }
.histogram text { fill: var(--soft); font: 12px system-ui, sans-serif; }
td.name { text-align: left; max-width: 22rem; overflow: hidden; text-overflow: ellipsis; }
tr.worst > * { font-weight: 600; color: var(--failed); }
`;

/** The page of a report. `model`: the network, for its edges. */
export function diffPage(report: DiffReport, model: Model, shown: readonly ShownOutput[]): string {
  const title = `Where ${plain(basename(report.model))} differs`;
  return page(
    title,
    pageStyle,
    tag(
      "header",
      "",
      tag(
        "p",
        'class="kind"',
        `${report.devices.join(", ")} against ${report.against.join(", ")}, ${report.inputs.join(", ")}`,
      ),
      tag("h1", "", title),
      tag("p", `class="verdict ${report.isRight ? "passed" : "failed"}"`, report.verdict),
    ),
    curveOf(report),
    graphSection(report, model),
    tableOf(report),
    ...shown.map((each) => valuesSection(elementAt(report.operations, each.operation), each)),
    tag("footer", "", "Made by nnhal diff. Alone: on the judge's values. Network: on what the device computed before."),
  );
}

/** The error along the network: noise in decibels of the signal; what is equal is at the bottom. */
function curveOf({ operations }: DiffReport): Content {
  const noise = (difference: ReportedDifference | null | undefined) =>
    difference?.signalToNoise == null ? FLOOR : Math.max(FLOOR, -difference.signalToNoise);
  const values = (of: "alone" | "accumulated") =>
    operations.map(({ outputs }) => Math.max(FLOOR, ...outputs.map((output) => noise(output[of]))) - FLOOR);
  return tag(
    "section",
    "",
    tag("h2", "", "The error along the network"),
    tag(
      "p",
      'class="legend"',
      `Noise as a part of the signal, in decibels above ${FLOOR} dB, by operation from 1 to ${operations.length}. At the bottom nothing differs.`,
    ),
    lineChart(
      "noise by operation",
      [
        { label: "alone", values: values("alone") },
        { label: "as the network runs", values: values("accumulated") },
      ],
      "dB",
    ),
  );
}

/** Below the last digit of a float32. */
const FLOOR = -160;

const fills = { equal: "#d9efdc", right: "#fdf3c4", wrong: "#f5a9a2", other: "#e4e4e4" } as const;

function fillOf({ verdict, outputs }: ReportedOperation): keyof typeof fills {
  if (verdict === "wrong" || verdict === "failed") return "wrong";
  if (verdict !== "right") return "other";
  return outputs.every(({ alone }) => alone?.differing === 0) ? "equal" : "right";
}

/** Colours of operations of another form of the network, by the least signal-to-noise ratio in decibels. */
const levels = [
  { least: 40, fill: fills.equal, label: "40 dB and more" },
  { least: 30, fill: fills.right, label: "30 to 40 dB" },
  { least: 20, fill: "#fbc98d", label: "20 to 30 dB" },
  { least: Number.NEGATIVE_INFINITY, fill: fills.wrong, label: "less than 20 dB" },
] as const;

function levelOf({ verdict, outputs }: ReportedOperation): string {
  if (verdict !== "right") return fills[verdict === "wrong" || verdict === "failed" ? "wrong" : "other"];
  const ratio = Math.min(...outputs.map(({ alone }) => alone?.signalToNoise ?? Number.POSITIVE_INFINITY));
  return levels.find(({ least }) => ratio >= least)?.fill ?? fills.wrong;
}

function graphSection({ operations, model: name, isMeasured }: DiffReport, { main }: Model): Content {
  const writer = new Map(
    main.operations.flatMap(({ outputs }, from) =>
      outputs.map((operand, result) => [operand, { from, result }] as const),
    ),
  );
  const edges: DrawnEdge[] = main.operations.flatMap(({ inputs }, to) =>
    [...new Set(inputs)].flatMap((operand) => {
      const source = writer.get(operand);
      return source === undefined || source.from >= to ? [] : [{ ...source, to }];
    }),
  );
  const nodes = operations.map((operation) => {
    const { index, operator, operation: own, verdict, outputs } = operation;
    const alone = outputs[0]?.alone;
    const error = alone == null ? verdict : alone.differing === 0 ? "equal" : largestText(alone);
    const ratio = isMeasured && alone?.signalToNoise != null ? `, ${alone.signalToNoise.toFixed(0)} dB` : "";
    return {
      lines: [`${index + 1} ${operator === "" ? own : operator}`, `${error}${ratio}`],
      fill: isMeasured ? levelOf(operation) : fills[fillOf(operation)],
      title: operation.failure ?? outputs.map(({ name: output }) => shownName(output)).join("\n"),
    };
  });
  const legend = [
    ...(isMeasured
      ? levels
      : [
          { fill: fills.equal, label: "equal" },
          { fill: fills.right, label: "within the allowance" },
          { fill: fills.wrong, label: "wrong or failed" },
        ]),
    { fill: fills.other, label: "not compared" },
  ];
  // The picture is a whole SVG document, whose first line a page does not have.
  const svg = drawGraphs({ title: plain(basename(name)), legend, graphs: [{ nodes, edges }] }).replace(
    /^<\?xml[^>]*>\s*/,
    "",
  );
  return tag("section", "", tag("h2", "", "The network"), tag("div", 'class="graph"', { html: svg }));
}

function tableOf({ operations }: DiffReport): Content {
  const heads = [
    "operation",
    "operator",
    "output",
    "device",
    "",
    "alone",
    "differ",
    "mean",
    "SNR",
    "cosine",
    "saturated",
    "network",
  ];
  const rows = operations.map(({ index, operation, operator, outputs, device, verdict, failure }) => {
    const [output] = outputs;
    const [alone, network] = [output?.alone ?? undefined, output?.accumulated ?? undefined];
    const cells = [
      device ?? "",
      verdict === "right" ? "" : verdict,
      alone ? largestText(alone) : "",
      alone ? shareText(alone.differing, alone.elements) : "",
      alone && !alone.isFloat ? alone.mean.toPrecision(3) : "",
      alone?.signalToNoise == null ? "" : `${alone.signalToNoise.toFixed(0)} dB`,
      alone ? alone.cosine.toFixed(6) : "",
      alone?.possibleRange ? shareText(alone.saturatedActual * alone.elements, alone.elements) : "",
      network ? largestText(network) : "",
    ];
    const isWrong = verdict === "wrong" || verdict === "failed";
    const name = tag("td", 'class="name"', failure === undefined ? shownName(output?.name) : plain(failure));
    return tag(
      "tr",
      isWrong ? 'class="worst"' : "",
      tag("th", "", tag("a", `href="#operation-${index + 1}"`, String(index + 1))),
      tag("td", "", operator === "" ? operation : operator),
      name,
      ...cells.map((cell) => tag("td", "", cell)),
    );
  });
  return tag(
    "section",
    "",
    tag("h2", "", "All operations"),
    tag(
      "div",
      'class="scroll"',
      tag(
        "table",
        "",
        tag("thead", "", tag("tr", "", ...heads.map((head) => tag("th", "", head)))),
        tag("tbody", "", ...rows),
      ),
    ),
  );
}

function valuesSection(operation: ReportedOperation, { histogram, around }: ShownOutput): Content {
  const { index, operator, operation: own, outputs } = operation;
  const output = outputs.find(({ alone }) => alone !== null && alone.differing > 0);
  const alone = output?.alone;
  const worst = alone?.worst?.element;
  const rows = around.map(({ element, expected, actual }) =>
    tag(
      "tr",
      element === worst ? 'class="worst"' : "",
      ...[String(element), number(expected), number(actual), number(actual - expected)].map((cell) =>
        tag("td", "", cell),
      ),
    ),
  );
  const facts: [string, string][] = alone
    ? [
        ["difference", `${shareText(alone.differing, alone.elements)} of the elements, by up to ${largestText(alone)}`],
        ["expected", rangeText(alone.expectedRange)],
        ["got", rangeText(alone.actualRange)],
        ...(alone.possibleRange ? [["the type holds", rangeText(alone.possibleRange)] as [string, string]] : []),
      ]
    : [];
  return tag(
    "section",
    `id="operation-${index + 1}"`,
    tag("h2", "", `${index + 1} ${operator === "" ? own : operator}`, tag("small", "", shownName(output?.name))),
    histogramOf(histogram),
    tag("dl", "", ...facts.map(([term, text]) => [tag("dt", "", term), tag("dd", "", text)])),
    tag(
      "div",
      'class="scroll"',
      tag(
        "table",
        "",
        tag(
          "thead",
          "",
          tag("tr", "", ...["element", "expected", "got", "difference"].map((head) => tag("th", "", head))),
        ),
        tag("tbody", "", ...rows),
      ),
    ),
  );
}

const histogramWidth = 640;
const histogramHeight = 120;

/** Both tensors over each other: areas for what was expected, a line for what there is; heights are by the root of the count. */
function histogramOf({ least, greatest, expected, actual }: Histogram): Content {
  const most = Math.sqrt(Math.max(1, ...expected, ...actual));
  const width = histogramWidth / INTERVALS;
  const height = (count: number) => Number(((Math.sqrt(count) / most) * histogramHeight).toFixed(1));
  const bars = expected.map((count, place) =>
    tag(
      "rect",
      `class="expected" x="${place * width}" y="${histogramHeight - height(count)}" width="${width - 1}" height="${height(count)}"`,
    ),
  );
  const points = actual.flatMap((count, place) => {
    const y = histogramHeight - height(count);
    return [`${place * width},${y}`, `${(place + 1) * width},${y}`];
  });
  return tag(
    "svg",
    `class="histogram" viewBox="0 0 ${histogramWidth} ${histogramHeight + 18}" role="img" aria-label="histograms"`,
    ...bars,
    tag("polyline", `class="actual" points="${points.join(" ")}"`),
    tag("text", `x="0" y="${histogramHeight + 14}"`, number(least)),
    tag("text", `x="${histogramWidth}" y="${histogramHeight + 14}" text-anchor="end"`, number(greatest)),
    tag(
      "text",
      `x="${histogramWidth / 2}" y="${histogramHeight + 14}" text-anchor="middle"`,
      "areas: expected; line: got",
    ),
  );
}

function rangeText(range: ReportedDifference["expectedRange"]): string {
  return range === null ? "no finite element" : `${number(range.least)} to ${number(range.greatest)}`;
}

function number(value: number): string {
  return numberText(value, 6);
}
