/** The time of each layer in each phase, in total and without the layers inside it. */
import {
  isPartOf,
  mayBeCalledFrom,
  mayLieIn,
  type TraceLayer,
  type TracePhase,
  traceLayers,
  tracePhases,
} from "./phases.ts";
import type { RecordedSection, Trace } from "./recorder.ts";
import { sectionMark } from "./tracer.ts";

/** The time of one layer in one phase. */
export interface TraceTableRow {
  readonly layer: TraceLayer;
  readonly phase: TracePhase;
  /** The number of sections, without those that only add detail to another of the same layer. */
  readonly count: number;
  /** Nanoseconds of the layer and the layers inside it in the phase. */
  readonly total: number;
  /** Nanoseconds of the layer itself in the phase. */
  readonly self: number;
}

/** The sums of a trace. */
export interface TraceTable {
  /** By phase, then by layer from the outermost. Only those that occur. */
  readonly rows: readonly TraceTableRow[];
  /** Sections that break the order of layers and phases, and sections that are missing. */
  readonly problems: readonly string[];
}

/** Maximum number of problems that are listed; others are counted. */
const namedProblems = 20;

/** A section, with the layer and phase that it counts for. */
interface Node {
  readonly section: RecordedSection;
  readonly parent: Node | undefined;
  readonly layer: TraceLayer;
  readonly phase: TracePhase;
  /** It only breaks down time that another section of its layer already counts. */
  readonly isDetail: boolean;
  /** The sections around it that its time is subtracted from: all of them, or those up to the next of its layer. */
  readonly movedOutOf: "all" | "otherLayers" | undefined;
  /** Nanoseconds of sections inside that are moved. */
  moved: number;
  /** Nanoseconds of sections of other layers inside. */
  foreign: number;
}

/**
 * Sums up a trace. Times are wall-clock times, so concurrent sections count twice.
 *
 * - A section inside another of its layer and phase is a detail of it. So is one of another phase, except for parts of
 *   an execution, which have separate rows.
 * - Parts of an execution that lie in none of their layer count as execution too.
 * - Utility code and the phase PU count for the layer and phase around them.
 * - Initialisation, and sections that subtract, are subtracted from the sections around them: initialisation from all,
 *   the others up to the next of their own layer.
 */
export function toTraceTable({ sections, dropped }: Trace): TraceTable {
  const nodes: Node[] = [];
  for (const section of sections) nodes.push(nodeOf(section, nodes[section.parent]));
  for (const node of nodes) if (node.movedOutOf !== undefined) moveOut(node);
  for (const node of nodes) addToSurroundings(node);
  const rows = new Map<string, TraceTableRow>();
  const add = (layer: TraceLayer, phase: TracePhase, total: number, self: number) => {
    const key = `${phase} ${layer}`;
    const row = rows.get(key) ?? { layer, phase, count: 0, total: 0, self: 0 };
    rows.set(key, { ...row, count: row.count + 1, total: row.total + total, self: row.self + self });
  };
  for (const node of nodes) {
    if (!isCounted(node)) continue;
    const total = computeRemaining(node);
    const self = Math.max(0, total - node.foreign);
    add(node.layer, node.phase, total, self);
    if (isPartOf(node.phase, "PE") && !isInsideExecution(node)) add(node.layer, "PE", total, self);
  }
  return { rows: [...rows.values()].sort(byPhaseThenLayer), problems: problemsOf(nodes, dropped) };
}

function nodeOf(section: RecordedSection, parent: Node | undefined): Node {
  const layer = section.layer === "LU" && parent !== undefined ? parent.layer : section.layer;
  const phase = section.phase === "PU" && parent !== undefined ? parent.phase : section.phase;
  const isInitialisation = phase === "PI" && parent !== undefined && parent.phase !== "PI";
  const isSubtracted = section.kind === "subtract" && parent !== undefined;
  const movedOutOf = isInitialisation ? "all" : isSubtracted ? "otherLayers" : undefined;
  const isDetail =
    movedOutOf === undefined && parent !== undefined && parent.layer === layer && !isPartOf(phase, parent.phase);
  return { section, parent, layer, phase, isDetail, movedOutOf, moved: 0, foreign: 0 };
}

function duration({ section }: Node): number {
  return section.end - section.start;
}

function computeRemaining(node: Node): number {
  return Math.max(0, duration(node) - node.moved);
}

/**
 * Subtracts a section's time from those around it. A section that is moved itself has already been subtracted from the
 * others.
 */
function moveOut(node: Node): void {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (node.movedOutOf === "otherLayers" && outer.layer === node.layer) return;
    outer.moved += duration(node);
    if (outer.movedOutOf !== undefined) return;
  }
}

/** Adds the time of a section of another layer to those around it that are of one layer. */
function addToSurroundings(node: Node): void {
  const { parent } = node;
  if (parent === undefined || node.movedOutOf !== undefined || parent.layer === node.layer) return;
  for (let outer: Node | undefined = parent; outer?.layer === parent.layer; outer = outer.parent) {
    outer.foreign += computeRemaining(node);
    if (outer.movedOutOf !== undefined) return;
  }
}

/** Returns whether no other section in the table includes this section's time. */
function isCounted(node: Node): boolean {
  if (node.isDetail) return false;
  if (node.movedOutOf !== "otherLayers") return true;
  const own = nextOfLayer(node);
  return own === undefined || isPartOf(node.phase, own.phase);
}

function nextOfLayer(node: Node): Node | undefined {
  let outer = node.parent;
  while (outer !== undefined && outer.layer !== node.layer) outer = outer.parent;
  return outer;
}

function isInsideExecution(node: Node): boolean {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (outer.layer === node.layer && outer.phase === "PE") return true;
  }
  return false;
}

const phaseOrder = Object.keys(tracePhases);
const layerOrder = Object.keys(traceLayers);

function byPhaseThenLayer(a: TraceTableRow, b: TraceTableRow): number {
  return (
    phaseOrder.indexOf(a.phase) - phaseOrder.indexOf(b.phase) ||
    layerOrder.indexOf(a.layer) - layerOrder.indexOf(b.layer)
  );
}

function problemsOf(nodes: readonly Node[], dropped: number): string[] {
  const problems: string[] = [];
  let count = 0;
  const add = (problem: string) => {
    if (count++ < namedProblems) problems.push(problem);
  };
  for (const { section, parent, layer, phase, movedOutOf } of nodes) {
    if (section.isOpen) add(`${sectionMark(section)} has not ended`);
    if (parent === undefined || movedOutOf !== undefined) continue;
    const around = sectionMark(parent.section);
    if (!mayBeCalledFrom(layer, parent.layer)) {
      add(`${sectionMark(section)} lies in ${around}, which is of a layer further in`);
    } else if (!mayLieIn(phase, parent.phase)) {
      add(`${sectionMark(section)} lies in ${around}, whose phase has no such part`);
    }
  }
  if (count > namedProblems) problems.push(`and ${count - namedProblems} more`);
  if (dropped > 0) problems.push(`${dropped} sections had no room in the trace`);
  return problems;
}

/** The table as text, with milliseconds. */
export function formatTraceTable({ rows, problems }: TraceTable): string {
  const head = ["phase", "layer", "count", "total ms", "self ms"];
  const cells = [
    head,
    ...rows.map(({ layer, phase, count, total, self }) => [
      `${isPartOf(phase, "PE") ? "  " : ""}${tracePhases[phase]}`,
      traceLayers[layer],
      String(count),
      milliseconds(total),
      milliseconds(self),
    ]),
  ];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  "),
  );
  return [...lines, ...problems.map((problem) => `note: ${problem}`)].map((line) => `${line.trimEnd()}\n`).join("");
}

function milliseconds(nanoseconds: number): string {
  return (nanoseconds / 1e6).toFixed(3);
}
