/**
 * Colors of operators: by kind, by what becomes of them, by memory, and, once it is known, by device, time and error.
 */
import type { DiffReport } from "@nnhal/diff";
import type { Explanation, Profile } from "@nnhal/network";
import type { OperatorView, SubgraphView } from "../engine/file-view.ts";
import { liveBytes } from "./liveness.ts";
import type { Shown } from "./shown.ts";

/** The properties by which operators are colored. */
export type ColorMode = "kind" | "outcome" | "memory" | "device" | "time" | "error";

/** A color with its meaning. */
export interface LegendEntry {
  readonly label: string;
  readonly color: string;
}

/** Results about the operations of the model; undefined: not asked for yet. */
export interface Findings {
  readonly explanation: Explanation | undefined;
  readonly profile: Profile | undefined;
  readonly difference: DiffReport | undefined;
}

/** A group of operators: its name, and the variable of the page's styles with its color. */
type Group = readonly [label: string, variable: string];

const kindVariables: Readonly<Record<string, string>> = {
  "layers with weights": "--kind-weights",
  "pooling, reductions, normalisation": "--kind-reduce",
  "reshaping and moving": "--kind-move",
  "control flow": "--kind-control",
  "elementwise and others": "--kind-other",
  "operations of extensions": "--kind-extension",
  "unknown operations": "--kind-unknown",
};

const outcomes: Readonly<Record<OperatorView["status"], Group>> = {
  hal: ["operations of the HAL", "--outcome-hal"],
  extension: ["operation of an extension", "--outcome-extension"],
  constant: ["computed when the file is read", "--outcome-constant"],
  state: ["reads or writes a state", "--outcome-constant"],
  unused: ["not used", "--outcome-unused"],
  blocked: ["blocked", "--outcome-blocked"],
  unread: ["not examined", "--outcome-unused"],
};

const deviceVariables = ["--kind-weights", "--kind-other", "--kind-reduce", "--kind-extension", "--kind-control"];

/** Shares of the time of a run, the greatest first. */
const timeGroups: readonly (readonly [least: number, group: Group])[] = [
  [0.1, ["10 % of the time and more", "--heat-4"]],
  [0.05, ["5 to 10 %", "--heat-3"]],
  [0.02, ["2 to 5 %", "--heat-2"]],
  [0, ["less than 2 %", "--heat-1"]],
];

/** Shares of the most memory that a run needs, the greatest first. */
const memoryGroups: readonly (readonly [least: number, group: Group])[] = [
  [0.9, ["90 % of the most memory and more", "--heat-4"]],
  [0.5, ["50 to 90 %", "--heat-3"]],
  [0.25, ["25 to 50 %", "--heat-2"]],
  [0, ["less than 25 %", "--heat-1"]],
];

const unknown: Group = ["not known", "--kind-unknown"];

const errorGroups = {
  equal: ["equal", "--outcome-hal"],
  right: ["differs as arithmetic explains", "--heat-2"],
  wrong: ["wrong", "--outcome-blocked"],
} as const satisfies Readonly<Record<string, Group>>;

/** Name of an outcome for people. */
export function outcomeText({ status }: Pick<OperatorView, "status">): string {
  return outcomes[status][0];
}

/** Fills of a graph's boxes, and the legend: the most first, others as they appear. `colorOf` resolves a variable of the page's styles. */
export function colorGraph(
  { file, subgraph, graph, folded }: Pick<Shown, "file" | "subgraph" | "graph" | "folded">,
  mode: ColorMode,
  findings: Findings,
  colorOf: (variable: string) => string,
): { readonly fills: readonly (string | undefined)[]; readonly legend: readonly LegendEntry[] } {
  const part = file.subgraphs[subgraph];
  const operators = part?.operators ?? [];
  const found =
    mode === "memory"
      ? memoryGroupsOf(part)
      : subgraph === file.main
        ? groupsFound(file.examined?.origins ?? [], mode, findings)
        : undefined;
  const groupOf = (operator: OperatorView): Group => {
    if (mode === "kind") return [operator.kind, kindVariables[operator.kind] ?? "--kind-unknown"];
    return mode === "outcome" ? outcomes[operator.status] : (found?.get(operator.index) ?? unknown);
  };
  const legend = new Map<string, LegendEntry & { readonly severity: number }>();
  const fills = graph.nodes.map(({ type, index }) => {
    const operator = type === "operator" ? operators[index] : undefined;
    const several = type === "group" ? folded[index] : undefined;
    const members = several === undefined ? operator && [operator] : operators.slice(several.from, several.to);
    if (members === undefined) return undefined;
    const [label, variable] = mostOf(members.map(groupOf));
    const color = colorOf(variable);
    legend.set(label, { label, color, severity: severities.indexOf(variable) });
    return color;
  });
  const sorted = [...legend.values()].sort((a, b) => b.severity - a.severity);
  return { fills, legend: sorted.map(({ label, color }) => ({ label, color })) };
}

/** Colors that count more than those before them, whichever are more. */
const severities = ["--heat-1", "--heat-2", "--heat-3", "--heat-4", "--outcome-blocked"];

/** The group of most members; those that stand for much time or an error count more. */
function mostOf(groups: readonly Group[]): Group {
  const counts = new Map<string, number>();
  for (const [label] of groups) counts.set(label, (counts.get(label) ?? 0) + 1);
  const weigh = ([label, variable]: Group) => severities.indexOf(variable) * groups.length + (counts.get(label) ?? 0);
  return groups.reduce((most, each) => (weigh(each) > weigh(most) ? each : most), groups[0] ?? unknown);
}

/** Groups of operators by the memory of values while they compute. */
function memoryGroupsOf(part: SubgraphView | undefined): ReadonlyMap<number, Group> {
  const live = part === undefined ? [] : liveBytes(part);
  const most = Math.max(1, ...live);
  return new Map(
    live.map((bytes, index) => [index, memoryGroups.find(([least]) => bytes / most >= least)?.[1] ?? unknown]),
  );
}

/** Groups of operators by their places, from what is known of the operations that they became. */
function groupsFound(
  origins: readonly number[],
  mode: ColorMode,
  { explanation, profile, difference }: Findings,
): ReadonlyMap<number, Group> {
  const groups = new Map<number, Group>();
  if (mode === "device" && explanation !== undefined) {
    const devices = [...new Set(explanation.operations.map(({ device }) => device ?? "the runtime"))];
    for (const [index, { device = "the runtime" }] of explanation.operations.entries()) {
      const variable = deviceVariables[devices.indexOf(device) % deviceVariables.length] ?? "--kind-unknown";
      groups.set(origins[index] ?? -1, [device, variable]);
    }
  }
  if (mode === "time" && profile !== undefined) {
    const sums = new Map<number, number>();
    for (const [index, { time = 0 }] of profile.operations.entries()) {
      const origin = origins[index] ?? -1;
      sums.set(origin, (sums.get(origin) ?? 0) + time);
    }
    const all = [...sums.values()].reduce((sum, each) => sum + each, 0) || 1;
    for (const [origin, time] of sums) {
      groups.set(origin, timeGroups.find(([least]) => time / all >= least)?.[1] ?? unknown);
    }
  }
  if (mode === "error" && difference !== undefined) {
    for (const { index, verdict, outputs } of difference.operations) {
      const isWrong = verdict === "wrong" || verdict === "failed" || verdict === "gone";
      const isEqual = outputs.every(({ alone }) => alone?.differing === 0);
      const group = isWrong
        ? errorGroups.wrong
        : verdict !== "right"
          ? unknown
          : isEqual
            ? errorGroups.equal
            : errorGroups.right;
      const origin = origins[index] ?? -1;
      // Of the operations of an operator the worst counts.
      if (groups.get(origin) !== errorGroups.wrong) groups.set(origin, group);
    }
  }
  return groups;
}
