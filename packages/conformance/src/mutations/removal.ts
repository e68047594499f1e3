/**
 * Mutations that take something out of a model and leave the rest as it fits together without it.
 */
import type { Operation, Subgraph } from "@nnhal/types";
import { operandRemovalExemption, removalExemption } from "./exemptions.ts";
import { invalid, type ModelMutation } from "./mutation.ts";
import { operandSites, operationSites, operationsWith, usesOf, withConsumers, without } from "./site.ts";

export const removeOperand: ModelMutation = {
  name: "removeOperand",
  says: "An operand is gone, and with it all its uses.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const { label, subgraph, index } = site;
      yield invalid(
        `${label} is gone`,
        site.with(withoutOperand(subgraph, index)),
        operandRemovalExemption(usesOf(site)),
      );
    }
  },
};

function withoutOperand({ operands, operations, inputIndexes, outputIndexes }: Subgraph, index: number): Subgraph {
  const others = (indexes: readonly number[]) =>
    indexes.filter((other) => other !== index).map((other) => (other > index ? other - 1 : other));
  return {
    operands: without(operands, index),
    operations: operations.map(
      ({ type, inputs, outputs }): Operation => ({ type, inputs: others(inputs), outputs: others(outputs) }),
    ),
    inputIndexes: others(inputIndexes),
    outputIndexes: others(outputIndexes),
  };
}

export const removeOperation: ModelMutation = {
  name: "removeOperation",
  says: "An operation is gone, so that nothing writes its outputs.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { subgraph, operation, index, label } = site;
      yield invalid(
        `${label} is gone`,
        site.with({
          operands: withConsumers(subgraph.operands, operation.inputs, -1),
          operations: without(subgraph.operations, index),
        }),
      );
    }
  },
};

export const removeOperationInput: ModelMutation = {
  name: "removeOperationInput",
  says: "An operation has one input too few.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { subgraph, operation, label } = site;
      for (const [position, operand] of operation.inputs.entries()) {
        yield invalid(
          `${label} has no input ${position}`,
          site.with({
            operands: withConsumers(subgraph.operands, [operand], -1),
            operations: operationsWith(site, { inputs: without(operation.inputs, position) }),
          }),
          removalExemption({ operation, side: "inputs", position }),
        );
      }
    }
  },
};

export const removeOperationOutput: ModelMutation = {
  name: "removeOperationOutput",
  says: "An operation has one output too few, so that nothing writes the operand.",
  *mutate(model) {
    for (const site of operationSites(model)) {
      const { operation, label } = site;
      for (const position of operation.outputs.keys()) {
        const outputs = without(operation.outputs, position);
        yield invalid(
          `${label} has no output ${position}`,
          site.with({ operations: operationsWith(site, { outputs }) }),
        );
      }
    }
  },
};
