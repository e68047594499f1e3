/** Results that are known when a plan is made. */
import { type GraphView, viewModel } from "@nnhal/backend";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { type Operand, OperandLifeTime, OperandType, type Operation, OperationType } from "@nnhal/types";
import { expect, it } from "vitest";
import { loadFor } from "./deferred.ts";
import { planGraph, refusalOf } from "./plan-graph.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, INT32, FLOAT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY } = OperandLifeTime;

/** A view of a model, of which constants have elements. */
function viewOf(
  operands: readonly (Partial<Operand> & { readonly data?: Int32Array | Float32Array })[],
  operations: Operation[],
): GraphView {
  const bytes: number[] = [];
  const own = operands.map(({ data, ...facts }): Operand => {
    if (data === undefined) return operand(facts);
    const location = { poolIndex: 0, offset: bytes.length, length: data.byteLength };
    bytes.push(...new Uint8Array(data.buffer));
    return operand({ ...facts, lifetime: CONSTANT_COPY, location });
  });
  const model = modelOf(subgraphOf(own, operations), { operandValues: Uint8Array.from(bytes) });
  return viewModel({ model, pools: [] });
}

const extentsOf = (graph: GraphView) => graph.inputs.map((index) => graph.operands[index]?.dimensions);

it("is the rank of a tensor, whatever its elements are", async () => {
  const graph = viewOf(
    [
      { type: TENSOR_FLOAT32, dimensions: [2, 3, 4], lifetime: SUBGRAPH_INPUT },
      { type: INT32, dimensions: [], lifetime: SUBGRAPH_OUTPUT },
    ],
    [{ type: OperationType.RANK, inputs: [0], outputs: [1] }],
  );
  await loadFor(graph);
  const plan = planGraph(graph, extentsOf(graph));
  const [copy] = plan.steps;
  expect(plan.steps.map(({ kind }) => kind)).toEqual(["move"]);
  const source = copy?.kind === "move" ? plan.regions[copy.source.region] : undefined;
  expect(source?.data).toEqual(Uint8Array.of(3, 0, 0, 0));
});

/** The best of some constant boxes, and their number of rows after an EXPAND_DIMS. */
function boxes(count: number, score: number, isConstant = true): GraphView {
  const scores = new Float32Array(2 * count).fill(score);
  const corners = new Float32Array(8 * count).map((_, place) => (place % 4 < 2 ? 0 : 1));
  const given = { type: TENSOR_FLOAT32, dimensions: [count, 8] };
  const results = { lifetime: TEMPORARY_VARIABLE, dimensions: [0] };
  return viewOf(
    [
      { type: TENSOR_FLOAT32, dimensions: [count, 2], data: scores },
      isConstant ? { ...given, data: corners } : { ...given, lifetime: SUBGRAPH_INPUT },
      { type: TENSOR_INT32, dimensions: [count], data: new Int32Array(count) },
      { type: FLOAT32, dimensions: [], data: Float32Array.of(0.5) },
      ...[-1, 0].map((number) => ({ type: INT32, dimensions: [], data: Int32Array.of(number) })),
      ...[0.5, 1, 0.5].map((number) => ({ type: FLOAT32, dimensions: [], data: Float32Array.of(number) })),
      { ...results, type: TENSOR_FLOAT32 },
      { ...results, type: TENSOR_FLOAT32, dimensions: [0, 4] },
      { ...results, type: TENSOR_INT32 },
      { ...results, type: TENSOR_INT32 },
      { type: INT32, dimensions: [], data: Int32Array.of(0) },
      { type: TENSOR_FLOAT32, dimensions: [1, 0], lifetime: SUBGRAPH_OUTPUT },
    ],
    [
      { type: OperationType.BOX_WITH_NMS_LIMIT, inputs: [0, 1, 2, 3, 4, 5, 6, 7, 8], outputs: [9, 10, 11, 12] },
      { type: OperationType.EXPAND_DIMS, inputs: [9, 13], outputs: [14] },
    ],
  );
}

it("is a result whose shape depends on data that are constant, and the shapes that follow", async () => {
  await loadFor(boxes(3, 0.9));
  const shapeOf = (graph: GraphView) => planGraph(graph, extentsOf(graph)).outputs.map(({ info }) => info.dimensions);
  // All boxes are the same one, of which one is left.
  expect(shapeOf(boxes(3, 0.9))).toEqual([[1, 1]]);
  expect(shapeOf(boxes(3, 0.1))).toEqual([[1, 0]]);
});

it("is not computed of many constants, or of data that are not constant", () => {
  const refusal = (graph: GraphView) => graph.operations.map((view) => refusalOf(view))[0];
  expect(refusal(boxes(3, 0.9))).toBeUndefined();
  expect(refusal(boxes(400, 0.9))).toBe(
    "BOX_WITH_NMS_LIMIT: constants of 4406 elements are too large to compute with them now",
  );
  expect(refusal(boxes(3, 0.9, false))).toBe("BOX_WITH_NMS_LIMIT: wasm does not have this operation");
});
