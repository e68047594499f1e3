/**
 * The model of one step: the operations that a device gets, with the operands they use. Constants are not copied:
 * values and pools are those of the planned model.
 */
import { elementAt } from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime } from "@nnhal/types";
import type { Wiring } from "./graph.ts";
import { modelWith } from "./part-model.ts";

/** A step's model, with the planned model's operand of each of its inputs and outputs. */
export interface StepModel {
  readonly model: Model;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

const { TEMPORARY_VARIABLE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;

/** Builds the model of a step. `group`: by operation of the planned model, its step. */
export function buildStepModel(
  model: Model,
  wiring: Wiring,
  operations: readonly number[],
  group: readonly number[],
): StepModel {
  const { main } = model;
  const step = elementAt(group, elementAt(operations, 0));
  const indexInStep = new Map<number, number>();
  const touched: number[] = [];
  /** By operand of the step: how many of its operations read it; absent if none does. */
  const consumers: number[] = [];
  const take = (operand: number): number => {
    let index = indexInStep.get(operand);
    if (index === undefined) {
      index = touched.push(operand) - 1;
      indexInStep.set(operand, index);
    }
    return index;
  };
  const stepOperations = operations.map((operation) => {
    const { type, inputs, outputs } = elementAt(main.operations, operation);
    const inputsInStep = inputs.map(take);
    for (const input of inputsInStep) consumers[input] = (consumers[input] ?? 0) + 1;
    return { type, inputs: inputsInStep, outputs: outputs.map(take) };
  });
  const readElsewhere = readOutside(model, wiring, operations, group, step);
  const crossing: Crossing[] = [];
  const operands = touched.map((planned, index): Operand => {
    const operand = elementAt(main.operands, planned);
    const role = roleOf(operand, planned, wiring, group, step, readElsewhere);
    if (role !== undefined) crossing.push({ index, planned, ...role });
    const { lifetime } = operand;
    const ownLifetime = role === undefined ? lifetime : role.isInput ? SUBGRAPH_INPUT : SUBGRAPH_OUTPUT;
    return { ...operand, lifetime: ownLifetime, numberOfConsumers: consumers[index] ?? 0 };
  });
  crossing.sort((a, b) => a.order - b.order || a.planned - b.planned);
  const inputs = crossing.filter(({ isInput }) => isInput);
  const outputs = crossing.filter(({ isInput }) => !isInput);
  const stepMain = {
    operands,
    operations: stepOperations,
    inputIndexes: inputs.map(({ index }) => index),
    outputIndexes: outputs.map(({ index }) => index),
  };
  return {
    model: modelWith(model, stepMain),
    inputs: inputs.map(({ planned }) => planned),
    outputs: outputs.map(({ planned }) => planned),
  };
}

/** The role of an operand at the step's border, and its rank in the list of inputs or outputs. */
interface Role {
  readonly isInput: boolean;
  readonly order: number;
}

/** A role with its operand: its index in the step's model and in the planned model. */
interface Crossing extends Role {
  readonly index: number;
  readonly planned: number;
}

/** Model inputs come first, then temporaries, then model outputs of other steps; outputs: the model's, then temporaries. */
function roleOf(
  { lifetime }: Operand,
  operand: number,
  wiring: Wiring,
  group: readonly number[],
  step: number,
  readElsewhere: ReadonlySet<number>,
): Role | undefined {
  if (lifetime === SUBGRAPH_INPUT) return { isInput: true, order: 0 };
  const isOwn = group[elementAt(wiring.writer, operand)] === step;
  if (lifetime === TEMPORARY_VARIABLE) {
    if (!isOwn) return { isInput: true, order: 1 };
    return readElsewhere.has(operand) ? { isInput: false, order: 1 } : undefined;
  }
  if (lifetime === SUBGRAPH_OUTPUT) return isOwn ? { isInput: false, order: 0 } : { isInput: true, order: 2 };
  return undefined;
}

/** The operands that the step writes and another step reads. */
function readOutside(
  { main }: Model,
  wiring: Wiring,
  operations: readonly number[],
  group: readonly number[],
  step: number,
): Set<number> {
  const read = new Set<number>();
  for (const operation of operations) {
    for (const consumer of elementAt(wiring.consumers, operation)) {
      if (group[consumer] === step) continue;
      for (const input of elementAt(main.operations, consumer).inputs) {
        if (wiring.writer[input] === operation) read.add(input);
      }
    }
  }
  return read;
}
