/**
 * The program of a model with resource variables, hash tables, or state of subgraphs that its operators run: it has the states as inputs and
 * outputs.
 */
import type { TfliteModel, TfliteSubgraph } from "../../model.ts";
import { initialOf } from "./initial.ts";
import type { Program } from "./procedure.ts";
import { createResources } from "./resources.ts";
import { createThreading } from "./thread.ts";

/** The program whose main subgraph is `subgraph`, a form of the file's subgraph `index`. Throws a TfliteError. */
export function createStatefulProgram(model: TfliteModel, subgraph: TfliteSubgraph, index: number): Program {
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
