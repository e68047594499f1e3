/** Models of some operations of a model, so that each can be run by itself. */
import { type Model, type Operand, OperandLifeTime } from "@nnhal/types";
import { wiringOf } from "./graph.ts";
import { buildStepModel, type StepModel } from "./step-model.ts";

/**
 * Returns what makes the model of some operations, in the order of the model. Its inputs are the values that others write or that the
 * whole model gets, its outputs those that others read or that are results of the whole model. It holds the constants of these operations
 * alone, so that it is as small as they are; constants in pools stay there.
 */
export function partsOf(model: Model): (operations: readonly number[]) => StepModel {
  const wiring = wiringOf(model.main);
  const outside = 0;
  return (operations) => {
    const group = new Array<number>(model.main.operations.length).fill(outside);
    for (const operation of operations) group[operation] = 1;
    const part = buildStepModel(model, wiring, operations, group);
    // Subgraphs have constants in the same bytes.
    return part.model.referenced.length > 0 ? part : { ...part, model: withOwnConstants(part.model) };
  };
}

function withOwnConstants(model: Model): Model {
  const { operandValues, main } = model;
  let size = 0;
  const places: { readonly from: number; readonly to: number; readonly length: number }[] = [];
  const operands = main.operands.map((operand): Operand => {
    if (operand.lifetime !== OperandLifeTime.CONSTANT_COPY) return operand;
    const { offset, length } = operand.location;
    places.push({ from: offset, to: size, length });
    const moved = { ...operand, location: { ...operand.location, offset: size } };
    // Values of each type lie at a multiple of their size.
    size += Math.ceil(length / alignment) * alignment;
    return moved;
  });
  const own = new Uint8Array(size);
  for (const { from, to, length } of places) own.set(operandValues.subarray(from, from + length), to);
  return { ...model, operandValues: own, main: { ...main, operands } };
}

/** Bytes. */
const alignment = 8;
