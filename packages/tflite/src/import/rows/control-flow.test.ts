import { tfliteExtension } from "@nnhal/extension-tflite";
import { elementAt } from "@nnhal/operations";
import { modelIssues } from "@nnhal/validation";
import { describe, expect, test } from "vitest";
import {
  execute,
  executeBytes,
  expectValid,
  modelOf,
  type OperatorGiven,
  type SubgraphGiven,
  showSubgraph,
} from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";
import type { ImportedModel } from "../imported-model.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const flag = { type: "BOOL", shape: [] } as const;
const limit = { type: "FLOAT32", shape: [2], data: [10, 10] } as const;

const branch = (name: string): SubgraphGiven => ({
  tensors: { a: f, b: f },
  operators: [{ name, inputs: ["a", "a"], outputs: ["b"] }],
  inputs: ["a"],
  outputs: ["b"],
});

const conditional = (thenSubgraphIndex: number, elseSubgraphIndex: number): SubgraphGiven => ({
  tensors: { c: flag, x: f, y: f },
  operators: [{ name: "IF", inputs: ["c", "x"], outputs: ["y"], options: { thenSubgraphIndex, elseSubgraphIndex } }],
  inputs: ["c", "x"],
  outputs: ["y"],
});

/** An IF on a constant, so that it takes what its branches do. */
const nest = (index: number): SubgraphGiven => ({
  ...conditional(index, index),
  tensors: { c: { ...flag, data: [1] }, x: f, y: f },
  inputs: ["x"],
});

describe("IF", () => {
  test("runs one of two subgraphs", async () => {
    const imported = importTflite(modelOf(conditional(2, 1), branch("ADD"), branch("MUL")));
    expectValid(imported);
    const { model } = imported;
    expect(showSubgraph(model, model.main)).toEqual(["IF(in0, subgraph 0, subgraph 1, in1) -> out0"]);
    expect(model.referenced.flatMap((one) => showSubgraph(model, one))).toEqual([
      "MUL(in0, in0, 0) -> out0",
      "ADD(in0, in0, 0) -> out0",
    ]);
    expect(await execute(imported, [[1], [3, 4]])).toEqual([[9, 16]]);
    expect(await execute(imported, [[0], [3, 4]])).toEqual([[6, 8]]);
  });

  test("says where the operations and operands of its subgraphs are from", () => {
    const { operators, operandNames, referenced } = importTflite(
      modelOf(conditional(2, 1), branch("ADD"), branch("MUL")),
    );
    expect(operators).toEqual([{ name: "IF", index: 0 }]);
    expect(operandNames.filter((name) => name !== undefined)).toEqual(["c", "x", "y"]);
    expect(
      referenced.map(({ operandNames: names, ...origin }) => [origin, names.filter((name) => name !== undefined)]),
    ).toEqual([
      [{ subgraph: 2, operators: [{ name: "MUL", index: 0 }] }, ["a", "b"]],
      [{ subgraph: 1, operators: [{ name: "ADD", index: 0 }] }, ["a", "b"]],
    ]);
  });

  test("the same subgraph twice is imported once", () => {
    const { model } = importTflite(modelOf(conditional(1, 1), branch("ADD")));
    expect(showSubgraph(model, model.main)).toEqual(["IF(in0, subgraph 0, subgraph 0, in1) -> out0"]);
    expect(model.referenced).toHaveLength(1);
  });

  test("a branch that returns its input copies it", async () => {
    const same: SubgraphGiven = { tensors: { a: f }, operators: [], inputs: ["a"], outputs: ["a"] };
    const imported = importTflite(modelOf(conditional(1, 2), same, branch("ADD")));
    expectValid(imported);
    expect(showSubgraph(imported.model, elementAt(imported.model.referenced, 0))).toEqual(["CAST(in0) -> out0"]);
    expect(await execute(imported, [[1], [3, 4]])).toEqual([[3, 4]]);
  });

  test.each([
    [2, "subgraphs[0]: there is no subgraph 2 that an operator may run"],
    [-1, "subgraphs[0]: there is no subgraph -1 that an operator may run"],
    [0, "subgraphs[0]: there is no subgraph 0 that an operator may run"],
  ])("subgraph %d is refused", (index, message) => {
    expect(() => importTflite(modelOf(conditional(index, 1), branch("ADD")))).toThrow(message);
  });

  test.each([
    [
      { tensors: { a: { type: "INT32", shape: [2] }, b: { type: "INT32", shape: [2] } } },
      "TENSOR_FLOAT32[2] outside and TENSOR_INT32[2] inside",
    ],
    [{ inputs: [], tensors: { a: { ...f, data: [1, 2] }, b: f } }, "inputs of thenSubgraphIndex: expected 0, got 1"],
    [{ outputs: ["b", "a"] }, "outputs of thenSubgraphIndex: expected 2, got 1"],
  ] as const)("a branch that takes or gives something else is refused (%#)", (change, message) => {
    const model = modelOf(conditional(1, 2), { ...branch("ADD"), ...change }, branch("ADD"));
    expect(() => importTflite(model, { extensions: false })).toThrow(message);
  });

  test("a condition that is not one BOOL is refused", () => {
    const main = conditional(1, 1);
    const wide = { ...main, tensors: { ...main.tensors, c: { type: "BOOL", shape: [2] } as const } };
    expect(() => importTflite(modelOf(wide, branch("ADD")))).toThrow(
      "the condition: expected one TENSOR_BOOL8[1], got TENSOR_BOOL8[2]",
    );
  });

  test("a subgraph that runs itself is refused", () => {
    const inner = { ...conditional(1, 1) };
    expect(() => importTflite(modelOf(conditional(1, 1), inner))).toThrow("subgraph 1 runs itself");
  });

  test("subgraphs that are nested too deep are refused", () => {
    const chain = (length: number) => modelOf(...Array.from({ length }, (_, i) => nest(i + 1)), branch("ADD"));
    expect(() => importTflite(chain(31))).not.toThrow();
    expect(() => importTflite(chain(32), { extensions: false })).toThrow("subgraphs name each other more than 32 deep");
    expect(() => importTflite(chain(5000), { extensions: false })).toThrow(
      "subgraphs name each other more than 32 deep",
    );
  });
});

test("WHILE runs its body until the condition is false", async () => {
  const main: SubgraphGiven = {
    tensors: { x: f, y: f },
    operators: [
      { name: "WHILE", inputs: ["x"], outputs: ["y"], options: { condSubgraphIndex: 1, bodySubgraphIndex: 2 } },
    ],
    inputs: ["x"],
    outputs: ["y"],
  };
  const condition: SubgraphGiven = {
    tensors: {
      a: f,
      limit,
      below: { type: "BOOL", shape: [2] },
      axis: { type: "INT32", shape: [], data: [0] },
      all: flag,
    },
    operators: [
      { name: "LESS", inputs: ["a", "limit"], outputs: ["below"] },
      { name: "REDUCE_ALL", inputs: ["below", "axis"], outputs: ["all"] },
    ],
    inputs: ["a"],
    outputs: ["all"],
  };
  const imported = importTflite(modelOf(main, condition, branch("ADD")));
  expectValid(imported);
  expect(showSubgraph(imported.model, imported.model.main)).toEqual(["WHILE(subgraph 0, subgraph 1, in0) -> out0"]);
  expect(await execute(imported, [[1, 3]])).toEqual([[4, 12]]);
  expect(await execute(imported, [[10, 3]])).toEqual([[10, 3]]);
});

describe("values that change their shapes", () => {
  const open = (shape: readonly number[]) => ({ type: "FLOAT32", shape, shapeSignature: shape.map(() => -1) }) as const;
  const fix = (shape: readonly number[]) => ({ type: "FLOAT32", shape }) as const;
  const count = { type: "INT32", shape: [] } as const;

  /** Expects a model that the runtime accepts; it runs loops itself whose values have unknown sizes. */
  function expectLegal({ model }: ImportedModel): void {
    expect(modelIssues(model, { mode: "runtime", extensions: [tfliteExtension] })).toEqual([]);
  }

  /** The floats of the output, and its shape. Integers and flags are given as bytes. */
  async function outputOf(imported: ImportedModel, first: Uint8Array, x: readonly number[], shape: readonly number[]) {
    const floats = { bytes: new Uint8Array(Float32Array.from(x).buffer), dimensions: shape };
    const [output] = await executeBytes(imported, [{ bytes: first, dimensions: [1] }, floats]);
    const { bytes, dimensions } = output ?? { bytes: new Uint8Array(0), dimensions: [] };
    return { values: [...new Float32Array(bytes.slice().buffer)], dimensions };
  }

  test("branches get the shapes of what they are given, whatever the file stores", async () => {
    const then = { ...branch("ADD"), tensors: { a: fix([3]), b: fix([3]) } };
    const imported = importTflite(modelOf(conditional(1, 2), then, branch("MUL")), { extensions: false });
    expectValid(imported);
    expect(imported.outputs[0]?.shape).toEqual([2]);
    expect(await execute(imported, [[1], [3, 4]])).toEqual([[6, 8]]);
  });

  test.each([["open", open([1])] as const, ["stored", fix([1])] as const])(
    "branches of an IF return results of different sizes (%s)",
    async (_, y) => {
      const main: SubgraphGiven = {
        tensors: { c: flag, x: fix([2, 3]), y, z: y },
        operators: [
          { name: "IF", inputs: ["c", "x"], outputs: ["y"], options: { thenSubgraphIndex: 1, elseSubgraphIndex: 2 } },
          { name: "NEG", inputs: ["y"], outputs: ["z"] },
        ],
        inputs: ["c", "x"],
        outputs: ["z"],
      };
      const reduce = (name: string, data: readonly number[], to: readonly number[]): SubgraphGiven => ({
        tensors: { x: fix([2, 3]), k: { type: "INT32", shape: [data.length], data }, y: fix(to) },
        operators: [{ name, inputs: ["x", "k"], outputs: ["y"] }],
        inputs: ["x"],
        outputs: ["y"],
      });
      const imported = importTflite(modelOf(main, reduce("RESHAPE", [6], [6]), reduce("SUM", [1], [2])));
      expectLegal(imported);
      expect(imported.outputs[0]?.shape).toEqual([0]);
      const x = [1, 2, 3, 4, 5, 6];
      const values = x.map((value) => -value);
      expect(await outputOf(imported, Uint8Array.of(1), x, [2, 3])).toEqual({ values, dimensions: [6] });
      expect(await outputOf(imported, Uint8Array.of(0), x, [2, 3])).toEqual({ values: [-6, -15], dimensions: [2] });
      const ranks = modelOf(main, reduce("RESHAPE", [3, 2], [3, 2]), reduce("SUM", [1], [2]));
      expect(() => importTflite(ranks)).toThrow(
        'subgraphs[0].operators[0] (IF version 1): tensor 2 "y" (FLOAT32[1]) has 2 dimensions from thenSubgraphIndex and 1 from elseSubgraphIndex; the HAL needs the same number',
      );
    },
  );

  const makeGrowing = (
    shaped: typeof open | typeof fix,
    operators: SubgraphGiven["operators"],
    to: readonly number[],
  ) =>
    modelOf(
      {
        tensors: { n: count, x: shaped([2]), m: count, y: shaped([2]), z: shaped([2]) },
        operators: [
          {
            name: "WHILE",
            inputs: ["n", "x"],
            outputs: ["m", "y"],
            options: { condSubgraphIndex: 1, bodySubgraphIndex: 2 },
          },
          { name: "NEG", inputs: ["y"], outputs: ["z"] },
        ],
        inputs: ["n", "x"],
        outputs: ["z"],
      },
      {
        tensors: { n: count, x: shaped([2]), zero: { ...count, data: [0] }, more: flag },
        operators: [{ name: "GREATER", inputs: ["n", "zero"], outputs: ["more"] }],
        inputs: ["n", "x"],
        outputs: ["more"],
      },
      {
        tensors: {
          ...{ n: count, one: { ...count, data: [1] }, m: count },
          ...{ x: shaped([2]), twice: shaped([2]), y: shaped(to) },
        },
        operators: [{ name: "SUB", inputs: ["n", "one"], outputs: ["m"] }, ...operators],
        inputs: ["n", "x"],
        outputs: ["m", "y"],
      },
    );
  const grow = [
    { name: "ADD", inputs: ["x", "x"], outputs: ["twice"] },
    { name: "CONCATENATION", inputs: ["x", "twice"], outputs: ["y"], options: { axis: 0 } },
  ];

  test.each([["open", open] as const, ["stored", fix] as const])("a loop variable grows (%s)", async (_, shaped) => {
    const imported = importTflite(makeGrowing(shaped, grow, [4]));
    expectLegal(imported);
    expect(imported.model.referenced).toHaveLength(2);
    expect(imported.outputs[0]?.shape).toEqual([0]);
    const after = async (steps: number) =>
      (await outputOf(imported, new Uint8Array(Int32Array.of(steps).buffer), [1, 3], [2])).values;
    expect(await after(0)).toEqual([-1, -3]);
    expect(await after(1)).toEqual([-1, -3, -2, -6]);
    expect(await after(2)).toEqual([-1, -3, -2, -6, -2, -6, -4, -12]);
  });

  test("a loop variable that gets more dimensions is refused", () => {
    const pack = [{ name: "PACK", inputs: ["x", "x"], outputs: ["y"], options: { axis: 0, valuesCount: 2 } }];
    expect(() => importTflite(makeGrowing(fix, pack, [2, 2]))).toThrow(
      'subgraphs[0].operators[0] (WHILE version 1): tensor 1 "x" (FLOAT32[2]) has 1 dimensions before a step of the loop and 2 after it; the HAL needs the same number',
    );
  });

  test("a loop that keeps its shapes has known ones", () => {
    const keep = [{ name: "ADD", inputs: ["x", "x"], outputs: ["y"] }];
    const { model, outputs } = importTflite(makeGrowing(open, keep, [2]));
    expect(outputs[0]?.shape).toEqual([2]);
    expect(model.referenced.map(({ operands }) => operands.some(({ dimensions }) => dimensions.includes(0)))).toEqual([
      false,
      false,
    ]);
  });

  test("loops in loops that change shapes are bounded", () => {
    /** Each subgraph runs the next one in a loop that begins with a constant, and appends its result. */
    const nestedLoops = (levels: number) => {
      const subgraphs = Array.from({ length: levels }, (_, level): SubgraphGiven => {
        const isLast = level === levels - 1;
        const loop: OperatorGiven = {
          name: "WHILE",
          inputs: ["one"],
          outputs: ["more"],
          options: { condSubgraphIndex: levels, bodySubgraphIndex: level + 1 },
        };
        const append = { name: "CONCATENATION", inputs: ["x", isLast ? "one" : "more"], outputs: ["y"] };
        return {
          tensors: { x: fix([1]), one: { ...fix([1]), data: [1] }, more: fix([1]), y: fix([2]) },
          operators: [...(isLast ? [] : [loop]), { ...append, options: { axis: 0 } }],
          inputs: ["x"],
          outputs: ["y"],
        };
      });
      const condition: SubgraphGiven = {
        tensors: { x: fix([1]), no: { ...flag, data: [0] }, never: flag },
        operators: [{ name: "LOGICAL_NOT", inputs: ["no"], outputs: ["never"] }],
        inputs: ["x"],
        outputs: ["never"],
      };
      return modelOf(...subgraphs, condition);
    };
    expect(importTflite(nestedLoops(4)).outputs[0]?.shape).toEqual([0]);
    expect(() => importTflite(nestedLoops(10))).toThrow("nested too deep: 256 attempts");
  });
});
