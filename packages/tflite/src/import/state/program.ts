/**
 * The subgraphs of an import: those of the file, or others in their place if the model keeps state in resource variables, hash tables
 * or subgraphs that its operators run.
 */
import type { TfliteModel, TfliteSubgraph } from "../../model.ts";
import { hasResources } from "./has-resources.ts";
import type { Procedure, Program } from "./procedure.ts";
import { statefulProgram } from "./stateful.ts";

/** The subgraphs as they are. */
export function plainProgram(model: TfliteModel, { subgraph, index }: Procedure): Program {
  const procedures = model.subgraphs.map((each, place) => ({ subgraph: each, index: place }));
  return { main: { subgraph, index }, procedures, cells: [] };
}

/**
 * The program whose main subgraph is `subgraph`, a form of the file's subgraph `index`. Throws a TfliteError for state that is used in
 * contradictory ways. In a browser: throws a NotLoadedError if the model has state of this kind, and the import of that is not loaded.
 */
export function programOf(model: TfliteModel, subgraph: TfliteSubgraph, index: number): Program {
  return hasResources(model) ? statefulProgram()(model, subgraph, index) : plainProgram(model, { subgraph, index });
}
