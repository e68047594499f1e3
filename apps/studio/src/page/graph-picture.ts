/**
 * The whole graph that is shown as a picture of lines and texts, in the form that `nnhal graph` draws.
 */
import { colorGraph } from "./colors.ts";
import { findings } from "./session.ts";
import { colorMode, shown } from "./store.ts";
import { resolveColor } from "./theme.ts";

/** The graph as SVG, in light colors. */
export async function wholeGraph(): Promise<Blob> {
  const now = shown.value;
  if (now === undefined) throw new Error("expected an open file, got none");
  const { drawGraphs } = await import("@nnhal/utils/graph");
  const colorOf = (variable: string) => resolveColor(variable, "light");
  const { fills, legend } = colorGraph(now, colorMode.value, findings.value, colorOf);
  const part = now.file.subgraphs[now.subgraph];
  const svg = drawGraphs({
    title: `${now.file.name} ${part?.name ?? ""}`,
    legend: legend.map(({ label, color }) => ({ label, fill: color })),
    graphs: [
      {
        nodes: now.graph.nodes.map(({ type, title, detail }, place) => ({
          fill: fills[place] ?? colorOf("--kind-port"),
          lines: [title, detail],
          shape: type === "operator" || type === "group" ? ("box" as const) : ("pill" as const),
        })),
        edges: now.graph.edges.map(({ from, to, tensor }) => ({
          from,
          to,
          title: part?.tensors[tensor]?.name ?? "",
        })),
      },
    ],
  });
  return new Blob([svg], { type: "image/svg+xml" });
}
