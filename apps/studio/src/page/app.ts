/**
 * The page: its head, its parts, and the place where files are dropped.
 */
import { useSignal } from "@preact/signals";
import { type ComponentType, h } from "preact";
import { useEffect } from "preact/hooks";
import { bytesText } from "../text.ts";
import { ComparePanel } from "./compare-panel.ts";
import { FileButton } from "./file-button.ts";
import { GraphPanel } from "./graph-panel.ts";
import { isModelFile, modelFiles } from "./input-kinds.ts";
import { isReport } from "./report.ts";
import { ReportPanel } from "./report-panel.ts";
import { RunPanel } from "./run-panel.ts";
import { SaveMenu } from "./save-menu.ts";
import { giveFile, giveLabels } from "./session.ts";
import {
  canStop,
  openFile,
  type Panel,
  panel,
  panels,
  problem,
  readFile,
  report,
  shown,
  stopWork,
  work,
} from "./store.ts";
import { nextTheme, theme } from "./theme.ts";
import { startTour, Tour } from "./tour.ts";
import { WhyPanel } from "./why-panel.ts";

const titles: Readonly<Record<Panel, string>> = {
  graph: "Graph",
  run: "Run",
  why: "Why",
  compare: "Compare",
  report: "Report",
};

/** The whole page. */
export function App() {
  const isOver = useSignal(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault();
      isOver.value = event.type === "dragover";
    };
    const drop = (event: DragEvent) => {
      over(event);
      const [file] = event.dataTransfer?.files ?? [];
      const target = event.target instanceof Element ? event.target : undefined;
      const input = target?.closest<HTMLElement>("[data-input]");
      if (file === undefined) return;
      if (target?.closest("[data-labels]")) void giveLabels(file);
      else void takeDropped(file, input?.dataset.input);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", over);
      removeEventListener("drop", drop);
    };
  }, []);
  return h(
    "div",
    { class: `app${isOver.value ? " over" : ""}` },
    h(Head, null),
    h(Notices, null),
    h(Tour, null),
    shown.value === undefined && panel.value !== "report" ? h(Welcome, null) : h(panelViews[panel.value], null),
  );
}

const panelViews: Readonly<Record<Panel, ComponentType>> = {
  graph: GraphPanel,
  run: RunPanel,
  why: WhyPanel,
  compare: ComparePanel,
  report: ReportPanel,
};

/** Opens a file that a person chose: a network, or a report. */
function takeFile(file: File): Promise<void> {
  return openFile(file.name, () => file.arrayBuffer());
}

/** A dropped file that is neither a network nor a report is for an input of the open network: for that below the pointer, if there is one. */
async function takeDropped(file: File, input: string | undefined): Promise<void> {
  const bytes = await readFile(file);
  if (bytes === undefined) return;
  const { examined } = shown.value?.file ?? {};
  if (examined?.problemCount !== 0 || isModelFile(file.name, bytes) || isReport(bytes))
    return openFile(file.name, async () => bytes.buffer);
  panel.value = "run";
  await giveFile(file.name, bytes, input);
}

function Head() {
  const now = shown.value;
  return h(
    "header",
    { class: "head" },
    h("h1", null, "nnhal studio"),
    h(FileButton, {
      title: "Open a file",
      label: "A .tflite file or a report",
      accept: `${modelFiles},.json`,
      onFile: takeFile,
    }),
    now && h("p", { class: "file", title: now.file.name }, now.file.name, h("small", null, bytesText(now.file.bytes))),
    now && h(Tabs, null),
    h(SaveMenu, null),
    now && h("button", { type: "button", class: "quiet", onClick: startTour }, "Tour"),
    h(
      "button",
      {
        type: "button",
        class: "quiet theme",
        onClick: nextTheme,
        title: "Colors: as the system has them, light, or dark",
      },
      `colors: ${theme.value}`,
    ),
  );
}

function Tabs() {
  return h(
    "nav",
    { "aria-label": "Parts of the page" },
    panels
      .filter((name) => name !== "report" || report.value !== undefined)
      .map((name) =>
        h(
          "button",
          {
            key: name,
            type: "button",
            class: "tab",
            "aria-current": panel.value === name ? "page" : undefined,
            onClick: () => {
              panel.value = name;
            },
          },
          titles[name],
        ),
      ),
  );
}

function Notices() {
  return h(
    "div",
    { class: "notices", "aria-live": "polite" },
    work.value !== undefined &&
      h(
        "p",
        { class: "work" },
        `${work.value} …`,
        canStop.value && h("button", { type: "button", class: "quiet", onClick: stopWork }, "stop"),
      ),
    problem.value !== undefined &&
      h(
        "p",
        { class: "problem", role: "alert" },
        problem.value,
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            onClick: () => {
              problem.value = undefined;
            },
          },
          "close",
        ),
      ),
  );
}

function Welcome() {
  return h(
    "main",
    { class: "welcome" },
    h("h2", null, "See a network"),
    h("p", null, "Drop a .tflite file here, or open one. It stays on this machine."),
    h(FileButton, {
      title: "Open a file",
      label: "A .tflite file or a report",
      accept: `${modelFiles},.json`,
      onFile: takeFile,
    }),
  );
}
