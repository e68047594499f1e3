/**
 * Estimated time of an operation on a device of performance 1, the reference: its work by its definition, times the cost of
 * each step.
 */
import { elementAt, operationByCode, workKinds, workOf } from "@nnhal/operations";
import { type Operand, operandTypeNames, operandTypes, type Subgraph } from "@nnhal/types";
import type { CostModel } from "./policy.ts";

/** Nanoseconds that an operation takes on a device of performance 1, except its start. Unknown extents count as 1. */
export function timeOf(subgraph: Subgraph, index: number, costs: CostModel): number {
  const { type, inputs, outputs } = elementAt(subgraph.operations, index);
  const read = inputs.map((operand) => elementAt(subgraph.operands, operand));
  const written = outputs.map((operand) => elementAt(subgraph.operands, operand));
  const work = workOf(operationByCode(type), read.map(dimensionsOf), written.map(dimensionsOf));
  const prices = isQuantised(read[0]) ? { ...costs, element: costs.quantisedElement } : costs;
  return workKinds.reduce((time, kind) => time + prices[kind] * (work[kind] ?? 0), 0);
}

function dimensionsOf({ dimensions }: Operand): readonly number[] {
  return dimensions;
}

/** Returns true if elements must be requantised. */
function isQuantised(operand: Operand | undefined): boolean {
  const name = operandTypeNames.get(operand?.type ?? Number.NaN);
  const quantisation = name && operandTypes[name].quantisation;
  return quantisation === "asymmetric" || quantisation === "symmetric";
}
