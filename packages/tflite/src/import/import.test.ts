import { elementAt } from "@nnhal/operations";
import { type Operand, OperandLifeTime } from "@nnhal/types";
import { describe, expect, test } from "vitest";
import {
  add,
  changeModel,
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
function replaceTensors(model: TfliteModel, name: string, change: Partial<TfliteTensor>): TfliteModel {
  return changeModel(model, ({ tensors }) => ({
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
    const { model } = importTflite(replaceTensors(added, "w", { data: new Uint8Array(memory, 16, 8) }));
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
    expect(problemOf(replaceTensors(added, "w", { data }))).toContain(message);
  });
});

describe("the option hybrid", () => {
  test.each([
    ["exact", 'expected one of quantised, widened, got "exact"'],
    [true, "expected one of quantised, widened, got the boolean true"],
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
    expect(problemOf(changeModel(added, () => change))).toContain(message);
  });

  test("without a subgraph are refused", () => {
    expect(problemOf({ ...added, subgraphs: [] })).toBe("TfliteError: the model has no subgraph");
  });

  test("with an option of the wrong kind are refused", () => {
    const model = (options: object) =>
      changeModel(added, () => ({ operators: [{ ...firstOperator(added), ...options }] }));
    expect(problemOf(model({ options: { fusedActivationFunction: true } }))).toContain(
      "option fusedActivationFunction: expected a known member, got true",
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
