import { elementAt } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { graphToJson } from "./json.ts";
import { branchingModel, convolutionModel, extensionModel, modelOf } from "./models.test-helper.ts";
import { modelSummary } from "./summary.ts";

describe("graphToJson", () => {
  it("tells what a dump tells, and the numbers", () => {
    const { name, relaxComputationFloat32toFloat16, main } = graphToJson("test", convolutionModel());
    expect([name, relaxComputationFloat32toFloat16, main.index, main.subgraphs]).toEqual(["test", false, null, []]);
    expect([main.inputs, main.outputs]).toEqual([[0], [6]]);
    expect(main.operands[0]).toEqual({
      index: 0,
      type: "TENSOR_QUANT8_ASYMM",
      dimensions: [1, 8, 8, 3],
      lifetime: "SUBGRAPH_INPUT",
      input: 0,
      numberOfConsumers: 0,
      scale: 0.5,
      zeroPoint: 128,
    });
    expect(main.operands[4]).toMatchObject({ type: "INT32", lifetime: "CONSTANT_COPY", value: 2 });
    expect(main.operands[6]).toMatchObject({ output: 0 });
    expect(main.operations).toEqual([
      {
        index: 0,
        type: "CONV_2D",
        inputs: [0, 1, 2, 3, 4, 4, 5],
        outputs: [6],
        inputNames: ["input", "filter", "bias", "paddingScheme", "strideWidth", "strideHeight", "activation"],
        isKnown: true,
      },
    ]);
  });

  it("nests subgraphs as the clusters of a dump do", () => {
    const { main } = graphToJson("test", branchingModel());
    expect(main.operands[1]).toMatchObject({ type: "SUBGRAPH", subgraph: 0 });
    expect(main.subgraphs.map(({ index, subgraphs }) => [index, subgraphs.map((inner) => inner.index)])).toEqual([
      [0, [2]],
      [1, []],
    ]);
    expect(elementAt(elementAt(main.subgraphs, 0).operations, 0).inputNames).toEqual([
      "condition",
      "then",
      "else",
      "inputs",
    ]);
  });

  it("names extensions, and no parameters that it cannot know", () => {
    const { operands, operations } = graphToJson("test", extensionModel("com.example.test")).main;
    expect(operands.map(({ type }) => type)).toEqual([
      "com.example.test type 1",
      "operand type 1 of extension prefix 8",
      "com.example.test type 1",
    ]);
    expect(operations[0]).toMatchObject({ type: "com.example.test operation 2", inputNames: [] });
  });

  it("is plain JSON", () => {
    const graph = graphToJson("test", branchingModel());
    expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
  });
});

describe("modelSummary", () => {
  it("counts what there is", () => {
    expect(modelSummary(convolutionModel())).toBe("1 operation, 7 operands, 1 input, 1 output");
    expect(modelSummary(branchingModel())).toBe("1 operation, 5 operands, 2 inputs, 1 output, 3 referenced subgraphs");
    expect(modelSummary(modelOf({}))).toBe("0 operations, 0 operands, 0 inputs, 0 outputs");
  });
});
