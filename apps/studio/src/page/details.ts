/**
 * Details of the selected box: an operator with its options and tensors, a group of operators, or the tensor of an input or output.
 */
import { useSignal } from "@preact/signals";
import { h } from "preact";
import { useEffect } from "preact/hooks";
import type { OperatorView, SubgraphView, TensorView } from "../engine/file-view.ts";
import { foldGroup, type Group, groupAround, unfoldGroup } from "../engine/groups.ts";
import type { TensorValues, ValueSummary } from "../engine/tensor-values.ts";
import { bytesText, countOf, countText, messageOf, numberText, shapeText, shorten } from "../text.ts";
import { outcomeText } from "./colors.ts";
import type { Shown } from "./shown.ts";
import { engine, selected, selectOperator, showGroups, showSubgraph } from "./store.ts";

/** Operators of a group that are listed. */
const MOST_MEMBERS = 100;

/** Details of the selected box. */
export function Details({ now }: { readonly now: Shown }) {
  const { graph, file, subgraph } = now;
  const node = selected.value === undefined ? undefined : graph.nodes[selected.value];
  const part = file.subgraphs[subgraph];
  if (node === undefined || part === undefined) return null;
  const operator = node.type === "operator" ? part.operators[node.index] : undefined;
  const group = node.type === "group" ? now.folded[node.index] : undefined;
  const around = groupAround(part, group?.from ?? operator?.index ?? -1, group?.to ?? (operator?.index ?? -1) + 1);
  const tensor = part.tensors[(node.type === "input" ? part.inputs : part.outputs)[node.index] ?? -1];
  return h(
    "div",
    { key: `${subgraph} ${selected.value}` },
    h(
      "button",
      {
        type: "button",
        class: "quiet back",
        onClick: () => {
          selected.value = undefined;
        },
      },
      "the file",
    ),
    around !== undefined &&
      h(
        "button",
        {
          type: "button",
          class: "quiet back",
          onClick: () => void showGroups(foldGroup(now.folded, around), around.from),
        },
        `fold ${shorten(around.name, 40)}`,
      ),
    group !== undefined && h(GroupDetails, { group, part, folded: now.folded }),
    operator !== undefined &&
      h(OperatorDetails, { operator, part, subgraph, names: file.subgraphs.map(({ name }) => name) }),
    operator === undefined &&
      group === undefined &&
      tensor !== undefined && [
        h("h2", { key: "title" }, `${node.type} ${node.index}`),
        h(TensorDetails, { key: "tensor", tensor, subgraph, isOpen: true }),
      ],
  );
}

interface GroupProps {
  readonly group: Group;
  readonly part: SubgraphView;
  readonly folded: readonly Group[];
}

function GroupDetails({ group, part, folded }: GroupProps) {
  const { name, from, to } = group;
  const operators = part.operators.slice(from, to);
  const constants = new Set(
    operators.flatMap(({ inputs }) => inputs).filter((tensor) => part.tensors[tensor]?.isConstant),
  );
  const bytes = [...constants].reduce((sum, tensor) => sum + (part.tensors[tensor]?.bytes ?? 0), 0);
  return h(
    "div",
    null,
    h("h2", null, name, h("small", null, `a group of ${countOf(operators.length, "operator")}`)),
    h("p", { class: "soft" }, `${countOf(constants.size, "constant")}, ${bytesText(bytes)}`),
    h(
      "button",
      { type: "button", onClick: () => void showGroups(unfoldGroup(part, folded, group), from) },
      "Unfold the group",
    ),
    h("h3", null, "Operators"),
    h(
      "ul",
      { class: "members" },
      operators
        .slice(0, MOST_MEMBERS)
        .map(({ index, name: operator }) =>
          h(
            "li",
            { key: index },
            h(
              "button",
              { type: "button", class: "quiet", onClick: () => void selectOperator(index) },
              `${index} ${operator}`,
            ),
          ),
        ),
    ),
    operators.length > MOST_MEMBERS && h("p", { class: "soft" }, `and ${operators.length - MOST_MEMBERS} more`),
  );
}

interface OperatorProps {
  readonly operator: OperatorView;
  readonly part: SubgraphView;
  readonly subgraph: number;
  readonly names: readonly string[];
}

function OperatorDetails({ operator, part, subgraph, names }: OperatorProps) {
  const { index, name, isCustom, version, operations, reason, help, options, subgraphs } = operator;
  const list = (title: string, tensors: readonly number[]) => [
    h("h3", { key: title }, title),
    tensors.map((place, order) => {
      const tensor = part.tensors[place];
      return tensor === undefined
        ? h("p", { key: `${title} ${order}`, class: "soft" }, `${order}: left out`)
        : h(TensorDetails, { key: `${title} ${order}`, tensor, subgraph, isOpen: false });
    }),
  ];
  return h(
    "div",
    null,
    h("h2", null, name, h("small", null, `${isCustom ? "custom operator" : `version ${version}`}, number ${index}`)),
    h(
      "p",
      { class: `outcome ${operator.status}` },
      outcomeText(operator),
      operations.length > 0 && h("code", null, ` ${operations.join(", ")}`),
    ),
    reason !== undefined && h("p", { class: "failed" }, reason),
    help !== undefined && h("p", null, help),
    subgraphs.map((place) =>
      h(
        "button",
        { key: place, type: "button", class: "quiet", onClick: () => void showSubgraph(place) },
        `open subgraph ${place} ${names[place] ?? ""}`,
      ),
    ),
    options.length > 0 && [
      h("h3", { key: "options" }, "Options"),
      h(
        "dl",
        { key: "list" },
        options.map(([key, value]) => [h("dt", { key }, key), h("dd", { key: `${key} value` }, value)]),
      ),
    ],
    list("Inputs", operator.inputs),
    list("Outputs", operator.outputs),
  );
}

interface TensorProps {
  readonly tensor: TensorView;
  readonly subgraph: number;
  readonly isOpen: boolean;
}

function TensorDetails({ tensor, subgraph, isOpen }: TensorProps) {
  const isShown = useSignal(isOpen);
  const { name, type, shape, isConstant, isVariable, bytes, quantization, index } = tensor;
  return h(
    "details",
    {
      open: isOpen,
      class: "tensor",
      onToggle: (event: { currentTarget: HTMLDetailsElement }) => {
        isShown.value = event.currentTarget.open;
      },
    },
    h(
      "summary",
      null,
      h("span", { class: "name", title: name }, name === "" ? `tensor ${index}` : firstName(name)),
      h("span", { class: "type" }, `${type.toLowerCase()} ${shapeText(shape)}`),
      isConstant && h("span", { class: "badge" }, "constant"),
      isVariable && h("span", { class: "badge" }, "state"),
    ),
    h(
      "dl",
      null,
      h("dt", null, "tensor"),
      h("dd", null, `${index} ${name}`),
      bytes !== undefined && [h("dt", { key: "size" }, "size"), h("dd", { key: "bytes" }, bytesText(bytes))],
      quantization !== undefined && [
        h(
          "dt",
          { key: "scale" },
          quantization.count > 1 ? `scales along dimension ${quantization.dimension}` : "scale",
        ),
        h("dd", { key: "scales" }, listText(quantization.scale, quantization.count)),
        h("dt", { key: "zero" }, quantization.count > 1 ? "zero points" : "zero point"),
        h("dd", { key: "zeros" }, listText(quantization.zeroPoint, quantization.count)),
      ],
    ),
    isConstant && isShown.value && h(Values, { subgraph, tensor: index }),
  );
}

/** Of a name that a converter has joined from those of fused operations (`a/Relu6;a/Conv2D`) the first. */
function firstName(name: string): string {
  return shorten(name.split(";", 1)[0] ?? name, 60);
}

function listText(values: readonly number[], count: number): string {
  const [first] = values;
  if (count > 1 && values.length === count && values.every((value) => value === first))
    return `${numberText(first ?? 0)} for all`;
  const shown = values.slice(0, 8).map((value) => numberText(Number(value)));
  return `${shown.join(", ")}${count > shown.length ? `, … (${countText(count)})` : ""}`;
}

/** Values of a constant, which the worker summarises when they are first shown. */
function Values({ subgraph, tensor }: { readonly subgraph: number; readonly tensor: number }) {
  const values = useSignal<TensorValues | undefined>(undefined);
  useEffect(() => {
    engine.values(subgraph, tensor).then(
      (found) => {
        values.value = found;
      },
      (error: unknown) => {
        values.value = { reason: messageOf(error) };
      },
    );
  }, [subgraph, tensor]);
  const found = values.value;
  if (found === undefined) return h("p", { class: "soft" }, "reading …");
  if ("reason" in found) return h("p", { class: "soft" }, `no values: ${found.reason}`);
  return h(Summary, {
    summary: found.real,
    title: found.isQuantized ? "real values, with the scale applied" : "values",
  });
}

/** A summary of numbers, with their histogram. */
export function Summary({ summary, title }: { readonly summary: ValueSummary; readonly title: string }) {
  const { count, least, greatest, mean, zeros, unusual, first } = summary;
  return h(
    "div",
    { class: "values" },
    least < greatest && h(Histogram, { summary }),
    h(
      "p",
      { class: "soft" },
      `${title}: ${countText(count)}, from ${numberText(least)} to ${numberText(greatest)}, mean ${numberText(mean)}, ${countOf(zeros, "zero")}`,
      unusual > 0 && `, ${countText(unusual)} NaN or infinite`,
    ),
    h("p", { class: "numbers" }, first.map((value) => numberText(value, 4)).join("  "), count > first.length && " …"),
  );
}

const WIDTH = 320;
const HEIGHT = 72;

function Histogram({ summary: { histogram, least, greatest } }: { readonly summary: ValueSummary }) {
  const most = Math.max(1, ...histogram);
  const each = WIDTH / histogram.length;
  return h(
    "svg",
    {
      class: "histogram",
      viewBox: `0 0 ${WIDTH} ${HEIGHT + 16}`,
      role: "img",
      "aria-label": `Histogram from ${numberText(least)} to ${numberText(greatest)}`,
    },
    histogram.map((count, place) => {
      const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
      return h("rect", { key: place, x: place * each, y: HEIGHT - height, width: each - 1, height });
    }),
    h("text", { x: 0, y: HEIGHT + 13 }, numberText(least, 3)),
    h("text", { x: WIDTH, y: HEIGHT + 13, "text-anchor": "end" }, numberText(greatest, 3)),
  );
}
