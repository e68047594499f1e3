/**
 * A model whose operations leave out trailing inputs that hold their default. The NNAPI runtime does the same before it
 * asks which HAL version a model needs.
 */
import { elementAt, layOut, matchOperation, operationByCode, type Param } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  type Operation,
  operandTypeNames,
  type Subgraph,
} from "@nnhal/types";

export function withoutDefaults(model: Model): Model {
  const subgraph = (old: Subgraph): Subgraph => {
    const operands = [...old.operands];
    const operations = old.operations.map((operation) => {
      const count = countWithoutDefaults(operation, old.operands, model.operandValues);
      for (const index of operation.inputs.slice(count)) operands[index] = withoutConsumer(elementAt(operands, index));
      return { ...operation, inputs: operation.inputs.slice(0, count) };
    });
    return { ...old, operands, operations };
  };
  return { ...model, main: subgraph(model.main), referenced: model.referenced.map(subgraph) };
}

/** One consumer less; an operand without consumers becomes one that every HAL version knows. */
function withoutConsumer(operand: Operand): Operand {
  const numberOfConsumers = operand.numberOfConsumers - 1;
  if (numberOfConsumers > 0) return { ...operand, numberOfConsumers };
  const location = { poolIndex: 0, offset: 0, length: 0 };
  return { ...operand, type: 1, lifetime: OperandLifeTime.NO_VALUE, location, numberOfConsumers };
}

/** The least legal number of inputs that leaves out defaults only. */
function countWithoutDefaults({ type, inputs, outputs }: Operation, operands: readonly Operand[], values: Uint8Array) {
  const definition = operationByCode(type);
  if (definition === undefined) return inputs.length;
  const typeOf = (index: number) => operandTypeNames.get(elementAt(operands, index).type);
  const match = matchOperation(definition, inputs.map(typeOf), outputs.map(typeOf));
  if ("mismatch" in match) return inputs.length;
  const { params, counts } = match.form;
  const positions = layOut(params, counts, inputs.length) ?? [];
  let least = inputs.length;
  for (let count = inputs.length - 1; count >= 0; count--) {
    if (!holdsDefault(elementAt(positions, count), elementAt(operands, elementAt(inputs, count)), values)) break;
    if (counts === undefined || counts.includes(count)) least = count;
  }
  return least;
}

function holdsDefault(param: Param, { lifetime, location, type }: Operand, values: Uint8Array): boolean {
  if (param.since === undefined || param.default === undefined || lifetime !== OperandLifeTime.CONSTANT_COPY)
    return false;
  const view = new DataView(values.buffer, values.byteOffset + location.offset, location.length);
  const name = operandTypeNames.get(type);
  if (name === "BOOL") return (view.getUint8(0) !== 0) === param.default;
  return name === "INT32" && view.getInt32(0, true) === param.default;
}
