/**
 * The model of one step: the operations that a device gets, with the operands they touch. Constants stay where they are:
 * values and pools are the planned model's own.
 */
import { type Model, type Operand, OperandLifeTime } from "@nnhal/types";
import { modelWith, type Wiring } from "./graph.ts";

/** A step's model, and the planned model's operands that its inputs and outputs are. */
export interface StepModel {
  readonly model: Model;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

const { TEMPORARY_VARIABLE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;

/** Builds the model of a step. `group`: by operation of the planned model the step that it is in. */
export function buildStepModel(
  model: Model,
  wiring: Wiring,
  operations: readonly number[],
  group: readonly number[],
): StepModel {
  const { main } = model;
  const step = group[operations[0]];
  const indexInStep = new Map<number, number>();
  const touched: number[] = [];
  const consumers: number[] = [];
  const take = (operand: number): number => {
    let index = indexInStep.get(operand);
    if (index === undefined) {
      index = touched.push(operand) - 1;
      indexInStep.set(operand, index);
      consumers.push(0);
    }
    return index;
  };
  const stepOperations = operations.map((operation) => {
    const { type, inputs, outputs } = main.operations[operation];
    const inputsInStep = inputs.map(take);
    for (const input of inputsInStep) consumers[input]++;
    return { type, inputs: inputsInStep, outputs: outputs.map(take) };
  });
  const readElsewhere = readOutside(model, wiring, operations, group, step);
  const roles = touched.map((operand) => roleOf(main.operands[operand], operand, wiring, group, step, readElsewhere));
  const operands = touched.map((operand, index): Operand => {
    const { lifetime } = main.operands[operand];
    const role = roles[index];
    const ownLifetime = role === undefined ? lifetime : role.isInput ? SUBGRAPH_INPUT : SUBGRAPH_OUTPUT;
    return { ...main.operands[operand], lifetime: ownLifetime, numberOfConsumers: consumers[index] };
  });
  const listed = (isInput: boolean) => {
    const indexes = touched.map((_, index) => index).filter((index) => roles[index]?.isInput === isInput);
    return indexes.sort((a, b) => (roles[a]?.order ?? 0) - (roles[b]?.order ?? 0) || touched[a] - touched[b]);
  };
  const inputIndexes = listed(true);
  const outputIndexes = listed(false);
  return {
    model: modelWith(model, { operands, operations: stepOperations, inputIndexes, outputIndexes }),
    inputs: inputIndexes.map((index) => touched[index]),
    outputs: outputIndexes.map((index) => touched[index]),
  };
}

/** An operand that crosses the step's border, and its rank in the list of inputs or outputs. */
interface Role {
  readonly isInput: boolean;
  readonly order: number;
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
  const isOwn = group[wiring.writer[operand]] === step;
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
    for (const consumer of wiring.consumers[operation]) {
      if (group[consumer] === step) continue;
      for (const input of main.operations[consumer].inputs) {
        if (wiring.writer[input] === operation) read.add(input);
      }
    }
  }
  return read;
}
