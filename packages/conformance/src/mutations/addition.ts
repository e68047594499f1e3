/**
 * Mutations that give an operation one operand more than it takes.
 */
import { type Operand, OperandLifeTime, OperandType } from "@nnhal/types";
import { additionExemption } from "./exemptions.ts";
import { invalid, type ModelMutation } from "./mutation.ts";
import { nowhere, operationNameOf, operationSites, operationsWith } from "./site.ts";

const scalar: Operand = {
  type: OperandType.INT32,
  dimensions: [],
  numberOfConsumers: 0,
  scale: 0,
  zeroPoint: 0,
  lifetime: OperandLifeTime.TEMPORARY_VARIABLE,
  location: nowhere,
  extraParams: { kind: "none" },
};

export const addOperationInput: ModelMutation = {
  name: "addOperationInput",
  says: "An operation has one input too many.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { subgraph, operation, label } = site;
      const added = subgraph.operands.length;
      const operand = { ...scalar, lifetime: OperandLifeTime.SUBGRAPH_INPUT, numberOfConsumers: 1 };
      yield invalid(
        `${label} reads one more INT32`,
        site.with({
          operands: [...subgraph.operands, operand],
          operations: operationsWith(site, { inputs: [...operation.inputs, added] }),
          inputIndexes: [...subgraph.inputIndexes, added],
        }),
        additionExemption(operation),
      );
    }
  },
};

const notTheHals = "what an extension's operation gives is its own affair";

export const addOperationOutput: ModelMutation = {
  name: "addOperationOutput",
  says: "An operation has one output too many; once more, with a wrong number of consumers besides.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { subgraph, operation, label } = site;
      const added = subgraph.operands.length;
      for (const numberOfConsumers of [0, 1]) {
        const operand = { ...scalar, lifetime: OperandLifeTime.SUBGRAPH_OUTPUT, numberOfConsumers };
        const isExempt = numberOfConsumers === 0 && operationNameOf(operation) === undefined;
        yield invalid(
          `${label} writes one more INT32 with numberOfConsumers ${numberOfConsumers}`,
          site.with({
            operands: [...subgraph.operands, operand],
            operations: operationsWith(site, { outputs: [...operation.outputs, added] }),
            outputIndexes: [...subgraph.outputIndexes, added],
          }),
          isExempt ? notTheHals : undefined,
        );
      }
    }
  },
};
