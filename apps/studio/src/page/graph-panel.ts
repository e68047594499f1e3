/**
 * The graph of a file: a list of its operators, the drawing, and what is known of the one that is selected.
 */
import { useComputed } from "@preact/signals";
import { h } from "preact";
import { useMemo } from "preact/hooks";
import type { Examined, FileView } from "../engine/file-view.ts";
import { type Group, levelsOf } from "../engine/groups.ts";
import { amountText, bytesText, countText } from "../text.ts";
import { type ColorMode, colorGraph } from "./colors.ts";
import { Details } from "./details.ts";
import { GraphCanvas } from "./graph-canvas.ts";
import { Operators } from "./operators.ts";
import { findings } from "./session.ts";
import type { Shown } from "./shown.ts";
import { colorMode, selected, showGroups, shown, showSubgraph } from "./store.ts";
import { paints, resolveColor } from "./theme.ts";

const modeTitles: Readonly<Record<ColorMode, string>> = {
  kind: "kind",
  outcome: "HAL, extension, blocked",
  memory: "memory",
  device: "device",
  time: "time",
  error: "error",
};

/** The part of the page with the graph. */
export function GraphPanel() {
  const colors = useComputed(() => {
    paints.value;
    const now = shown.value;
    return now && colorGraph(now, colorMode.value, findings.value, resolveColor);
  });
  const now = shown.value;
  if (now === undefined || colors.value === undefined) return h("main", null);
  const { fills, legend } = colors.value;
  return h(
    "main",
    { class: "graph-panel" },
    h(Operators, { now, key: `${now.file.name} ${now.subgraph}` }),
    h(
      "section",
      { class: "drawing", "aria-label": "Graph" },
      h(
        "div",
        { class: "toolbar" },
        h(SubgraphChoice, { now }),
        h(LevelChoice, { now }),
        h(
          "label",
          null,
          "color by ",
          h(
            "select",
            {
              value: colorMode.value,
              onChange: (event: { currentTarget: HTMLSelectElement }) => {
                const wanted = event.currentTarget.value;
                if (isColorMode(wanted)) colorMode.value = wanted;
              },
            },
            Object.entries(modeTitles).map(([mode, title]) =>
              h("option", { key: mode, value: mode, disabled: !isKnown(mode) }, title),
            ),
          ),
        ),
      ),
      h(GraphCanvas, { now, fills }),
      h(
        "ul",
        { class: "legend", "aria-label": "Colors" },
        legend.map(({ label, color }) => h("li", { key: label }, h("i", { style: { background: color } }), label)),
      ),
    ),
    h(
      "aside",
      { class: "details", "aria-label": "Details" },
      selected.value === undefined ? h(Facts, { file: now.file }) : h(Details, { now }),
    ),
  );
}

/** False for colors by what has not been asked in the panel "Why". */
function isKnown(mode: string): boolean {
  const { explanation: device, profile: time, difference: error } = findings.value;
  const known = { device, time, error };
  return !Object.hasOwn(known, mode) || Reflect.get(known, mode) !== undefined;
}

function isColorMode(text: string): text is ColorMode {
  return Object.hasOwn(modeTitles, text);
}

function SubgraphChoice({ now: { file, subgraph } }: { readonly now: Shown }) {
  if (file.subgraphs.length < 2) return null;
  return h(
    "label",
    null,
    "subgraph ",
    h(
      "select",
      {
        value: String(subgraph),
        onChange: (event: { currentTarget: HTMLSelectElement }) => void showSubgraph(Number(event.currentTarget.value)),
      },
      file.subgraphs.map(({ name, operators }, index) =>
        h("option", { key: index, value: String(index) }, `${index} ${name} (${operators.length})`),
      ),
    ),
  );
}

/** The choice of groups that are drawn as one box. */
function LevelChoice({ now: { file, subgraph, folded } }: { readonly now: Shown }) {
  const part = file.subgraphs[subgraph];
  const levels = useMemo(() => (part === undefined ? [] : levelsOf(part)), [part]);
  if (part === undefined || levels.length === 0) return null;
  const keyOf = (groups: readonly Group[]) => groups.map(({ from, to }) => `${from} ${to}`).join();
  const choices = [...levels, { groups: [], boxes: part.operators.length }];
  const now = choices.findIndex(({ groups }) => keyOf(groups) === keyOf(folded));
  return h(
    "label",
    null,
    "show ",
    h(
      "select",
      {
        value: String(now),
        onChange: (event: { currentTarget: HTMLSelectElement }) => {
          const chosen = choices[Number(event.currentTarget.value)];
          if (chosen !== undefined) void showGroups(chosen.groups);
        },
      },
      now < 0 && h("option", { value: "-1" }, "groups as chosen"),
      choices.map(({ groups, boxes }, index) =>
        h(
          "option",
          { key: index, value: String(index) },
          groups.length === 0 ? "all operators" : `groups: ${countText(boxes)} boxes`,
        ),
      ),
    ),
  );
}

/** Facts of the file. */
function Facts({ file }: { readonly file: FileView }) {
  const { examined, signatures, subgraphs, description } = file;
  const rows: readonly (readonly [string, string])[] = [
    ["size", bytesText(file.bytes)],
    ["operators", countText(subgraphs.reduce((sum, { operators }) => sum + operators.length, 0))],
    ["subgraphs", countText(subgraphs.length)],
    ...(examined === undefined
      ? []
      : [
          ["constants", `${countText(examined.constants.count)}, ${bytesText(examined.constants.bytes)}`] as const,
          ["multiply-adds", amountText(examined.multiplyAdds)] as const,
        ]),
    ...(signatures.length === 0 ? [] : [["signatures", signatures.map(({ key }) => key).join(", ")] as const]),
  ];
  return h(
    "div",
    null,
    h("h2", null, "The file"),
    description !== "" && h("p", { class: "soft" }, description),
    h(
      "dl",
      null,
      rows.map(([name, value]) => [h("dt", { key: name }, name), h("dd", { key: `${name} value` }, value)]),
    ),
    examined !== undefined && h(Outcome, { examined }),
    h(
      "p",
      { class: "soft" },
      "Choose an operator in the list or in the graph. Arrow keys on the graph go to its neighbours.",
    ),
  );
}

/** Says that the model can run, or lists the problems that prevent it. */
function Outcome({ examined: { problems, problemCount, notes } }: { readonly examined: Examined }) {
  return h(
    "div",
    null,
    problemCount === 0
      ? h("p", { class: "passed" }, "This network can run.")
      : [
          h(
            "p",
            { key: "verdict", class: "failed" },
            `This network cannot run: ${problemCount === 1 ? "one problem" : `${problemCount} problems`}.`,
          ),
          h(
            "ul",
            { key: "problems", class: "problems" },
            problems.map(({ path, message, help }, place) =>
              h(
                "li",
                { key: place },
                path !== "" && h("code", null, path),
                ` ${message}`,
                help !== undefined && h("em", null, ` ${help}`),
              ),
            ),
          ),
        ],
    notes.map((note) => h("p", { key: note, class: "soft" }, note)),
  );
}
