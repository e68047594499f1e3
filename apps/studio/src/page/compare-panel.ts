/**
 * Two files side by side: their sizes, their operators, and how far the results of one are from those of the other.
 */
import type { DiffReport } from "@nnhal/diff";
import { useComputed } from "@preact/signals";
import { type ComponentChildren, h } from "preact";
import type { OtherFile } from "../engine/engine.ts";
import type { FileView, OperatorView } from "../engine/file-view.ts";
import { amountText, bytesText, countText, numberText, shapeText } from "../text.ts";
import { errorText, noiseText } from "./difference-text.ts";
import { FileButton } from "./file-button.ts";
import { modelFiles } from "./input-kinds.ts";
import { liveBytes } from "./liveness.ts";
import { compareFiles, openOther, other, otherDifference } from "./session.ts";
import { shown } from "./store.ts";

/** The part of the page that compares two files. */
export function ComparePanel() {
  const file = shown.value?.file;
  const beside = other.value;
  if (file === undefined) return null;
  return h(
    "main",
    { class: "cards wide" },
    h(
      "section",
      { class: "card" },
      h("h2", null, "Two files"),
      h(
        "p",
        { class: "soft" },
        "Open another form of this network: the float one of a quantised network, or an earlier version.",
      ),
      h(
        "p",
        { class: "actions" },
        h(FileButton, {
          title: "Open another file",
          label: "Another .tflite file",
          accept: modelFiles,
          onFile: openOther,
        }),
        beside?.pairs !== undefined &&
          h("button", { type: "button", onClick: () => void compareFiles() }, "Compare the results"),
      ),
      beside !== undefined && h(Sizes, { one: file, two: beside.file }),
    ),
    otherDifference.value !== undefined &&
      beside &&
      h(OutputErrors, { report: otherDifference.value, name: beside.file.name }),
    beside !== undefined && h(Pairs, { file, beside }),
  );
}

/** Facts of a file, with a text for each. */
const facts: readonly (readonly [string, (file: FileView) => string])[] = [
  ["size", ({ bytes }) => bytesText(bytes)],
  ["operators", (file) => countText(mainOf(file)?.operators.length ?? 0)],
  [
    "constants",
    ({ examined }) =>
      examined === undefined ? "–" : `${countText(examined.constants.count)}, ${bytesText(examined.constants.bytes)}`,
  ],
  ["multiply-adds", ({ examined }) => (examined === undefined ? "–" : amountText(examined.multiplyAdds))],
  ["memory of values", memoryText],
  ["inputs", (file) => portsText(file, "inputs")],
  ["outputs", (file) => portsText(file, "outputs")],
  ["can run", ({ examined }) => (examined?.problemCount === 0 ? "yes" : (examined?.problems[0]?.message ?? "–"))],
];

function mainOf({ subgraphs, main }: FileView): FileView["subgraphs"][number] | undefined {
  return subgraphs[main];
}

function memoryText(file: FileView): string {
  const part = mainOf(file);
  const most = Math.max(0, ...(part === undefined ? [] : liveBytes(part)));
  return most === 0 ? "–" : bytesText(most);
}

function portsText(file: FileView, side: "inputs" | "outputs"): string {
  const part = mainOf(file);
  const tensors = (part?.[side] ?? []).flatMap((index) => part?.tensors[index] ?? []);
  return tensors.map(({ type, shape }) => `${type.toLowerCase()} ${shapeText(shape)}`).join(", ");
}

function Sizes({ one, two }: { readonly one: FileView; readonly two: FileView }) {
  return h(
    Table,
    { titles: ["", one.name, two.name], label: "Sizes" },
    facts.map(([name, textOf]) =>
      h(
        "tr",
        { key: name },
        h("th", null, name),
        [one, two].map((file, place) => h("td", { key: place }, textOf(file))),
      ),
    ),
  );
}

function Table({
  titles,
  label,
  children,
}: {
  readonly titles: readonly string[];
  readonly label: string;
  readonly children?: ComponentChildren;
}) {
  return h(
    "div",
    { class: "scroll beside" },
    h(
      "table",
      { "aria-label": label },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          titles.map((title, place) => h("th", { key: place }, title)),
        ),
      ),
      h("tbody", null, children),
    ),
  );
}

/** The distance of the outputs from those of the other file. */
function OutputErrors({ report, name }: { readonly report: DiffReport; readonly name: string }) {
  const range = (values: { readonly least: number; readonly greatest: number } | null) =>
    values === null ? "–" : `${numberText(values.least, 3)} to ${numberText(values.greatest, 3)}`;
  return h(
    "section",
    { class: "card", "aria-live": "polite" },
    h("h2", null, "Outputs"),
    h("p", { class: "verdict" }, report.verdict),
    h(
      Table,
      { titles: ["output", "values", `values of ${name}`, "largest error", "SNR", "cosine"], label: "Outputs" },
      report.outputs.map(({ name: output, difference }, place) =>
        h(
          "tr",
          { key: place },
          h("th", null, output ?? `output ${place}`),
          h("td", null, range(difference.actualRange)),
          h("td", null, range(difference.expectedRange)),
          h("td", null, errorText(difference)),
          h("td", null, noiseText(difference)),
          h("td", null, numberText(difference.cosine, 5)),
        ),
      ),
    ),
  );
}

/** The operators of both files, those that stand for each other in one row. */
function Pairs({ file, beside }: { readonly file: FileView; readonly beside: OtherFile }) {
  const errors = useComputed(() => errorsOf(shown.value?.file.examined?.origins ?? [], otherDifference.value));
  if (beside.pairs === undefined)
    return h(
      "section",
      { class: "card" },
      h("h2", null, "Operators"),
      h("p", { class: "failed" }, `The operators cannot be put side by side: ${beside.reason}.`),
    );
  const alike = beside.pairs.filter(([one, two]) => one !== undefined && two !== undefined).length;
  const isMeasured = otherDifference.value !== undefined;
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Operators", h("small", null, `${countText(alike)} stand for each other`)),
    h(
      Table,
      {
        titles: [file.name, beside.file.name, ...(isMeasured ? ["opera\u00adtion", "largest error", "SNR"] : [])],
        label: "Operators",
      },
      beside.pairs.map(([one, two], row) => {
        const error = one === undefined ? undefined : errors.value.get(one);
        return h(
          "tr",
          { key: row, class: one === undefined || two === undefined ? "alone" : undefined },
          h("th", null, operatorText(file, one)),
          h("td", null, operatorText(beside.file, two)),
          isMeasured && h("td", null, error === undefined ? "–" : error.operation),
          isMeasured && h("td", null, error === undefined ? "–" : errorText(error.alone)),
          isMeasured && h("td", null, error === undefined ? "–" : noiseText(error.alone)),
        );
      }),
    ),
  );
}

/** The error of an operator alone. */
interface OperatorError {
  /** The number of its operation, from 1 on, as the outcome names it. */
  readonly operation: number;
  readonly alone: DiffReport["outputs"][number]["difference"];
}

/** The errors of operators by their places: of each that of the last operation that it became. */
function errorsOf(origins: readonly number[], report: DiffReport | undefined): ReadonlyMap<number, OperatorError> {
  const errors = new Map<number, OperatorError>();
  for (const { index, outputs } of report?.operations ?? []) {
    const [origin, alone] = [origins[index], outputs[0]?.alone];
    if (origin !== undefined && alone != null) errors.set(origin, { operation: index + 1, alone });
  }
  return errors;
}

/** A name that may continue on the next line behind each `_`. */
function breakable(name: string): ComponentChildren {
  return name.split(/(?<=_)/).map((part, place) => [place > 0 && h("wbr", null), part]);
}

function operatorText(file: FileView, index: number | undefined): ComponentChildren {
  const part = mainOf(file);
  const operator: OperatorView | undefined = index === undefined ? undefined : part?.operators[index];
  if (operator === undefined) return "–";
  const result = part?.tensors[operator.outputs[0] ?? -1];
  return [
    h("span", { key: "name" }, breakable(`${operator.index} ${operator.name}`)),
    result !== undefined && h("small", { key: "result" }, `${result.type.toLowerCase()} ${shapeText(result.shape)}`),
  ];
}
