/**
 * Inputs at the end of an operation that have their default values. Without them, drivers of older HAL versions can
 * support the operation (Android's runtime removes them when a model is finished). The operation's definition says
 * which inputs are optional and what their defaults are.
 */
import { elementAt, type Form, layOut, matchOperation, operationByCode } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  type Operation,
  operandTypeNames,
  type Subgraph,
} from "@nnhal/types";

/** By model, the model without them; models are immutable. */
const shortened = new WeakMap<Model, Model>();

/**
 * The model without trailing inputs that are constants of their default values, and without those constants if no other
 * operation reads them, because an old driver does not know their types; the model itself if there are none. Operations
 * keep their indexes. Only small constants are checked: those in pools would need to be mapped.
 */
export function withoutTrailingDefaults(model: Model): Model {
  let result = shortened.get(model);
  if (result === undefined) {
    const main = shortenSubgraph(model.main, model.operandValues);
    const referenced = model.referenced.map((subgraph) => shortenSubgraph(subgraph, model.operandValues));
    const isSame = main === model.main && referenced.every((subgraph, index) => subgraph === model.referenced[index]);
    result = isSame ? model : { ...model, main, referenced };
    shortened.set(model, result);
    shortened.set(result, result);
  }
  return result;
}

function shortenSubgraph(subgraph: Subgraph, operandValues: Uint8Array): Subgraph {
  /** By operand, the number of inputs that were removed. */
  const givenUp = new Map<number, number>();
  const operations = subgraph.operations.map((operation) => {
    const count = neededInputs(operation, subgraph.operands, operandValues);
    if (count === operation.inputs.length) return operation;
    for (const operand of operation.inputs.slice(count)) givenUp.set(operand, (givenUp.get(operand) ?? 0) + 1);
    return { ...operation, inputs: operation.inputs.slice(0, count) };
  });
  return givenUp.size === 0 ? subgraph : withoutUnread({ ...subgraph, operations }, givenUp);
}

/** Removes operands that are no longer read. `givenUp`: by operand, the number of readers that it has lost. */
function withoutUnread(subgraph: Subgraph, givenUp: ReadonlyMap<number, number>): Subgraph {
  const operands: Operand[] = [];
  const moved = subgraph.operands.map((operand, index) => {
    const lost = givenUp.get(index) ?? 0;
    const numberOfConsumers = operand.numberOfConsumers - lost;
    if (lost > 0 && numberOfConsumers === 0) return -1;
    return operands.push(lost > 0 ? { ...operand, numberOfConsumers } : operand) - 1;
  });
  const all = (indexes: readonly number[]) => indexes.map((index) => elementAt(moved, index));
  return {
    operands,
    operations: subgraph.operations.map(({ type, inputs, outputs }) => ({
      type,
      inputs: all(inputs),
      outputs: all(outputs),
    })),
    inputIndexes: all(subgraph.inputIndexes),
    outputIndexes: all(subgraph.outputIndexes),
  };
}

/** The number of inputs that an operation needs. */
function neededInputs(
  { type, inputs, outputs }: Operation,
  operands: readonly Operand[],
  operandValues: Uint8Array,
): number {
  const definition = operationByCode(type);
  if (definition === undefined) return inputs.length;
  const last = inputs.length - 1;
  const lastInput = inputs[last];
  if (lastInput === undefined) return inputs.length;
  const lastOperand = elementAt(operands, lastInput);
  // Few operations have such inputs: only they are matched.
  if (!definition.forms.some((form) => isDefault(form, last, lastOperand, operandValues))) return inputs.length;
  const typeOf = (operand: number) => operandTypeNames.get(elementAt(operands, operand).type);
  const matchOf = (count: number) =>
    matchOperation(definition, inputs.slice(0, count).map(typeOf), outputs.map(typeOf));
  const match = matchOf(inputs.length);
  if ("mismatch" in match) return inputs.length;
  const { form } = match;
  let needed = inputs.length;
  for (const [count, input] of [...inputs.entries()].reverse()) {
    if (!isDefault(form, count, elementAt(operands, input), operandValues)) break;
    const shorter = matchOf(count);
    // Some inputs belong together: the form has no list that ends between them.
    if (!("mismatch" in shorter) && shorter.form === form) needed = count;
  }
  return needed;
}

/** Returns true if the input at a position is a small constant with the value of an omitted input. */
function isDefault(form: Form, position: number, operand: Operand, operandValues: Uint8Array): boolean {
  const value = layOut(form.params, undefined, position + 1)?.[position]?.default;
  if (value === undefined || operand.lifetime !== OperandLifeTime.CONSTANT_COPY) return false;
  const { buffer, byteOffset, byteLength } = operandValues;
  const { offset } = operand.location;
  if (typeof value === "boolean") return (operandValues[offset] !== 0) === value;
  return offset + 4 <= byteLength && new DataView(buffer, byteOffset).getInt32(offset, true) === value;
}
