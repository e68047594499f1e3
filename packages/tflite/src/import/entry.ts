/**
 * The subgraph of a file that is imported: the first one, or that of a signature.
 */
import { ensure, quote } from "../error.ts";
import type { TfliteModel, TfliteSubgraph } from "../model.ts";

/** The subgraph to import, its inputs and outputs in order, and their names in a signature. */
export interface Entry {
  readonly index: number;
  readonly subgraph: TfliteSubgraph;
  readonly inputNames: readonly (string | undefined)[];
  readonly outputNames: readonly (string | undefined)[];
}

/** The entry that the options choose. Throws a TfliteError if there is none. */
export function entryOf(model: TfliteModel, key: string | undefined): Entry {
  const chosen = key === undefined ? undefined : model.signatures.find((signature) => signature.key === key);
  const keys = () => model.signatures.map((signature) => quote(signature.key)).slice(0, MOST_KEYS);
  ensure(
    key === undefined || chosen !== undefined,
    "options.signature",
    () =>
      `there is no signature ${quote(key ?? "")}; ${keys().length === 0 ? "the file has none" : `there are ${keys().join(", ")}`}`,
  );
  const index = chosen?.subgraph ?? 0;
  const subgraph = model.subgraphs[index];
  ensure(subgraph !== undefined, "", () => "the model has no subgraph");
  if (chosen === undefined) {
    const first = model.signatures.find((signature) => signature.subgraph === 0);
    const names = (list: "inputs" | "outputs") => {
      const byTensor = new Map(first?.[list].map(({ name, tensor }) => [tensor, name]));
      return subgraph[list].map((tensor) => byTensor.get(tensor));
    };
    return { index, subgraph, inputNames: names("inputs"), outputNames: names("outputs") };
  }
  const named = new Set(chosen.inputs.map(({ tensor }) => tensor));
  const own = new Set(subgraph.inputs);
  for (const { name, tensor } of chosen.inputs) {
    ensure(own.has(tensor), "options.signature", () => `${quote(name)} is tensor ${tensor}, which is not an input`);
  }
  const inputs = [...chosen.inputs.map(({ tensor }) => tensor), ...subgraph.inputs.filter((each) => !named.has(each))];
  return {
    index,
    subgraph: { ...subgraph, inputs, outputs: chosen.outputs.map(({ tensor }) => tensor) },
    inputNames: chosen.inputs.map(({ name }) => name),
    outputNames: chosen.outputs.map(({ name }) => name),
  };
}

/** Most signatures that a message lists. */
const MOST_KEYS = 8;
