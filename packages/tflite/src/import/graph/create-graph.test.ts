import { describe, expect, it } from "vitest";
import { add, firstSubgraph, modelOf } from "../../_model.test-helper.ts";
import { createConstants } from "../constants.ts";
import { createDialect, halOperation } from "../dialect.ts";
import type { Graph } from "../graph.ts";
import { createGraph } from "./create-graph.ts";

const f = { type: "FLOAT32", shape: [2, 3] } as const;
const floats = { type: "TENSOR_FLOAT32", dimensions: [2, 3], scale: 0, zeroPoint: 0 } as const;

function sum() {
  const model = modelOf({
    tensors: { x: f, y: f, z: f },
    operators: [add(["x", "y"], "z")],
    inputs: ["x", "y"],
    outputs: ["z"],
  });
  const subgraph = firstSubgraph(model);
  const constants = createConstants(model);
  const dialect = createDialect({ hasExtension: false, quantisesInputs: false, halVersion: "1.3", custom: [] });
  const shapes = subgraph.tensors.map(({ shape }) => shape);
  const facts = { index: 0, narrow: new Set<number>(), dialect, returnsStates: false };
  return { constants, graph: createGraph(subgraph, shapes, constants, facts) };
}

/** Plans an addition of a constant, of which the file does not know. */
function plan(graph: Graph): void {
  const operation = halOperation("ADD");
  if (operation === undefined) throw new TypeError("ADD is not defined");
  const one = graph.constant({ ...floats, dimensions: [1] }, new Uint8Array(4));
  graph.setShape(2, [2, 9]);
  const activation = graph.share("none", { ...floats, type: "INT32", dimensions: [] }, new Uint8Array(4));
  graph.emit(operation, [graph.operand(0), one, activation], [graph.operand(2)], 0);
}

describe("A draft of a graph", () => {
  it("leaves nothing if it is not kept", () => {
    const { constants, graph } = sum();
    plan(graph.draft().graph);
    expect(graph.listEmitted()).toEqual([]);
    expect(graph.isContradicted()).toBe(false);
    expect([graph.tensor(2)?.shape, graph.dimensions(2), graph.usedShape(2)]).toEqual([[2, 3], [2, 3], undefined]);
    expect(constants.finish().operandValues).toHaveLength(0);
    expect(() => graph.finish()).toThrow("subgraphs[0]: has no operators");
  });

  it("is part of the graph once it is kept", () => {
    const { constants, graph } = sum();
    const draft = graph.draft();
    plan(draft.graph);
    draft.keep();
    expect(graph.listEmitted()).toMatchObject([{ operation: { name: "ADD" }, origin: 0 }]);
    expect(graph.isContradicted()).toBe(true);
    expect([graph.tensor(2)?.shape, graph.usedShape(2)]).toEqual([
      [2, 9],
      [2, 9],
    ]);
    const { subgraph } = graph.finish();
    expect(subgraph.operations).toHaveLength(1);
    expect(subgraph.operands[0]?.location).toEqual({ poolIndex: 0, offset: 0, length: 4 });
    expect(constants.finish().operandValues).toHaveLength(8);
  });

  it("can be followed by another, which knows nothing of one that was not kept", () => {
    const { constants, graph } = sum();
    plan(graph.draft().graph);
    const second = graph.draft();
    plan(second.graph);
    second.keep();
    expect(graph.listEmitted()).toHaveLength(1);
    expect(constants.finish().operandValues).toHaveLength(8);
  });
});
