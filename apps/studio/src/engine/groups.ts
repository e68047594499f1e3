/**
 * Groups of operators by the scopes in their names (`block_1/conv/Relu` is in `block_1/conv`). A group is a run of operators that follow one
 * another in the file, so that in the place of them a single box can be drawn without a circle.
 */
import type { SubgraphView } from "./file-view.ts";

/** A run of operators in one scope. */
export interface Group {
  /** The scope, such as `block_1/conv`. */
  readonly name: string;
  /** Parts of its name. */
  readonly depth: number;
  /** Its first operator, and the one behind its last. */
  readonly from: number;
  readonly to: number;
}

type Part = Pick<SubgraphView, "operators" | "tensors">;

/** Deeper scopes are not told apart. */
const MOST_DEPTH = 8;

/** The scopes of an operator, from the outermost: those of the name of its first result. */
function scopesOf({ operators, tensors }: Part, operator: number): readonly string[] {
  const name = tensors[operators[operator]?.outputs[0] ?? -1]?.name ?? "";
  // A converter joins the names of operators that it has fused with semicolons.
  const parts = (name.split(";", 1)[0] ?? "").split("/", MOST_DEPTH + 1);
  return parts.slice(0, -1);
}

/** The runs of at least two operators in one scope of a depth, among the operators from `from` on and before `to`. */
export function groupsAt(part: Part, depth: number, from = 0, to = part.operators.length): Group[] {
  const groups: Group[] = [];
  const nameAt = (operator: number) => {
    const scopes = scopesOf(part, operator);
    return scopes.length < depth ? undefined : scopes.slice(0, depth).join("/");
  };
  for (let start = from; start < to; ) {
    const name = nameAt(start);
    let end = start + 1;
    while (end < to && name !== undefined && nameAt(end) === name) end++;
    if (name !== undefined && end - start > 1) groups.push({ name, depth, from: start, to: end });
    start = end;
  }
  return groups;
}

/** A choice of groups to draw in the place of their operators. */
export interface Level {
  readonly groups: readonly Group[];
  /** Boxes that are drawn then. */
  readonly boxes: number;
}

/** The levels at which a graph can be drawn, from few boxes to many; none if names have no scopes. */
export function levelsOf(part: Part): Level[] {
  const levels: Level[] = [];
  for (let depth = 1; depth <= MOST_DEPTH; depth++) {
    const groups = groupsAt(part, depth);
    const boxes = groups.reduce((left, { from, to }) => left - (to - from - 1), part.operators.length);
    if (groups.length > 0 && boxes > 1 && boxes > (levels.at(-1)?.boxes ?? 0)) levels.push({ groups, boxes });
  }
  return levels;
}

/** Opens a group: the groups in it are drawn in its place, or its operators if there are none. */
export function unfoldGroup(part: Part, folded: readonly Group[], group: Group): Group[] {
  let inner: Group[] = [];
  for (let depth = group.depth + 1; depth <= MOST_DEPTH; depth++) {
    inner = groupsAt(part, depth, group.from, group.to);
    // A scope that only holds another is passed by.
    if (inner.length !== 1 || !isSame(inner[0], group)) break;
    inner = [];
  }
  return [...folded.filter((each) => !isSame(each, group)), ...inner].sort((a, b) => a.from - b.from);
}

/** Draws a group as one box, and no longer the groups in it. */
export function foldGroup(folded: readonly Group[], group: Group): Group[] {
  const others = folded.filter(({ from, to }) => to <= group.from || from >= group.to);
  return [...others, group].sort((a, b) => a.from - b.from);
}

/** The smallest group that holds more than the operators from `from` on and before `to`; undefined: there is none. */
export function groupAround(part: Part, from: number, to: number): Group | undefined {
  for (let depth = MOST_DEPTH; depth > 0; depth--) {
    const found = groupsAt(part, depth).find((group) => group.from <= from && to <= group.to);
    if (found !== undefined && found.to - found.from > to - from) return found;
  }
  return undefined;
}

function isSame(one: Group | undefined, other: Group): boolean {
  return one?.from === other.from && one.to === other.to;
}
