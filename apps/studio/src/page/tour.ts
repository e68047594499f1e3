/**
 * A tour of the page in five steps, on the file that is open.
 */
import { signal } from "@preact/signals";
import { h } from "preact";
import { measure } from "./session.ts";
import { isDemonstration, type Panel, panel, selected, selectOperator, shown } from "./store.ts";

/** A step: where it is, and the text that says what there is. */
interface Step {
  readonly panel: Panel;
  readonly title: string;
  readonly text: string;
  /** Done when the step begins. */
  begin?(): void;
}

const steps: readonly Step[] = [
  {
    panel: "graph",
    title: "The graph",
    text: "Each box is an operator of the network, and each line a tensor. Drag the graph, zoom with the wheel, or go through it with the arrow keys. Colors show what kind of operator it is, and later its device, time and error.",
    begin: () => {
      selected.value = undefined;
    },
  },
  {
    panel: "graph",
    title: "An operator",
    text: "A box that is chosen, here or in the list, shows its options, its tensors with their quantisation, and the values of its constants. If it cannot run, the reason and a remedy are there too.",
    begin: () => void selectOperator(0),
  },
  {
    panel: "run",
    title: "Run it",
    text: "Give each input a value: a picture, a camera, a sound, numbers, or noise. On the pad of the demonstration you can draw a digit. It is computed here, in this browser, and nothing leaves the machine.",
  },
  {
    panel: "why",
    title: "See why",
    text: "Each operation is being measured now. The plan says which device computes it, and why; a comparison with the reference finds the first that is wrong. The graph takes colors from both.",
    begin: () => void measure(),
  },
  {
    panel: "compare",
    title: "Compare, and go on",
    text: "Here another form of the network stands beside this one, such as its float form. Open your own .tflite file above, or a report of the command line; Save keeps what you see.",
  },
];

/** The step that is shown; undefined: there is no tour. */
const step = signal<number | undefined>(undefined);

/** Begins the tour, or goes to one of its steps; ends it behind the last. */
function goToStep(place: number): void {
  const next = steps[place];
  step.value = next === undefined ? undefined : place;
  if (next === undefined) return;
  panel.value = next.panel;
  next.begin?.();
}

/** Begins the tour. */
export function startTour(): void {
  goToStep(0);
}

const button = (title: string, onClick: () => void, kind?: string) =>
  h("button", { type: "button", class: kind, onClick }, title);

/** The step of the tour; for the network of the demonstration before it an invitation. */
export function Tour() {
  if (shown.value === undefined) return null;
  const place = step.value;
  const now = place === undefined ? undefined : steps[place];
  if (place === undefined || now === undefined) {
    if (!isDemonstration.value || panel.value !== "graph") return null;
    const draw = () => {
      panel.value = "run";
    };
    return h(
      "section",
      { class: "tour", "aria-label": "The demonstration" },
      h("p", null, "This network reads handwritten digits."),
      h("p", { class: "actions" }, button("Draw a digit", draw, "main"), button("Take the tour", startTour)),
    );
  }
  return h(
    "section",
    { class: "tour", "aria-label": "Tour" },
    h(
      "p",
      { "aria-live": "polite" },
      h("strong", null, now.title),
      h("small", null, `${place + 1} of ${steps.length}`),
      h("br", null),
      now.text,
    ),
    h(
      "p",
      { class: "actions" },
      place > 0 && button("Back", () => goToStep(place - 1)),
      button(place + 1 < steps.length ? "Next" : "Done", () => goToStep(place + 1), "main"),
      place + 1 < steps.length && button("End the tour", () => goToStep(steps.length), "quiet"),
    ),
  );
}
