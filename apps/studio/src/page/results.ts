/**
 * The results of a run: the meaning of the outputs, and their values.
 */
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { OutputView, RunView } from "../engine/run-model.ts";
import { countText, numberText } from "../text.ts";
import { Summary } from "./details.ts";

/** Extents of charts. */
export const CHART = { width: 600, height: 60 };

const taskTitles: Readonly<Record<string, string>> = {
  classify: "The best classes",
  detect: "Things in the picture",
  segment: "Areas of the picture",
  landmarks: "Points in the picture",
};

/** The results of a run. */
export function Results({ result }: { readonly result: RunView }) {
  const { found, task, drawn, misfit, outputs, states } = result;
  const most = Math.max(...found.map(({ score }) => Math.abs(score ?? 0)), 1e-9);
  return h(
    "div",
    null,
    drawn !== undefined && h(Drawn, { drawn }),
    misfit !== undefined && h("p", { class: "failed" }, `${misfit}.`),
    task !== undefined && [
      h("h3", { key: "title" }, taskTitles[task] ?? task),
      found.length === 0 && h("p", { key: "none", class: "soft" }, "none"),
      h(
        "ol",
        { key: "found", class: "found" },
        found
          .slice(0, 40)
          .map(({ label, score }, place) =>
            h(
              "li",
              { key: place },
              h("span", { class: "name" }, label),
              score !== undefined &&
                h("meter", { min: 0, max: Math.max(1, most), value: Math.max(0, score), "aria-label": label }),
              score !== undefined && h("span", { class: "number" }, numberText(score, 4)),
            ),
          ),
      ),
    ],
    outputs.map((output) => h(Output, { key: output.name, output })),
    states.length > 0 && h("h3", null, "State"),
    states.map((state) => h(Output, { key: state.name, output: state })),
  );
}

function Output({ output: { name, type, shape, summary, points, strings } }: { readonly output: OutputView }) {
  return h(
    "details",
    { class: "tensor", open: true },
    h(
      "summary",
      null,
      h("span", { class: "name" }, name),
      h("span", { class: "type" }, `${type} [${shape.join(", ")}]`),
    ),
    strings === undefined
      ? [
          points.length > 1 && [
            h("p", { key: "caption", class: "caption" }, "in their order"),
            h(Chart, { key: "chart", points, name }),
            summary.least < summary.greatest && h("p", { key: "counts", class: "caption" }, "by value"),
          ],
          h(Summary, { key: "summary", summary, title: "values" }),
          summary.first.length > 1 &&
            h(Rows, { key: "rows", values: summary.first, shape, count: summary.count, name }),
        ]
      : h(
          "ul",
          null,
          strings.slice(0, 100).map((text, place) => h("li", { key: place }, text)),
        ),
  );
}

/** Most columns of a table of values. */
const MOST_COLUMNS = 16;

/** The first values as a table, a row for each of the last dimension; longer ones and lists have a row for each value. */
function Rows({
  values,
  shape,
  count,
  name,
}: {
  readonly values: readonly number[];
  readonly shape: readonly number[];
  readonly count: number;
  readonly name: string;
}) {
  const last = shape.at(-1) ?? 1;
  const width = shape.filter((extent) => extent > 1).length > 1 && last <= MOST_COLUMNS ? last : 1;
  const rows = Array.from({ length: Math.ceil(values.length / width) }, (_, row) =>
    values.slice(row * width, (row + 1) * width),
  );
  return h(
    "details",
    null,
    h("summary", { class: "soft" }, "as a table"),
    h(
      "div",
      { class: "scroll rows" },
      h(
        "table",
        { "aria-label": `The first values of ${name}` },
        h(
          "tbody",
          null,
          rows.map((cells, row) =>
            h(
              "tr",
              { key: row },
              h("th", null, countText(row)),
              cells.map((value, column) => h("td", { key: column }, numberText(value, 6))),
            ),
          ),
        ),
      ),
      count > values.length && h("p", { class: "soft" }, `and ${countText(count - values.length)} more values`),
    ),
  );
}

/** Values in their order as bars from 0. */
function Chart({ points, name }: { readonly points: readonly number[]; readonly name: string }) {
  const finite = points.map((value) => (Number.isFinite(value) ? value : 0));
  const [greatest, least] = [Math.max(0, ...finite), Math.min(0, ...finite)];
  // Zeros alone lie on a line at the bottom.
  const most = greatest === least ? 1 : greatest;
  const unit = CHART.height / (most - least || 1);
  const each = CHART.width / points.length;
  return h(
    "svg",
    {
      class: "histogram chart",
      viewBox: `0 0 ${CHART.width} ${CHART.height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Values of ${name} in their order, from ${numberText(least, 3)} to ${numberText(greatest, 3)}`,
    },
    h("line", { key: "zero", x1: 0, x2: CHART.width, y1: most * unit, y2: most * unit }),
    finite.map((value, place) =>
      h("rect", {
        key: place,
        x: place * each,
        y: (most - Math.max(0, value)) * unit,
        width: Math.max(0.5, each * 0.9),
        height: Math.max(0.5, Math.abs(value) * unit),
      }),
    ),
  );
}

/** The picture with what was seen in it. */
function Drawn({ drawn: { width, height, data } }: { readonly drawn: NonNullable<RunView["drawn"]> }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const pixels = new ImageData(width, height);
    pixels.data.set(data);
    canvas.current?.getContext("2d")?.putImageData(pixels, 0, 0);
  }, [data]);
  return h("canvas", {
    ref: canvas,
    class: "seen",
    width,
    height,
    role: "img",
    "aria-label": "The picture with what was seen in it",
  });
}
