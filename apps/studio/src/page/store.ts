/**
 * The state of the page as signals, and the actions that change it.
 */
import { computed, signal } from "@preact/signals";
import { transfer, wrap } from "comlink";
import type { Engine } from "../engine/engine.ts";
import type { OperatorView } from "../engine/file-view.ts";
import { type Group, unfoldGroup } from "../engine/groups.ts";
import { messageOf } from "../text.ts";
import type { ColorMode } from "./colors.ts";
import { isReport, type ReportView, readReport } from "./report.ts";
import type { Shown } from "./shown.ts";

/** Parts of the page, in their order. */
export const panels = ["graph", "run", "why", "compare", "report"] as const;
export type Panel = (typeof panels)[number];

export const panel = signal<Panel>("graph");
export const shown = signal<Shown | undefined>(undefined);
/** True if the open file is the network that reads digits. */
export const isDemonstration = signal(false);
/** The report of the command line that was opened; undefined: none. */
export const report = signal<{ readonly name: string; readonly view: ReportView } | undefined>(undefined);
/** Place of the selected box of the graph. */
export const selected = signal<number | undefined>(undefined);
export const colorMode = signal<ColorMode>("kind");
/** The work in progress, as the page names it; undefined: none. */
export const work = signal<string | undefined>(undefined);
/** True while the work can be stopped: it takes long. */
export const canStop = signal(false);
/** The last problem, for the person before the page. */
export const problem = signal<string | undefined>(undefined);

/** The selected operator; undefined if there is none, or an input or output is selected. */
export const selectedOperator = computed<OperatorView | undefined>(() => {
  const [now, place] = [shown.value, selected.value];
  const node = place === undefined ? undefined : now?.graph.nodes[place];
  return node?.type === "operator" ? now?.file.subgraphs[now.subgraph]?.operators[node.index] : undefined;
});

/** The worker behind the page. */
export const engine = wrap<Engine>(
  new Worker(new URL("../engine/engine-worker.ts", import.meta.url), { type: "module" }),
);

let lastWork: Promise<unknown> = Promise.resolve();

/**
 * Does work whose problem is shown, and during which the page says what it does. It waits for work that was asked for before: the worker
 * has one file and one model, and an answer about another file would be shown with this one.
 */
export function attempt<Result>(what: string, task: () => Promise<Result>): Promise<Result | undefined> {
  const result = lastWork.then(() => doWork(what, task));
  lastWork = result;
  return result;
}

async function doWork<Result>(what: string, task: () => Promise<Result>): Promise<Result | undefined> {
  work.value = what;
  problem.value = undefined;
  try {
    return await task();
  } catch (error) {
    problem.value = messageOf(error);
    return undefined;
  } finally {
    work.value = undefined;
    canStop.value = false;
  }
}

/** Ends the work in progress. */
export function stopWork(): void {
  canStop.value = false;
  void engine.stop();
}

/** Reads a file that a person gave; undefined, with the reason shown, if that is not possible: it is a folder, or has gone. */
export function readFile(file: File): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return attempt(`reading ${file.name}`, async () => new Uint8Array(await file.arrayBuffer()));
}

/** Says how far the work is, unless that has ended meanwhile: messages of the worker may come late. */
export function sayProgress(text: string): void {
  if (work.value !== undefined) work.value = text;
}

/** Opens a network, or a report of the command line. A problem leaves what was open. */
export async function openFile(name: string, read: () => Promise<ArrayBuffer>, isDemo = false): Promise<void> {
  await attempt(`opening ${name}`, async () => {
    const bytes = new Uint8Array(await read());
    if (isReport(bytes)) {
      report.value = { name, view: readReport(new TextDecoder().decode(bytes)) };
      panel.value = "report";
      return;
    }
    const { file, graph } = await engine.open(transfer(bytes, [bytes.buffer]), name);
    isDemonstration.value = isDemo;
    selected.value = undefined;
    shown.value = { file, graph, subgraph: file.main, folded: [] };
    panel.value = "graph";
    // The graph is there before it is known what can run.
    sayProgress("examining the operators");
    shown.value = { file: await engine.examine(), graph, subgraph: file.main, folded: [] };
  });
}

/** Shows another graph of the file. */
export async function showSubgraph(subgraph: number): Promise<void> {
  const now = shown.value;
  if (now === undefined || now.subgraph === subgraph) return;
  await attempt("laying out the graph", async () => {
    const graph = await engine.graph(subgraph);
    selected.value = undefined;
    shown.value = { file: now.file, subgraph, graph, folded: [] };
  });
}

/** Draws groups as one box each. `operator`: it is selected then, or the group that holds it. */
export async function showGroups(folded: readonly Group[], operator?: number): Promise<void> {
  const now = shown.value;
  if (now === undefined) return;
  await attempt("laying out the graph", async () => {
    const graph = await engine.graph(now.subgraph, folded);
    selected.value = undefined;
    shown.value = { ...now, graph, folded };
    if (operator !== undefined) selected.value = placeOf(operator);
  });
}

/** The place of the box of an operator, or of the group that holds it. */
function placeOf(operator: number): number | undefined {
  const { graph, folded } = shown.value ?? { graph: { nodes: [] }, folded: [] };
  const place = graph.nodes.findIndex(({ type, index }) => {
    const group = type === "group" ? folded[index] : undefined;
    return group === undefined ? type === "operator" && index === operator : isIn(group, operator);
  });
  return place < 0 ? undefined : place;
}

function isIn({ from, to }: Group, operator: number): boolean {
  return from <= operator && operator < to;
}

/** Selects an operator. The groups that hold it are opened. */
export async function selectOperator(operator: number): Promise<void> {
  const now = shown.value;
  const part = now?.file.subgraphs[now.subgraph];
  if (now === undefined || part === undefined) return;
  let { folded } = now;
  for (let group = folded.find((each) => isIn(each, operator)); group !== undefined; ) {
    folded = unfoldGroup(part, folded, group);
    group = folded.find((each) => isIn(each, operator));
  }
  if (folded !== now.folded) await showGroups(folded, operator);
  else selected.value = placeOf(operator);
}
