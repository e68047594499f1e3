/**
 * Subgraphs that the import makes for operators, beside those of the program.
 */
import type { TfliteOperator } from "../model.ts";
import type { Surroundings } from "./lowering.ts";
import type { Procedure } from "./state/procedure.ts";

/** The subgraphs of an import. */
export interface MadeSubgraphs {
  /** Those of the program, and those that were made so far. */
  readonly procedures: readonly Procedure[];
  readonly addSubgraph: Surroundings["addSubgraph"];
}

/** Starts with the subgraphs of the program. */
export function createMadeSubgraphs(given: readonly Procedure[]): MadeSubgraphs {
  const procedures = [...given];
  const made = new Map<TfliteOperator, Map<string, number>>();
  return {
    procedures,
    addSubgraph(operator, key, like, make) {
      const ofOperator = made.get(operator) ?? new Map<string, number>();
      made.set(operator, ofOperator);
      const known = ofOperator.get(key);
      if (known !== undefined) return known;
      const subgraph = make();
      // One that runs a subgraph that is missing is as good as missing.
      const index = procedures[like]?.index ?? like;
      const place = procedures.push({ subgraph, index, origins: subgraph.operators.map(() => -1) }) - 1;
      ofOperator.set(key, place);
      return place;
    },
  };
}
