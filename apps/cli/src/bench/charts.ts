/**
 * The charts of a benchmark as SVG inside a page: colours come from the page's styles, so that they fit light and dark.
 */
import { type Content, type Element, tag } from "../html.ts";

/** A bar from 0 to `value`, with a thin line to `most`. */
export interface Bar {
  readonly label: string;
  readonly text: string;
  readonly value: number;
  readonly most: number;
  readonly isOurs: boolean;
}

/** A line through some values. */
export interface Line {
  readonly label: string;
  readonly values: readonly number[];
}

/** A point between two ends on a scale on which the same factor has the same length. */
export interface Interval {
  readonly label: string;
  readonly text: string;
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

const width = 720;
const labelWidth = 190;
const textWidth = 120;
const rowHeight = 26;
const plotWidth = width - labelWidth - textWidth;

/** The number of colours for lines in the styles; after the last they come again. */
const colours = 8;

/** Styles of the charts. */
export const chartStyle = `
.chart { display: block; width: 100%; height: auto; font: 13px system-ui, sans-serif; }
.chart text { fill: var(--text); }
.chart .soft { fill: var(--soft); }
.chart .grid { stroke: var(--line); }
.chart .ours { fill: var(--passed); }
.chart .theirs { fill: var(--unsupported); opacity: .6; }
.chart .whisker { stroke: var(--soft); stroke-width: 1.5; }
.chart .line { fill: none; stroke-width: 1.75; }
.chart .c0 { stroke: #1a7f4b; } .chart .c1 { stroke: #2f6fd0; } .chart .c2 { stroke: #c8722b; } .chart .c3 { stroke: #8a4fc0; }
.chart .c4 { stroke: #c8322b; } .chart .c5 { stroke: #1c8f96; } .chart .c6 { stroke: #8a7a1c; } .chart .c7 { stroke: #b0437f; }
`;

/** Bars below each other. */
export function barChart(title: string, bars: readonly Bar[]): Element {
  const scale = plotWidth / Math.max(...bars.map(({ most }) => most), Number.MIN_VALUE);
  const rows = bars.map(({ label, text, value, most, isOurs }, row) => {
    const y = row * rowHeight + rowHeight / 2;
    return [
      caption(labelWidth - 8, y, label, 'text-anchor="end"'),
      shape("rect", {
        class: isOurs ? "ours" : "theirs",
        x: labelWidth,
        y: y - 8,
        width: Math.max(1, value * scale),
        height: 16,
        rx: 2,
      }),
      whisker(labelWidth + value * scale, labelWidth + most * scale, y),
      caption(labelWidth + most * scale + 6, y, text, 'class="soft"'),
    ];
  });
  return chart(title, bars.length * rowHeight, rows);
}

/** Intervals on a scale with equal factors, and a line at 1. */
export function intervalChart(title: string, intervals: readonly Interval[]): Element {
  const ends = intervals.flatMap(({ low, high }) => [low, high]).filter((value) => value > 0 && Number.isFinite(value));
  const reach = Math.max(Math.log(1.25), ...ends.map((value) => Math.abs(Math.log(value)))) * 1.05;
  const x = (value: number) => labelWidth + ((Math.log(value) + reach) / (2 * reach)) * plotWidth;
  const height = (intervals.length + 1) * rowHeight;
  const rows = intervals.map(({ label, text, low, middle, high }, row) => {
    const y = row * rowHeight + rowHeight / 2;
    return [
      caption(labelWidth - 8, y, label, 'text-anchor="end"'),
      whisker(x(low), x(high), y),
      shape("circle", { class: middle <= 1 ? "ours" : "theirs", cx: x(middle), cy: y, r: 5 }),
      caption(labelWidth + plotWidth + 8, y, text, 'class="soft"'),
    ];
  });
  const one = shape("line", { class: "grid", x1: x(1), x2: x(1), y1: 0, y2: height - rowHeight });
  const axis = caption(x(1), height - rowHeight / 2, "faster ← 1 → slower", 'class="soft" text-anchor="middle"');
  return chart(title, height, [one, ...rows, axis]);
}

/** Lines over the same places, from 0 up. */
export function lineChart(title: string, lines: readonly Line[], unit: string): Element {
  const height = 180;
  const greatest = Math.max(...lines.flatMap(({ values }) => values), Number.MIN_VALUE);
  const most = Math.max(...lines.map(({ values }) => values.length), 2);
  const left = 60;
  const plot = width - left - 8;
  const x = (place: number) => left + (place / (most - 1)) * plot;
  const y = (value: number) => height - (value / greatest) * (height - 16);
  const grid = [0, 0.5, 1].map((share) => [
    shape("line", { class: "grid", x1: left, x2: width, y1: y(share * greatest), y2: y(share * greatest) }),
    caption(
      left - 6,
      y(share * greatest),
      `${Number((share * greatest).toPrecision(3))} ${unit}`,
      'class="soft" text-anchor="end"',
    ),
  ]);
  const drawn = lines.map(({ values }, place) =>
    shape("polyline", {
      class: `line c${place % colours}`,
      points: values.map((value, round) => `${roundNumber(x(round))},${roundNumber(y(value))}`).join(" "),
    }),
  );
  const legend = lines.map(({ label }, place) => {
    const [column, row] = [place % 4, Math.floor(place / 4)];
    const [at, below] = [left + (column * plot) / 4, height + 24 + row * 20];
    return [
      shape("line", { class: `line c${place % colours}`, x1: at, x2: at + 18, y1: below, y2: below }),
      caption(at + 24, below, label, ""),
    ];
  });
  return chart(title, height + 24 + Math.ceil(lines.length / 4) * 20, [...grid, ...drawn, ...legend]);
}

function chart(title: string, height: number, content: readonly Content[]): Element {
  return tag(
    "svg",
    `class="chart" role="img" viewBox="0 -8 ${width} ${roundNumber(height + 16)}"`,
    tag("title", "", title),
    ...content,
  );
}

function whisker(from: number, to: number, y: number): Element {
  return shape("path", { class: "whisker", d: `M${roundNumber(from)} ${roundNumber(y)}H${roundNumber(to)}m0 -4v8` });
}

/** A text whose middle is at a height. */
function caption(x: number, y: number, content: string, attributes: string): Element {
  return tag(
    "text",
    `x="${roundNumber(x)}" y="${roundNumber(y)}" dominant-baseline="middle" ${attributes}`.trim(),
    content,
  );
}

function shape(name: string, attributes: Readonly<Record<string, string | number>>): Element {
  const list = Object.entries(attributes).map(
    ([key, value]) => `${key}="${typeof value === "number" ? roundNumber(value) : value}"`,
  );
  return tag(name, list.join(" "));
}

function roundNumber(value: number): string {
  return String(Number(value.toFixed(1)));
}
