import { elementAt } from "@nnhal/operations";
import { type Operand, OperandLifeTime } from "@nnhal/types";
import { describe, expect, test } from "vitest";
import {
  add,
  changed,
  execute,
  expectValid,
  firstOperator,
  firstSubgraph,
  importLines,
  modelOf,
  ofOperators,
  oneOperator,
  problemOf,
  showSubgraph,
} from "../_model.test-helper.ts";
import type { TfliteModel, TfliteTensor } from "../model.ts";
import { writeTflite } from "../write.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const weights = { type: "FLOAT32", shape: [2], data: [3, 4] } as const;
const added = oneOperator("ADD", { x: f, w: weights }, { y: f });

/** A model with tensors of its first subgraph changed, by name. */
function retensored(model: TfliteModel, name: string, change: Partial<TfliteTensor>): TfliteModel {
  return changed(model, ({ tensors }) => ({
    tensors: tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor)),
  }));
}

describe("constants", () => {
  test("of a file lie in one pool that is the file itself", () => {
    const file = writeTflite(added);
    const around = new Uint8Array(file.length + 20);
    around.set(file, 13);
    const bytes = around.subarray(13, 13 + file.length);
    const { model } = importTflite(bytes);
    const handle = { kind: "buffer", buffer: around.buffer, byteOffset: 13 };
    expect(model.pools).toEqual([{ name: "ashmem", size: file.length, handle }]);
    expect(model.pools[0]?.handle).toHaveProperty("buffer", around.buffer);
    const isReference = ({ lifetime }: Operand) => lifetime === OperandLifeTime.CONSTANT_REFERENCE;
    const operand = elementAt(model.main.operands.filter(isReference), 0);
    expect(operand.location).toMatchObject({ poolIndex: 0, length: 8 });
    expect(operand.location.offset % 16).toBe(0);
    expect(new DataView(around.buffer, 13 + operand.location.offset).getFloat32(4, true)).toBe(4);
    expect(showSubgraph(model, model.main)).toEqual(["ADD(in0, FLOAT32[2](3,4), 0) -> out0"]);
  });

  test("of a model lie in the memory that all of them share", () => {
    const memory = new ArrayBuffer(64);
    new Float32Array(memory, 16, 2).set([3, 4]);
    const { model } = importTflite(retensored(added, "w", { data: new Uint8Array(memory, 16, 8) }));
    expect(model.pools).toEqual([
      { name: "ashmem", size: 8, handle: { kind: "buffer", buffer: memory, byteOffset: 16 } },
    ]);
  });

  test("of several memories are packed into one, at multiples of 16 bytes", () => {
    const model = ofOperators(
      { x: f, v: weights, w: { ...weights, data: [5, 6] }, s: f, y: f },
      [add(["x", "v"], "s"), add(["s", "w"], "y")],
      ["x"],
      ["y"],
    );
    const imported = importTflite(model);
    const constants = imported.model.main.operands.filter(
      ({ lifetime }) => lifetime === OperandLifeTime.CONSTANT_REFERENCE,
    );
    expect(constants.map(({ location }) => location)).toEqual([
      { poolIndex: 0, offset: 0, length: 8 },
      { poolIndex: 0, offset: 16, length: 8 },
    ]);
    expect(imported.model.pools.map(({ size }) => size)).toEqual([32]);
    expect(importLines(model)).toEqual([
      "ADD(in0, FLOAT32[2](3,4), 0) -> t0:FLOAT32[2]",
      "ADD(t0, FLOAT32[2](5,6), 0) -> out0",
    ]);
  });

  test("that are not used need no pool", () => {
    expect(importTflite(oneOperator("ABS", { x: f }, { y: f })).model.pools).toEqual([]);
  });

  test("scalars lie in operandValues, equal ones once", () => {
    const model = ofOperators({ x: f, s: f, y: f }, [add(["x", "x"], "s"), add(["s", "x"], "y")], ["x"], ["y"]);
    const { operandValues, main } = importTflite(model).model;
    expect(operandValues).toEqual(new Uint8Array(4));
    const [scalar] = main.operands.filter(({ lifetime }) => lifetime === OperandLifeTime.CONSTANT_COPY);
    expect(scalar).toMatchObject({ numberOfConsumers: 2, location: { poolIndex: 0, offset: 0, length: 4 } });
  });

  test.each([
    [new Uint8Array(7), '"w": FLOAT32[2] takes 8 bytes, its value has 7'],
    [new Uint8Array(9), '"w": FLOAT32[2] takes 8 bytes, its value has 9'],
  ])("have as many bytes as their shape says (%#)", (data, message) => {
    expect(problemOf(retensored(added, "w", { data }))).toContain(message);
  });
});

describe("the option hybrid", () => {
  test.each([
    ["exact", 'it has to be "quantised" or "widened", it is "exact"'],
    [true, 'it has to be "quantised" or "widened", it is the boolean true'],
  ])("is not %j", (hybrid, message) => {
    expect(() => importTflite(added, { hybrid: hybrid as never })).toThrow(message);
  });
});

describe("operators", () => {
  test("stay in the file's order if they can", () => {
    const model = ofOperators(
      { x: f, a: f, b: f, c: f, y: f },
      [add(["x", "x"], "b"), add(["x", "b"], "a"), add(["b", "b"], "c"), add(["a", "c"], "y")],
      ["x"],
      ["y"],
    );
    const { operators, model: imported } = importTflite(model);
    expect(operators.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    const consumers = showSubgraph(imported, imported.main);
    expect(consumers[0]).toBe("ADD(in0, in0, 0) -> t0:FLOAT32[2]");
    const counts = imported.main.operands.map(({ numberOfConsumers }) => numberOfConsumers);
    expect(counts[elementAt(imported.main.inputIndexes, 0)]).toBe(3);
  });

  test("are sorted if they are not", () => {
    const model = ofOperators(
      { x: f, a: f, b: f, y: f },
      [add(["b", "a"], "y"), add(["a", "x"], "b"), add(["x", "x"], "a")],
      ["x"],
      ["y"],
    );
    const imported = importTflite(model);
    expectValid(imported);
    expect(imported.operators).toEqual([2, 1, 0].map((index) => ({ name: "ADD", index })));
  });

  test("that no output depends on are left out in any state", () => {
    const model = ofOperators(
      { x: f, w: f, s: { type: "STRING", shape: [2] }, y: f },
      [{ name: "UNIQUE", inputs: ["x"], outputs: ["s"] }, add(["x", "x"], "y")],
      ["x"],
      ["y"],
    );
    expect(importTflite(model).operators).toEqual([{ name: "ADD", index: 1 }]);
  });

  test("that depend on themselves are refused", () => {
    const model = ofOperators(
      { x: f, a: f, b: f, y: f },
      [add(["x", "b"], "a"), add(["a", "x"], "b"), add(["a", "b"], "y")],
      ["x"],
      ["y"],
    );
    expect(problemOf(model)).toMatch(/operators\[\d\] \(ADD version 1\): reads what depends on it \(operator \d\)/);
  });

  test("in a very long row are sorted without a deep stack", () => {
    const count = 20_000;
    const tensor = elementAt(firstSubgraph(added).tensors, 0);
    const operators = Array.from({ length: count }, (_, i) => ({
      ...firstOperator(added),
      inputs: [i + 1, i + 1],
      outputs: [i],
    }));
    const tensors = Array.from({ length: count + 1 }, () => tensor);
    const imported = importTflite({
      ...added,
      subgraphs: [{ name: "", tensors, operators, inputs: [count], outputs: [0] }],
    });
    expect(imported.operators.map(({ index }) => index)).toEqual(operators.map((_, i) => count - 1 - i));
  });

  test.each([
    [
      [add(["x", "w"], "y"), add(["x", "x"], "y")],
      'operators[1] (ADD version 1): output 0 is tensor 3 "y" (FLOAT32[2]), but operator 0 writes it too',
    ],
    [
      [add(["x", "w"], "x")],
      'operators[0] (ADD version 1): output 0 is tensor 0 "x" (FLOAT32[2]), but it is an input of the subgraph',
    ],
    [
      [add(["x", "a"], "y")],
      'operators[0] (ADD version 1): reads tensor 2 "a" (FLOAT32[2]), which no operator writes and which has no data',
    ],
    [
      [add(["x", "x"], "w"), add(["w", "x"], "y")],
      'operators[0] (ADD version 1): output 0 is tensor 1 "w" (FLOAT32[2]), but it has 8 bytes of data, so it is a constant',
    ],
    [
      [add(["x", "x"], "v"), add(["v", "x"], "y")],
      'operators[0] (ADD version 1): output 0 is tensor 4 "v" (FLOAT32[2]), but it is a variable tensor',
    ],
  ])("that write or read wrongly are refused (%#)", (operators, message) => {
    expect(
      problemOf(
        ofOperators({ x: f, w: weights, a: f, y: f, v: { ...f, isVariable: true } }, operators, ["x"], ["x", "y"]),
      ),
    ).toContain(message);
  });

  test.each([
    [{ name: "COS" }, "(COS version 1): the HAL has no counterpart of operator COS"],
    [{ name: "BUILTIN_999" }, "(BUILTIN_999 version 1): the HAL has no counterpart of operator BUILTIN_999"],
    [{ name: "CUSTOM", customCode: "Mine" }, 'the HAL has no counterpart of the custom operator "Mine"'],
    [{ name: "CUSTOM" }, 'the HAL has no counterpart of the custom operator ""'],
    [{ name: "ABS", version: 6 }, "(ABS version 6): version 6 is not supported, only 1 to 5"],
  ])("%j is refused", (operator, message) => {
    const model = oneOperator("ABS", { x: f }, { y: f }, {}, operator);
    expect(problemOf(model)).toContain(message);
  });
});

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
      [model, 7, "options.signature: it has to be a string, not the number 7"],
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
    expect(problemOf(model)).toContain("subgraphs[0]: tensor 1 is an output, but nothing writes it and it has no data");
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
    expect(problemOf(retensored(model, "y", { shape }))).toContain(message);
  });
});

describe("models made by hand", () => {
  test.each([
    [{ inputs: [0, 9] }, "there is no tensor 9; the subgraph has 3"],
    [{ outputs: [-1] }, "subgraphs[0].outputs[0]: there is no tensor -1; the subgraph has 3"],
    [
      { operators: [{ ...firstOperator(added), inputs: [0, 9] }] },
      "subgraphs[0].operators[0] (ADD).inputs[1]: there is no tensor 9",
    ],
    [
      { operators: [{ ...firstOperator(added), outputs: [9] }], outputs: [9] },
      "there is no tensor 9; the subgraph has 3",
    ],
  ])("with an index that does not exist are refused (%#)", (change, message) => {
    expect(problemOf(changed(added, () => change))).toContain(message);
  });

  test("without a subgraph are refused", () => {
    expect(problemOf({ ...added, subgraphs: [] })).toBe("TfliteError: the model has no subgraph");
  });

  test("with an option of the wrong kind are refused", () => {
    const model = (options: object) => changed(added, () => ({ operators: [{ ...firstOperator(added), ...options }] }));
    expect(problemOf(model({ options: { fusedActivationFunction: true } }))).toContain(
      "option fusedActivationFunction has to be a known member, it is true",
    );
  });
});

test("CALL_ONCE is left out if no output depends on state", () => {
  const tensors = { a: f, b: f };
  const model = modelOf(
    {
      tensors: { x: f, y: f },
      operators: [
        { name: "CALL_ONCE", inputs: [], outputs: [], options: { initSubgraphIndex: 1 } },
        { name: "ABS", inputs: ["x"], outputs: ["y"] },
      ],
      inputs: ["x"],
      outputs: ["y"],
    },
    { tensors, operators: [{ name: "COS", inputs: ["a"], outputs: ["b"] }], inputs: [], outputs: [] },
  );
  expect(importLines(model)).toEqual(["ABS(in0) -> out0"]);
});
