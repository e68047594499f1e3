/**
 * Mutations of the order of operations, and of who writes an operand.
 */
import { elementAt } from "@nnhal/operations";
import { invalid, type ModelMutation } from "./mutation.ts";
import { isWritten, operationSites, operationsWith, temporaryLike, withConsumers, without } from "./site.ts";

export const executionOrder: ModelMutation = {
  name: "executionOrder",
  says: "An operation stands before one that writes what it reads, or after one that reads what it writes.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { operation, subgraph, index, label } = site;
      const { operands } = subgraph;
      const others = without(subgraph.operations, index);
      if (operation.inputs.some((operand) => isWritten(elementAt(operands, operand)))) {
        yield invalid(`${label} is the first`, site.with({ operations: [operation, ...others] }));
      }
      if (operation.outputs.some((operand) => elementAt(operands, operand).numberOfConsumers > 0)) {
        yield invalid(`${label} is the last`, site.with({ operations: [...others, operation] }));
      }
    }
  },
};

export const operandAddWriter: ModelMutation = {
  name: "operandAddWriter",
  says: "Two operations write an operand.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { operation, subgraph, label } = site;
      for (const [shared, written] of operation.outputs.entries()) {
        const operands = withConsumers(subgraph.operands, operation.inputs, 1);
        const outputs = operation.outputs.map((output, position) =>
          position === shared ? output : operands.push(temporaryLike(elementAt(operands, output))) - 1,
        );
        const operations = [...subgraph.operations, { ...operation, outputs }];
        yield invalid(
          `${label} is there twice, and both write operand ${written}`,
          site.with({ operands, operations }),
        );
      }
    }
  },
};

export const operationRemoveWrite: ModelMutation = {
  name: "operationRemoveWrite",
  says: "No operation writes an operand that another one reads.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { operation, subgraph, label } = site;
      const { operands } = subgraph;
      for (const [position, written] of operation.outputs.entries()) {
        if (elementAt(operands, written).numberOfConsumers === 0) continue;
        const outputs = operation.outputs.with(position, operands.length);
        yield invalid(
          `${label} writes a new operand instead of ${written}`,
          site.with({
            operands: [...operands, temporaryLike(elementAt(operands, written))],
            operations: operationsWith(site, { outputs }),
          }),
        );
      }
    }
  },
};
