/**
 * Models with IF and WHILE around a small operation.
 */
import type { Model } from "@nnhal/types";
import { elementTypes, endAsUnsupported } from "../needs.ts";
import type { ExampleOperand, ExampleSubgraph } from "../vectors/example.ts";
import { type Bench, supportOf } from "./bench.ts";
import {
  buildSmallModel,
  constant,
  modelOfGraphs,
  operandOf,
  type SmallModel,
  smallOperations,
} from "./small-models.ts";

const noNumbers = { inputIndexes: [], outputIndexes: [] };

function reference(subgraph: number): ExampleOperand {
  const data = new Uint8Array(4);
  data[0] = subgraph;
  return { ...operandOf("SUBGRAPH", [], "SUBGRAPH"), data };
}

/** An IF between two branches of one small operation each. Inputs: the condition and x. */
export function ifModel({ operation, type, dimensions }: SmallModel): Model {
  const scaled = (lifetime: ExampleOperand["lifetime"]): ExampleOperand => ({
    ...operandOf(type, dimensions, lifetime),
    ...(type.startsWith("TENSOR_QUANT") && { scale: 0.5 }),
  });
  const branch = (): ExampleSubgraph => {
    const operands = [scaled("SUBGRAPH_INPUT"), scaled("SUBGRAPH_OUTPUT")];
    const inputs = operation.inputs(dimensions).map((input) => (input === "x" ? 0 : operands.push(input) - 1));
    return { ...noNumbers, operands, operations: [{ type: operation.name, inputs, outputs: [1] }] };
  };
  const main: ExampleSubgraph = {
    ...noNumbers,
    operands: [
      operandOf("TENSOR_BOOL8", [1], "SUBGRAPH_INPUT"),
      reference(0),
      reference(1),
      scaled("SUBGRAPH_INPUT"),
      scaled("SUBGRAPH_OUTPUT"),
    ],
    operations: [{ type: "IF", inputs: [0, 1, 2, 3], outputs: [4] }],
  };
  return modelOfGraphs(main, [branch(), branch()]);
}

/** A model of one small operation that the device does not support. */
export async function unsupportedOperation({ device, version }: Bench): Promise<SmallModel> {
  for (const type of elementTypes) {
    for (const operation of smallOperations) {
      if ((operation.since[type] ?? "9") > version) continue;
      const small = buildSmallModel(operation, { type });
      if ((await supportOf(device, small.model)) !== undefined) return small;
    }
  }
  return endAsUnsupported("unsupported operations", "the device supports every one that the kit would take for such");
}

/**
 * A WHILE that goes on as long as i < limit, and adds 1 to i each time. Input: i; output: the final i, of TENSOR_FLOAT32 [1].
 * With a limit of infinity it never ends.
 */
export async function countingModel({ device }: Bench, limit: number): Promise<Model> {
  const number = (lifetime: ExampleOperand["lifetime"]) => operandOf("TENSOR_FLOAT32", [1], lifetime);
  const condition: ExampleSubgraph = {
    ...noNumbers,
    operands: [
      number("SUBGRAPH_INPUT"),
      constant("TENSOR_FLOAT32", [1], [limit]),
      operandOf("TENSOR_BOOL8", [1], "SUBGRAPH_OUTPUT"),
    ],
    operations: [{ type: "LESS", inputs: [0, 1], outputs: [2] }],
  };
  const body: ExampleSubgraph = {
    ...noNumbers,
    operands: [
      number("SUBGRAPH_INPUT"),
      constant("TENSOR_FLOAT32", [1], [1]),
      constant("INT32", [], [0]),
      number("SUBGRAPH_OUTPUT"),
    ],
    operations: [{ type: "ADD", inputs: [0, 1, 2], outputs: [3] }],
  };
  const main: ExampleSubgraph = {
    ...noNumbers,
    operands: [reference(0), reference(1), number("SUBGRAPH_INPUT"), number("SUBGRAPH_OUTPUT")],
    operations: [{ type: "WHILE", inputs: [0, 1, 2], outputs: [3] }],
  };
  const model = modelOfGraphs(main, [condition, body]);
  const reason = await supportOf(device, model);
  return reason === undefined ? model : endAsUnsupported("WHILE", reason);
}
