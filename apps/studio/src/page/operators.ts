/**
 * All operators of a graph as a list, which a keyboard and a screen reader reach. Of a long list only the rows in view are elements.
 */
import { useSignal } from "@preact/signals";
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { OperatorView } from "../engine/file-view.ts";
import { countOf, countText } from "../text.ts";
import { outcomeText } from "./colors.ts";
import type { Shown } from "./shown.ts";
import { selectedOperator, selectOperator } from "./store.ts";

/** Height of a row in pixels, as the styles have it. */
const ROW = 29;
/** Rows above and below those in view. */
const BEYOND = 12;

/** Texts in which a search looks. */
function searchText({ name, index, inputs, outputs }: OperatorView, { file, subgraph }: Shown): string {
  const tensors = [...inputs, ...outputs].map((tensor) => file.subgraphs[subgraph]?.tensors[tensor]?.name ?? "");
  return [index, name, ...tensors].join(" ").toLowerCase();
}

/** The search and the list. */
export function Operators({ now }: { readonly now: Shown }) {
  const search = useSignal("");
  const view = useSignal({ top: 0, height: 800 });
  /** Place in the list of the row that gets the focus; undefined: none. */
  const wantsFocus = useRef<number>(undefined);
  const list = useRef<HTMLUListElement>(null);
  const operators = now.file.subgraphs[now.subgraph]?.operators ?? [];
  const wanted = search.value.trim().toLowerCase();
  const found = wanted === "" ? operators : operators.filter((operator) => searchText(operator, now).includes(wanted));
  const from = Math.max(0, Math.floor(view.value.top / ROW) - BEYOND);
  const to = Math.min(found.length, Math.ceil((view.value.top + view.value.height) / ROW) + BEYOND);
  const readView = () => {
    const element = list.current;
    if (element !== null) view.value = { top: element.scrollTop, height: element.clientHeight };
  };
  useEffect(readView, []);
  useEffect(() => {
    if (wantsFocus.current === undefined) return;
    const button = list.current?.querySelector(`[data-place="${wantsFocus.current}"]`);
    if (!(button instanceof HTMLElement)) return;
    wantsFocus.current = undefined;
    button.focus();
  });
  const move = (event: KeyboardEvent) => {
    const element = list.current;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -found.length, End: found.length }[
      event.key
    ];
    if (
      step === undefined ||
      element === null ||
      (event.target instanceof HTMLInputElement && event.key !== "ArrowDown")
    )
      return;
    event.preventDefault();
    const active = document.activeElement;
    const at = active instanceof HTMLElement ? Number(active.dataset.place ?? -1) : -1;
    const next = Math.min(found.length - 1, Math.max(0, at + step));
    wantsFocus.current = next;
    if (next * ROW < element.scrollTop) element.scrollTop = next * ROW;
    else if ((next + 1) * ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = (next + 1) * ROW - element.clientHeight;
    view.value = { top: element.scrollTop, height: element.clientHeight };
  };
  return h(
    "section",
    { class: "operators", "aria-label": "Operators" },
    h("input", {
      type: "search",
      placeholder: "search operators, tensors",
      "aria-label": "Search operators and tensors",
      value: search.value,
      onInput: (event: { currentTarget: HTMLInputElement }) => {
        search.value = event.currentTarget.value;
        if (list.current !== null) list.current.scrollTop = 0;
        readView();
      },
      onKeyDown: move,
    }),
    h(
      "p",
      { class: "count", "aria-live": "polite" },
      found.length === operators.length
        ? countOf(operators.length, "operator")
        : `${countText(found.length)} of ${countOf(operators.length, "operator")}`,
    ),
    h(
      "ul",
      { ref: list, onKeyDown: move, onScroll: readView },
      h("li", { key: "before", class: "room", "aria-hidden": true, style: { height: `${from * ROW}px` } }),
      found.slice(from, to).map((operator, row) =>
        h(
          "li",
          { key: operator.index, "aria-setsize": found.length, "aria-posinset": from + row + 1 },
          h(
            "button",
            {
              type: "button",
              "data-place": from + row,
              "aria-pressed": selectedOperator.value?.index === operator.index,
              onClick: () => void selectOperator(operator.index),
            },
            h("span", { class: "index" }, operator.index),
            h("span", { class: "name" }, operator.name),
            operator.status !== "hal" &&
              operator.status !== "unread" &&
              h("span", { class: `badge ${operator.status}`, title: outcomeText(operator) }, operator.status),
          ),
        ),
      ),
      h("li", {
        key: "after",
        class: "room",
        "aria-hidden": true,
        style: { height: `${(found.length - to) * ROW}px` },
      }),
    ),
  );
}
