import { describe, expect, test } from "vitest";
import {
  add,
  changeModel,
  execute,
  expectValid,
  firstSubgraph,
  importLines,
  ofOperators,
  oneOperator,
  problemOf,
} from "../_model.test-helper.ts";
import type { TfliteModel, TfliteTensor } from "../model.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const weights = { type: "FLOAT32", shape: [2], data: [3, 4] } as const;

/** A model with tensors of its first subgraph changed, by name. */
function replaceTensors(model: TfliteModel, name: string, change: Partial<TfliteTensor>): TfliteModel {
  return changeModel(model, ({ tensors }) => ({
    tensors: tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor)),
  }));
}

describe("inputs and outputs", () => {
  test("are described in order, with their names in the signature", () => {
    const one = oneOperator("ADD", { a: f, b: { ...f, type: "FLOAT32" } }, { y: f });
    const model = {
      ...one,
      subgraphs: [firstSubgraph(one), firstSubgraph(one)],
      signatures: [
        { key: "other", subgraph: 1, inputs: [{ name: "wrong", tensor: 0 }], outputs: [] },
        { key: "serving", subgraph: 0, inputs: [{ name: "left", tensor: 0 }], outputs: [{ name: "sum", tensor: 2 }] },
      ],
    };
    const { inputs, outputs, states } = importTflite(model);
    const tensor = { tensorType: "FLOAT32", type: "TENSOR_FLOAT32", shape: [2], scale: 0, zeroPoint: 0 };
    expect(inputs).toEqual([
      { name: "a", signatureName: "left", ...tensor },
      { name: "b", ...tensor },
    ]);
    expect(outputs).toEqual([{ name: "y", signatureName: "sum", ...tensor }]);
    expect(states).toEqual([]);
  });

  describe("of a signature", () => {
    const one = ofOperators(
      { a: f, b: f, s: f, y: f },
      [add(["a", "b"], "s"), add(["s", "b"], "y")],
      ["a", "b"],
      ["y"],
    );
    const other = ofOperators({ x: f, y: f }, [add(["x", "x"], "y")], ["x"], ["y"]);
    const named = (name: string, tensor: number) => ({ name, tensor });
    const model: TfliteModel = {
      ...one,
      subgraphs: [firstSubgraph(one), firstSubgraph(other)],
      signatures: [
        {
          key: "first",
          subgraph: 0,
          inputs: [named("right", 1), named("left", 0)],
          outputs: [named("whole", 3), named("part", 2), named("again", 3)],
        },
        { key: "second", subgraph: 1, inputs: [named("only", 0)], outputs: [named("twice", 1)] },
        { key: "less", subgraph: 0, inputs: [named("right", 1)], outputs: [named("part", 2)] },
        { key: "wrong", subgraph: 0, inputs: [named("right", 2)], outputs: [named("part", 2)] },
        { key: "double", subgraph: 1, inputs: [named("x", 0), named("y", 0)], outputs: [named("twice", 1)] },
      ],
    };
    const namesOf = (list: readonly { readonly name: string; readonly signatureName?: string }[]) =>
      list.map(({ name, signatureName }) => [name, signatureName]);

    test("they are in its order, with its names", async () => {
      const imported = importTflite(model, { signature: "first" });
      expectValid(imported);
      expect(namesOf(imported.inputs)).toEqual([
        ["b", "right"],
        ["a", "left"],
      ]);
      expect(namesOf(imported.outputs)).toEqual([
        ["y", "whole"],
        ["s", "part"],
        ["y", "again"],
      ]);
      expect(
        await execute(imported, [
          [1, 2],
          [10, 20],
        ]),
      ).toEqual([
        [12, 24],
        [11, 22],
        [12, 24],
      ]);
    });

    test("its subgraph is imported, whichever that is", async () => {
      const imported = importTflite(model, { signature: "second" });
      expect([...namesOf(imported.inputs), ...namesOf(imported.outputs)]).toEqual([
        ["x", "only"],
        ["y", "twice"],
      ]);
      expect(await execute(imported, [[1, 2]])).toEqual([[2, 4]]);
    });

    test("inputs that it does not name follow, and operators that only other outputs need are left out", () => {
      const imported = importTflite(model, { signature: "less" });
      expect(namesOf(imported.inputs)).toEqual([
        ["b", "right"],
        ["a", undefined],
      ]);
      expect(imported.operators).toEqual([{ name: "ADD", index: 0 }]);
    });

    test("all signatures are listed", () => {
      expect(importTflite(model).signatures.slice(0, 2)).toEqual([
        { key: "first", inputs: ["right", "left"], outputs: ["whole", "part", "again"] },
        { key: "second", inputs: ["only"], outputs: ["twice"] },
      ]);
    });

    test.each([
      [model, "third", 'there is no signature "third"; there are "first", "second", "less", "wrong", "double"'],
      [one, "third", 'there is no signature "third"; the file has none'],
      [model, "wrong", '"right" is tensor 2, which is not an input'],
      [model, "double", "subgraphs[1].inputs: tensor 0 is listed twice"],
      [model, 7, "options.signature: expected a string, got the number 7"],
    ])("%# is refused", (given, signature, message) => {
      expect(problemOf(given, { signature })).toContain(message);
    });
  });

  test("an input that is not read stays an input", () => {
    const model = ofOperators({ x: f, z: f, y: f }, [add(["x", "x"], "y")], ["z", "x"], ["y"]);
    const imported = importTflite(model);
    expectValid(imported);
    expect(imported.inputs.map(({ name }) => name)).toEqual(["z", "x"]);
    expect(importLines(model)).toEqual(["ADD(in1, in1, 0) -> out0"]);
  });

  test("an output may be read by operators too", async () => {
    const model = ofOperators({ x: f, s: f, y: f }, [add(["x", "x"], "s"), add(["s", "x"], "y")], ["x"], ["y", "s"]);
    expect(importLines(model)).toEqual(["ADD(in0, in0, 0) -> out1", "ADD(out1, in0, 0) -> out0"]);
    expect(await execute(importTflite(model), [[1, 2]])).toEqual([
      [3, 6],
      [2, 4],
    ]);
  });

  test("an output that is a constant with a scale per channel has the stored elements", async () => {
    const k = { type: "INT8", shape: [2, 2], data: [1, -2, 3, 4], scale: [0.5, 0.25], zeroPoint: [0, 0] } as const;
    const model = ofOperators({ a: f, k, y: f }, [add(["a", "a"], "y")], ["a"], ["y", "k"]);
    const imported = importTflite(model);
    expectValid(imported);
    expect(imported.outputs[1]).toMatchObject({
      type: "TENSOR_QUANT8_ASYMM_SIGNED",
      shape: [2, 2],
      scale: 1,
      zeroPoint: 0,
    });
    expect(await execute(imported, [[1, 2]])).toEqual([
      [2, 4],
      [1, -2, 3, 4],
    ]);
  });

  test("an output that is an input, a constant or listed twice is a copy", async () => {
    const model = ofOperators({ x: f, w: weights, y: f }, [add(["x", "w"], "y")], ["x"], ["y", "x", "w", "y"]);
    expect(importLines(model)).toEqual([
      "ADD(in0, FLOAT32[2](3,4), 0) -> out0",
      "CAST(in0) -> out1",
      "CAST(FLOAT32[2](3,4)) -> out2",
      "CAST(out0) -> out3",
    ]);
    expect(await execute(importTflite(model), [[1, 2]])).toEqual([
      [4, 6],
      [1, 2],
      [3, 4],
      [4, 6],
    ]);
    expect(importTflite(model).operators.slice(1)).toEqual(new Array(3).fill({ name: "", index: -1 }));
  });

  test("a tensor that nothing writes is refused even if only its shape is asked for", () => {
    const shape = { type: "INT32", shape: [3] } as const;
    const model = ofOperators({ z: f, y: shape }, [{ name: "SHAPE", inputs: ["z"], outputs: ["y"] }], [], ["y"]);
    expect(problemOf(model, { extensions: true })).toContain(
      'reads tensor 0 "z" (FLOAT32[2]), which no operator writes',
    );
  });

  describe("a computed shape that is ignored, since the result's shape is known,", () => {
    const target = { type: "INT32", shape: [1] } as const;
    const reshape = (shape: string, result: string) => ({ name: "RESHAPE", inputs: ["x", shape], outputs: [result] });
    const compute = (result: string) => ({ name: "SHAPE", inputs: ["x"], outputs: [result] });
    const tensors = { x: f, s: target, y: f };

    test("may be written before", async () => {
      const model = ofOperators(tensors, [compute("s"), reshape("s", "y")], ["x"], ["y"]);
      expect(await execute(importTflite(model), [[1, 2]])).toEqual([[1, 2]]);
    });

    test.each([
      ["later", [reshape("s", "y"), compute("s")], "(INT32[1]), which operator 1 writes later"],
      ["by the operator itself", [reshape("y", "y")], "(FLOAT32[2]), which it writes itself"],
    ] as const)("must not be written %s", (_, operators, message) => {
      expect(problemOf(ofOperators(tensors, operators, ["x"], ["y"]))).toContain(message);
    });
  });

  test("a result is refused whose inferred shape the HAL cannot express", () => {
    const large = (...shape: number[]) => ({ type: "FLOAT32", shape }) as const;
    const model = ofOperators(
      { a: large(1, 70_000), b: large(70_000, 1), y: large(1) },
      [{ name: "SQUARED_DIFFERENCE", inputs: ["a", "b"], outputs: ["y"] }],
      ["a", "b"],
      ["y"],
    );
    expect(problemOf(model)).toContain("70000] takes more than the 4294967295 bytes that the HAL can express");
  });

  test("an output that nothing writes is refused", () => {
    const model = ofOperators({ x: f, z: f, y: f }, [add(["x", "x"], "y")], ["x"], ["y", "z"]);
    expect(problemOf(model)).toContain(
      `subgraphs[0].tensors[1] "z": is an output, but nothing writes it and it has no data`,
    );
  });

  test("an input listed twice is refused", () => {
    const model = ofOperators({ x: f, y: f }, [add(["x", "x"], "y")], ["x", "x"], ["y"]);
    expect(problemOf(model)).toContain("subgraphs[0].inputs: tensor 0 is listed twice");
  });

  test("a model that does nothing is refused", () => {
    expect(problemOf(ofOperators({ x: f }, [], ["x"], []))).toContain("subgraphs[0]: has no operators");
  });

  test.each(["STRING", "FLOAT64", "FLOAT8_E5M2", "BFLOAT16", "COMPLEX64"] as const)(
    "a tensor of %s is refused",
    (type) => {
      expect(problemOf(oneOperator("ABS", { x: { type, shape: [2] } }, { y: f }))).toBe(
        `TfliteError: subgraphs[0].tensors[0] "x": the HAL has no tensors of type ${type}`,
      );
    },
  );

  test("a scalar is one element in one dimension", () => {
    const { inputs } = importTflite(oneOperator("ABS", { x: { shape: [] } }, { y: { shape: [] } }));
    expect(inputs[0]?.shape).toEqual([1]);
  });

  test.each([
    [[-2], "the extent -2 in the shape [-2] is not valid"],
    [[2 ** 31], "the extent 2147483648 in the shape [2147483648] is not valid"],
  ])("the shape %j is refused", (shape, message) => {
    const model = oneOperator("ABS", { x: f }, { y: f });
    expect(problemOf(replaceTensors(model, "y", { shape }))).toContain(message);
  });
});
