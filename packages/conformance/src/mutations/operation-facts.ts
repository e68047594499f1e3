/** Mutations of an operation's fields: its type and the operands that it names. */
import { type Model, OperationType, OperationTypeRange } from "@nnhal/types";
import { invalid, type ModelMutation, type Mutant } from "./mutation.ts";
import { operationSites, operationsWith } from "./site.ts";

/** One code beyond each end of the HAL's operations; lower codes are an extension's. */
const wrongTypes = [
  Math.max(...Object.values(OperationType).filter((code) => code < OperationTypeRange.OEM_MIN)) + 1,
  OperationTypeRange.OEM_MIN - 1,
  OperationTypeRange.OEM_MAX + 1,
];

export const operationType: ModelMutation = {
  name: "operationType",
  says: "An operation has a type that the HAL does not know.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      for (const type of wrongTypes) {
        yield invalid(`${site.label} has type ${type}`, site.with({ operations: operationsWith(site, { type }) }));
      }
    }
  },
};

export const operationInputOperandIndex: ModelMutation = {
  name: "operationInputOperandIndex",
  says: "An operation reads an operand that there is not.",
  mutate: (model) => withWrongIndex(model, "inputs"),
};

export const operationOutputOperandIndex: ModelMutation = {
  name: "operationOutputOperandIndex",
  says: "An operation writes an operand that there is not.",
  mutate: (model) => withWrongIndex(model, "outputs"),
};

function* withWrongIndex(model: Model, side: "inputs" | "outputs"): Generator<Mutant> {
  for (const site of operationSites(model)) {
    const { operation, subgraph, label } = site;
    const wrong = subgraph.operands.length;
    for (const position of operation[side].keys()) {
      const operations = operationsWith(site, { [side]: operation[side].with(position, wrong) });
      yield invalid(`${label} ${side} ${position} is operand ${wrong}`, site.with({ operations }));
    }
  }
}
