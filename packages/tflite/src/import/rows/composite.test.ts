import { describe, expect, test } from "vitest";
import { execute, expectValid, modelOf, type SubgraphGiven, showSubgraph } from "../../_model.test-helper.ts";
import { inspectTflite } from "../../describe/inspect.ts";
import { readTflite } from "../../read.ts";
import { writeTflite } from "../../write.ts";
import { importTflite } from "../import.ts";
import { assign, binary, f, handle, read, resource, runs } from "../state/_resources.test-helper.ts";

const attributes = [0, 1, 255];

const composite = (decompositionSubgraphIndex: number, options = {}): SubgraphGiven => ({
  tensors: { x: f, y: f },
  operators: [
    {
      name: "STABLEHLO_COMPOSITE",
      inputs: ["x"],
      outputs: ["y"],
      options: { name: "odml.rms_norm", decompositionSubgraphIndex, ...options },
    },
  ],
  inputs: ["x"],
  outputs: ["y"],
});

const twice: SubgraphGiven = {
  tensors: { a: f, b: f },
  operators: [{ name: "ADD", inputs: ["a", "a"], outputs: ["b"] }],
  inputs: ["a"],
  outputs: ["b"],
};

describe("STABLEHLO_COMPOSITE", () => {
  test("runs its decomposition", async () => {
    const imported = importTflite(modelOf(composite(1), twice));
    expectValid(imported);
    expect(showSubgraph(imported.model, imported.model.main)).toEqual([
      "IF(BOOL8[1](1), subgraph 0, subgraph 0, in0) -> out0",
    ]);
    expect(await execute(imported, [[1, 2]])).toEqual([[2, 4]]);
  });

  test("inside another one", async () => {
    const imported = importTflite(modelOf(composite(2), twice, composite(1)));
    expect(await execute(imported, [[1, 2]])).toEqual([[2, 4]]);
  });

  test("keeps the state of its decomposition", async () => {
    const counting: SubgraphGiven = {
      tensors: { a: f, h: resource, old: f, b: f },
      operators: [handle("h"), read("h", "old"), binary("ADD", ["old", "a"], "b"), assign("h", "b")],
      inputs: ["a"],
      outputs: ["b"],
    };
    const imported = importTflite(modelOf(composite(1), counting));
    expect(await runs(imported, [[[1, 2]], [[3, 4]]])).toEqual([[[1, 2]], [[4, 6]]]);
  });

  test("is written with its attributes, and read", () => {
    const options = { compositeAttributes: attributes, compositeAttributesFormat: 0, version: 3 };
    const model = modelOf(composite(1, options), twice);
    expect(readTflite(writeTflite(model))).toEqual(model);
  });

  test("has its own name in reports and problems", () => {
    const { operators } = inspectTflite(modelOf(composite(1), twice));
    expect(operators[0]).toMatchObject({
      name: "STABLEHLO_COMPOSITE",
      customCode: "odml.rms_norm",
      status: "hal",
      operations: ["IF"],
    });
    const [problem] = inspectTflite(modelOf(composite(7), twice)).problems;
    expect(problem?.operator).toMatchObject({ customCode: "odml.rms_norm" });
  });

  test.each([
    [7, "subgraphs[0]: there is no subgraph 7 that an operator may run"],
    [-1, "subgraphs[0]: there is no subgraph -1 that an operator may run"],
    [0, "subgraphs[0]: there is no subgraph 0 that an operator may run"],
  ])("of subgraph %d is refused", (index, message) => {
    expect(() => importTflite(modelOf(composite(index), twice))).toThrow(message);
  });

  test("a decomposition that runs itself is refused, and one that is nested too deep", () => {
    expect(() => importTflite(modelOf(composite(1), composite(1)))).toThrow("subgraph 1 runs itself");
    const chain = (length: number) => modelOf(...Array.from({ length }, (_, i) => composite(i + 1)), twice);
    expect(() => importTflite(chain(31))).not.toThrow();
    expect(() => importTflite(chain(32))).toThrow("subgraphs name each other more than 32 deep");
  });

  test("a chain of subgraphs that each run the next twice is imported once each", () => {
    const double = (next: number): SubgraphGiven => ({
      tensors: { x: f, y: f, z: f },
      operators: [
        ...composite(next).operators,
        { ...(composite(next).operators[0] ?? { name: "" }), inputs: ["y"], outputs: ["z"] },
      ],
      inputs: ["x"],
      outputs: ["z"],
    });
    const { model } = importTflite(modelOf(...Array.from({ length: 31 }, (_, i) => double(i + 1)), twice));
    expect(model.referenced).toHaveLength(31);
  });
});
