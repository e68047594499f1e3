/**
 * The subgraphs of an import: those of the file, or others in their place if the model keeps state in resource variables, hash tables
 * or subgraphs that its operators run.
 */
import type { TfliteModel, TfliteSubgraph } from "../../model.ts";
import { initialOf } from "./initial.ts";
import type { Procedure, Program } from "./procedure.ts";
import { createResources, hasResources } from "./resources.ts";
import { createThreading } from "./thread.ts";

/** The subgraphs as they are. */
export function plainProgram(model: TfliteModel, { subgraph, index }: Procedure): Program {
  const procedures = model.subgraphs.map((each, place) => ({ subgraph: each, index: place }));
  return { main: { subgraph, index }, procedures, cells: [] };
}

/**
 * The program whose main subgraph is `subgraph`, a form of the file's subgraph `index`. Throws a TfliteError for state that is used in
 * contradictory ways.
 */
export function programOf(model: TfliteModel, subgraph: TfliteSubgraph, index: number): Program {
  if (!hasResources(model)) return plainProgram(model, { subgraph, index });
  const entries = [...new Set([index, ...model.signatures.map((signature) => signature.subgraph)])];
  const initial = initialOf(model, entries);
  const resources = createResources(model, index, {
    isDone: (init) => initial.done.has(init),
    isFilled: ({ key }) => initial.filled.has(key),
  });
  const effects = entries.map((entry) => resources.effectsOf(entry, []));
  const changed = new Set(effects.flatMap(({ written }) => [...written]));
  const constants = new Set([...initial.values.keys()].filter((key) => !changed.has(key)));
  const used = [...(effects[0]?.used ?? [])].filter((key) => !constants.has(key));
  const cells = used.flatMap((key) => resources.cell(key) ?? []);
  const written = cells.filter(({ key }) => effects[0]?.written.has(key)).map(({ key }) => key);
  const threading = createThreading(model, resources, initial, constants, index);
  const main = threading.main(subgraph, index, { bound: [], cells: cells.map(({ key }) => key), written });
  const [firstInput, firstOutput] = [subgraph.inputs.length, subgraph.outputs.length];
  return {
    main,
    procedures: threading.procedures,
    cells: cells.map(({ key, name }, place) => ({
      name,
      input: firstInput + place,
      output: written.includes(key) ? firstOutput + written.indexOf(key) : undefined,
      initial: initial.values.get(key),
    })),
  };
}
