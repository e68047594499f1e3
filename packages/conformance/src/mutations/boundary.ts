/**
 * Mutations of the lists of a subgraph's inputs and outputs.
 */
import type { Model } from "@nnhal/types";
import { invalid, type ModelMutation, type Mutant } from "./mutation.ts";
import { sitesOf, without } from "./site.ts";

type List = "inputIndexes" | "outputIndexes";

export const removeModelInput: ModelMutation = {
  name: "removeModelInput",
  says: "An input is not in the list of inputs.",
  mutate: (model) => withoutEach(model, "inputIndexes"),
};

export const removeModelOutput: ModelMutation = {
  name: "removeModelOutput",
  says: "An output is not in the list of outputs.",
  mutate: (model) => withoutEach(model, "outputIndexes"),
};

function* withoutEach(model: Model, list: List): Generator<Mutant> {
  for (const site of sitesOf(model)) {
    const indexes = site.subgraph[list];
    for (const [position, index] of indexes.entries()) {
      const name = `${site.at} ${list} lacks operand ${index}`;
      yield invalid(name, site.with({ [list]: without(indexes, position) }));
    }
  }
}

export const modelInputOutputIndex: ModelMutation = {
  name: "modelInputOutputIndex",
  says: "An input or output is listed twice, is listed on the wrong side, or is not an operand.",
  *mutate(model) {
    for (const list of ["inputIndexes", "outputIndexes"] as const) yield* wrongIndexes(model, list);
  },
};

function* wrongIndexes(model: Model, list: List): Generator<Mutant> {
  const otherList = list === "inputIndexes" ? "outputIndexes" : "inputIndexes";
  for (const site of sitesOf(model)) {
    const { subgraph, at } = site;
    const indexes = subgraph[list];
    const wrong = [subgraph.operands.length, ...indexes, ...subgraph[otherList]];
    for (const index of wrong) {
      const what =
        index === subgraph.operands.length ? "which is none" : indexes.includes(index) ? "again" : "of the other list";
      yield invalid(`${at} ${list} has operand ${index}, ${what}`, site.with({ [list]: [...indexes, index] }));
    }
  }
}
