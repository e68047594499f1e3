/**
 * Models that compute with a constant tensor: two of them with different constants give different results.
 */

import { elementAt } from "@nnhal/operations";
import { type Memory, type Model, OperandLifeTime } from "@nnhal/types";
import { type ElementType, endAsUnsupported } from "../needs.ts";
import type { ExampleOperand } from "../vectors/example.ts";
import { type Bench, supportOf } from "./bench.ts";
import { constant, modelOfGraphs, operandOf } from "./small-models.ts";

/** x and a constant, [2, 3] each, added or multiplied. */
export interface ConstantModel {
  readonly model: Model;
  readonly type: ElementType;
  compute(values: readonly number[]): number[];
}

const operations = ["ADD", "MUL"] as const;

/** Scale of quantised types. Output scales of a MUL must be above the product of its inputs' scales. */
const scale = 0.5;

/** The first of ADD and MUL that the device supports, or the one that is named. `constants`: six elements. */
export async function constantModel(
  { device }: Bench,
  constants: readonly number[],
  type: ElementType = "TENSOR_FLOAT32",
  only?: (typeof operations)[number],
): Promise<ConstantModel> {
  const isQuantised = type.startsWith("TENSOR_QUANT");
  const scaled = (operand: ExampleOperand) => (isQuantised ? { ...operand, scale } : operand);
  let reason: string | undefined;
  for (const operation of only === undefined ? operations : [only]) {
    const model = modelOfGraphs({
      operands: [
        scaled(operandOf(type, [2, 3], "SUBGRAPH_INPUT")),
        scaled(constant(type, [2, 3], constants)),
        constant("INT32", [], [0]),
        scaled(operandOf(type, [2, 3], "SUBGRAPH_OUTPUT")),
      ],
      operations: [{ type: operation, inputs: [0, 1, 2], outputs: [3] }],
      inputIndexes: [],
      outputIndexes: [],
    });
    const answer = await supportOf(device, model);
    if (answer === undefined) {
      const factor = isQuantised ? scale : 1;
      const compute = (x: number, index: number) =>
        operation === "ADD" ? x + elementAt(constants, index) : x * elementAt(constants, index) * factor;
      return { model, type, compute: (values) => values.map(compute) };
    }
    reason ??= answer;
  }
  return endAsUnsupported(type === "TENSOR_FLOAT32" ? "constant tensors" : type, reason);
}

/** The model with its constant tensor at the start of a pool. */
export function constantInPool(model: Model, pool: Memory): Model {
  const { main } = model;
  const inModel = elementAt(main.operands, 1);
  const location = { poolIndex: 0, offset: 0, length: inModel.location.length };
  const operand = { ...inModel, lifetime: OperandLifeTime.CONSTANT_REFERENCE, location };
  return { ...model, main: { ...main, operands: main.operands.with(1, operand) }, pools: [pool] };
}
