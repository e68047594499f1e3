import { describe, expect, test } from "vitest";
import { changeModel, expectValid, modelOf, oneOperator, problemOf } from "../_model.test-helper.ts";
import { inspectTflite } from "../describe/inspect.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;

describe("shapes", () => {
  const open = { type: "FLOAT32", shape: [1, 2], shapeSignature: [-1, 2] } as const;
  const model = oneOperator("ABS", { x: open }, { y: open });
  const signed = {
    ...model,
    signatures: [
      { key: "run", subgraph: 0, inputs: [{ name: "given", tensor: 0 }], outputs: [{ name: "found", tensor: 1 }] },
    ],
  };
  const shapes = (options: object) => {
    const { inputs, outputs } = importTflite(model, options);
    return [...inputs, ...outputs].map(({ shape }) => shape);
  };

  test("are the stored ones by default", () => {
    expect(shapes({})).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test("are unknown if the file leaves them open, on request", () => {
    expect(shapes({ dynamicShapes: true })).toEqual([
      [0, 2],
      [0, 2],
    ]);
    expectValid(importTflite(model, { dynamicShapes: true }));
  });

  test("of inputs may be chosen by tensor name, name in the signature, or place; the others follow", () => {
    const five = [
      [5, 2],
      [5, 2],
    ];
    expect(shapes({ inputShapes: { x: [5, 2] } })).toEqual(five);
    expect(shapes({ inputShapes: { 0: [5, 2] } })).toEqual(five);
    expect(shapes({ inputShapes: { x: [5, 2] }, extensions: false })).toEqual(five);
    const { inputs, outputs } = importTflite(signed, { inputShapes: { given: [5, 2] } });
    expect([inputs[0]?.shape, outputs[0]?.shape]).toEqual(five);
    expectValid(importTflite(model, { inputShapes: { x: [5, 2] } }));
  });

  test("of inputs may be chosen and the others left open", () => {
    expect(shapes({ inputShapes: { x: [5, 2] }, dynamicShapes: true })).toEqual([
      [5, 2],
      [0, 2],
    ]);
  });

  test("that follow from chosen ones reach all operators, whatever the file stores", () => {
    const chain = modelOf({
      tensors: { x: f, s: { type: "INT32", shape: [1] }, a: f, y: f },
      operators: [
        { name: "ABS", inputs: ["x"], outputs: ["a"] },
        { name: "SHAPE", inputs: ["a"], outputs: ["s"] },
        { name: "RESHAPE", inputs: ["a", "s"], outputs: ["y"] },
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
    const imported = importTflite(chain, { inputShapes: { x: [7] } });
    expect(imported.outputs[0]?.shape).toEqual([7]);
    expectValid(imported);
  });

  const pooled = modelOf({
    tensors: {
      x: { type: "FLOAT32", shape: [1, 4, 4, 1] },
      w: { type: "FLOAT32", shape: [3, 1, 1, 1], data: [1, 2, 3] },
      c: { type: "FLOAT32", shape: [1, 4, 4, 3] },
      s: { type: "INT32", shape: [2], data: [1, 48] },
      y: { type: "FLOAT32", shape: [1, 48] },
    },
    operators: [
      { name: "CONV_2D", inputs: ["x", "w", ""], outputs: ["c"], options: { strideW: 1, strideH: 1 } },
      { name: "RESHAPE", inputs: ["c", "s"], outputs: ["y"] },
    ],
    inputs: ["x"],
    outputs: ["y"],
  });

  test.each([
    [[1, 4, 4, 1], undefined],
    [[1, 8, 2, 1], undefined],
    [[1, 4, 5, 1], "subgraphs[0].operators[1] (RESHAPE version 1): 60 elements do not fill the shape [1, 48]"],
    [
      [1, 4, 4, 2],
      "subgraphs[0].operators[0] (CONV_2D version 1): the HAL's GROUPED_CONV_2D cannot compute it: the filter has 3 output channels, not a multiple of 2 groups",
    ],
  ])("that contradict the network are a problem of the operator: %j", (shape, message) => {
    const options = { inputShapes: { x: shape } };
    if (message === undefined) expectValid(importTflite(pooled, options));
    else expect(problemOf(pooled, options)).toContain(message);
  });

  test("that contradict a pool's window are a problem of the pool", () => {
    const image = { type: "FLOAT32", shape: [1, 4, 4, 1] } as const;
    const options = { padding: "VALID", strideW: 1, strideH: 1, filterWidth: 4, filterHeight: 4 };
    const pool = oneOperator("AVERAGE_POOL_2D", { x: image }, { y: { type: "FLOAT32", shape: [1, 1, 1, 1] } }, options);
    expect(importTflite(pool, { inputShapes: { x: [1, 4, 6, 1] } }).outputs[0]?.shape).toEqual([1, 1, 3, 1]);
    expect(problemOf(pool, { inputShapes: { x: [1, 3, 6, 1] } })).toContain(
      "subgraphs[0].operators[0] (AVERAGE_POOL_2D version 1): the HAL's AVERAGE_POOL_2D cannot compute it: a window of 4 does not fit the height of 3",
    );
  });

  test("that follow from chosen ones count for the multiply-adds", () => {
    const open = changeModel(pooled, ({ tensors, operators }) => ({
      tensors,
      operators: operators.slice(0, 1),
      outputs: [2],
    }));
    expect(inspectTflite(open).multiplyAdds).toBe(48);
    expect(inspectTflite(open, { inputShapes: { x: [2, 4, 5, 1] } }).multiplyAdds).toBe(120);
  });

  test("that are computed have no more dimensions than any operation takes", () => {
    const reshape = (rank: number) =>
      oneOperator("RESHAPE", { x: f, s: { type: "INT32", shape: [rank] } }, { y: { type: "FLOAT32", shape: [] } });
    expect(() => importTflite(reshape(32))).not.toThrow();
    const refused = "the shape of the result has 33 dimensions, more than 32";
    expect(problemOf(reshape(33), { extensions: true })).toContain(refused);
    // Once so many extents were made.
    expect(problemOf(reshape(771_751_937), { extensions: true })).toContain("771751937 dimensions, more than 32");
  });

  test("of inputs may be chosen freely if the file has no signature", () => {
    const free = oneOperator("ABS", { x: f }, { y: { ...f, shapeSignature: [-1] } });
    expect(importTflite(free, { inputShapes: { x: [7] } }).inputs[0]?.shape).toEqual([7]);
  });

  test("of inputs may be chosen freely if the file stores none, and be the stored ones", () => {
    const none = { type: "FLOAT32", shape: [] } as const;
    const unranked = oneOperator("ABS", { x: none }, { y: none });
    expect(importTflite(unranked, { inputShapes: { x: [2, 3] } }).outputs[0]?.shape).toEqual([2, 3]);
    const scalar = oneOperator("ABS", { x: { ...none, hasRank: true } }, { y: none });
    expect(problemOf(scalar, { inputShapes: { x: [2, 3] } })).toContain("[2, 3] is not a shape of 0 dimensions");
    const stored = oneOperator("ABS", { x: f }, { y: none });
    expect(importTflite(stored, { inputShapes: { x: [2] } }).outputs[0]?.shape).toEqual([2]);
  });

  test.each([
    [{ z: [1, 2] }, 'options.inputShapes: there is no input "z"; inputs are "x"'],
    [{ 1: [1, 2] }, 'there is no input "1"'],
    [{ x: [5, 2], 0: [5, 2] }, 'options.inputShapes["x"]: input 0 ("x") has been given a shape already'],
    [{ x: [1] }, 'options.inputShapes["x"]: [1] is not a shape of 2 dimensions'],
    [{ x: [0, 2] }, "[0, 2] is not a shape"],
    [{ x: [1.5, 2] }, "[1.5, 2] is not a shape"],
    [{ x: [1, 3] }, "dimension 1 is fixed at 2, not 3"],
  ])("the choice %j is refused", (inputShapes, message) => {
    expect(problemOf(model, { inputShapes })).toContain(message);
  });
});
