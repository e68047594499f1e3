/**
 * The phases of preparing the model and of its last run, as bars in time.
 */
import { h } from "preact";
import type { Phase } from "../engine/phases.ts";
import { timeText } from "../text.ts";
import { saveJson } from "./download.ts";
import { lastRun, prepared, profile } from "./session.ts";
import { traceOf } from "./trace.ts";

/** Names of the phases of preparing a model. */
const stages: Readonly<Record<string, string>> = {
  import: "read the file",
  devices: "open the devices",
  prepare: "plan and prepare",
};

/** The card with the timelines; nothing before the model is prepared. */
export function Timelines() {
  const [preparation, run, measured] = [prepared.value?.phases, lastRun.value?.phases, profile.value];
  if (preparation === undefined) return null;
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Timeline"),
    h(Timeline, {
      title: "Preparing",
      phases: preparation.map((each) => ({ ...each, name: stages[each.name] ?? each.name })),
    }),
    run === undefined
      ? h("p", { class: "soft" }, "A run, in the part Run, is shown here.")
      : h(Timeline, { title: "The last run", phases: run }),
    h(
      "p",
      { class: "actions" },
      h(
        "button",
        {
          type: "button",
          onClick: () => saveJson("trace.json", traceOf({ preparation, run, operations: measured?.operations })),
        },
        "Save a timeline for Perfetto",
      ),
    ),
  );
}

/** One row for each phase, with a bar from its start to its end. */
function Timeline({ title, phases }: { readonly title: string; readonly phases: readonly Phase[] }) {
  const end = Math.max(1e-9, ...phases.map(({ start, time }) => start + time));
  return h(
    "table",
    { class: "timeline", "aria-label": title },
    h("caption", null, title, h("small", null, timeText(phases.reduce((sum, { time }) => sum + time, 0)))),
    h(
      "tbody",
      null,
      phases.map(({ name, start, time }, row) =>
        h(
          "tr",
          { key: row },
          h("th", { class: "phase" }, name),
          h("td", { class: "number" }, timeText(time)),
          h(
            "td",
            { class: "bars" },
            h(
              "svg",
              { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": true },
              h("rect", { x: (100 * start) / end, y: 0, width: Math.max(0.4, (100 * time) / end), height: 10 }),
            ),
          ),
        ),
      ),
    ),
  );
}
