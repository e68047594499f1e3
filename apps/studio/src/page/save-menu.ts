/**
 * Saves what is shown: as one HTML file, as PNG, or as SVG, which of a graph is all of it.
 */
import { h } from "preact";
import { useRef } from "preact/hooks";
import { save } from "./download.ts";
import { wholeGraph } from "./graph-picture.ts";
import { shownAsHtml, shownAsPng, shownAsSvg } from "./snapshot.ts";
import { attempt, panel, report, shown } from "./store.ts";

/** Ways to save, with the ends of names. */
const forms: readonly (readonly [title: string, end: string, make: (title: string) => Blob | Promise<Blob>])[] = [
  ["HTML", "html", shownAsHtml],
  ["PNG", "png", shownAsPng],
  ["SVG", "svg", () => (panel.value === "graph" ? wholeGraph() : shownAsSvg())],
];

/** The menu. */
export function SaveMenu() {
  const menu = useRef<HTMLDetailsElement>(null);
  const name = panel.value === "report" ? report.value?.name : shown.value?.file.name;
  if (name === undefined) return null;
  const title = `${name.replace(/\.\w+$/, "")}-${panel.value}`;
  return h(
    "details",
    { class: "menu", ref: menu },
    h("summary", null, "Save"),
    h(
      "p",
      null,
      forms.map(([form, end, make]) =>
        h(
          "button",
          {
            key: form,
            type: "button",
            onClick: () => {
              if (menu.current !== null) menu.current.open = false;
              void attempt(`saving ${form}`, async () => save(`${title}.${end}`, await make(title)));
            },
          },
          `as ${form}`,
        ),
      ),
    ),
  );
}
