/**
 * The history of the browser: back and forward go through the parts of the page that were shown, and do not leave it.
 */
import { effect } from "@preact/signals";
import { type Panel, panel, panels, report } from "./store.ts";

/** Keeps the part that is shown in the address. A reload begins with the graph: what was open is gone. */
export function keepHistory(): void {
  if (panelInAddress() !== "graph") history.replaceState(null, "", location.pathname);
  effect(() => {
    if (panel.value !== panelInAddress()) history.pushState(null, "", `#${panel.value}`);
  });
  addEventListener("popstate", () => {
    const name = panelInAddress();
    panel.value = name === "report" && report.value === undefined ? "graph" : name;
  });
}

function panelInAddress(): Panel {
  return panels.find((name) => location.hash === `#${name}`) ?? "graph";
}
