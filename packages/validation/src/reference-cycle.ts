/**
 * Rule 41: no subgraph refers to itself. A depth-first walk without recursion, each reference followed once, so that
 * thousands of nested subgraphs cost no more than they should.
 */
import { elementAt } from "@nnhal/operations";
import { OperandLifeTime, type Subgraph } from "@nnhal/types";
import type { ModelContext } from "./context.ts";
import { isObject } from "./structure.ts";

/** The walk through one subgraph. */
interface Visit {
  readonly index: number;
  readonly references: readonly number[];
  next: number;
}

const Visited = { no: 0, underWay: 1, done: 2 } as const;

/**
 * Checks the references between the model's referenced subgraphs. Main cannot be part of a cycle. `isRead`: whether every operand of a
 * subgraph has been checked; what others refer to is not asked, since their lists can be of any length.
 */
export function checkReferenceCycles(
  { issues, referenced }: ModelContext,
  isRead: (subgraph: Subgraph) => boolean,
): void {
  if (issues.isFull()) return;
  const visited = new Uint8Array(referenced.length);
  for (let start = 0; start < referenced.length && !issues.isFull(); start++) {
    if (visited[start] !== Visited.no) continue;
    const path: Visit[] = [];
    const enter = (index: number) => {
      visited[index] = Visited.underWay;
      const subgraph = referenced[index];
      path.push({ index, references: subgraph && isRead(subgraph) ? referencesOf(subgraph) : [], next: 0 });
    };
    enter(start);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      if (visit.next === visit.references.length) {
        visited[visit.index] = Visited.done;
        path.pop();
        continue;
      }
      const reference = elementAt(visit.references, visit.next++);
      if (visited[reference] === Visited.no) enter(reference);
      else if (visited[reference] === Visited.underWay) {
        const cycle = path.slice(path.findIndex(({ index }) => index === reference)).map(({ index }) => index);
        const shown = [...cycle.slice(0, 8), ...(cycle.length > 8 ? ["…"] : []), reference].join(" → ");
        issues.add("subgraph-cycle", `referenced[${visit.index}]`, `the subgraph refers to itself: ${shown}`);
        return;
      }
    }
  }
}

/** The referenced subgraphs that a subgraph's operands refer to. */
function referencesOf({ operands }: Subgraph): number[] {
  const references = new Set<number>();
  for (const operand of operands) {
    if (isObject(operand) && operand.lifetime === OperandLifeTime.SUBGRAPH && isObject(operand.location)) {
      references.add(operand.location.offset);
    }
  }
  return [...references];
}
