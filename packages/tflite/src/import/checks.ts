/** Checks of a subgraph whose problems do not end its import, so that its other parts are examined too. */
import { elementAt } from "@nnhal/operations";
import { outcomeOf } from "../error.ts";
import { operatorWhere } from "./lowering/place.ts";
import { createProblemList, type ProblemList } from "./problems.ts";
import { reasonOf } from "./reports.ts";
import type { Procedure } from "./state/procedure.ts";

/** Checks of the parts of a subgraph. The problems that they find do not end its import. */
export interface Checks {
  /** Runs checks, of operator `index` if that is given. Records why they fail, and returns whether they succeed. */
  attempt(checks: () => void, index?: number): boolean;
  /** Why operators are blocked, by their place in the file. */
  readonly blocked: ReadonlyMap<number, string>;
  /** Throws the problems of this subgraph and of those that its operators run, if there are any. */
  throwIfAny(): void;
}

/** Starts the checks of a procedure. `problems`: those of the model; `originOf`: the place in the file of an operator. */
export function createChecks(
  problems: ProblemList,
  { subgraph, index }: Procedure,
  originOf: (operator: number) => number,
): Checks {
  const place = { path: `subgraphs[${index}]`, index };
  const own = createProblemList();
  const blocked = new Map<number, string>();
  return {
    blocked,
    throwIfAny: own.throwIfAny,
    attempt(checks, operator) {
      const outcome = outcomeOf(checks);
      if ("result" in outcome) return true;
      const at =
        operator === undefined
          ? undefined
          : () => operatorWhere(place, elementAt(subgraph.operators, operator), originOf(operator));
      own.add(outcome.refused, at);
      const problem = problems.add(outcome.refused, at);
      if (operator !== undefined && problem !== undefined) {
        blocked.set(originOf(operator), reasonOf(problem, place, originOf(operator)));
      }
      return false;
    },
  };
}
