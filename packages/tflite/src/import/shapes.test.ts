import { describe, expect, test } from "vitest";
import { expectValid, oneOperator, problemOf } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;

describe("shapes", () => {
  const open = { type: "FLOAT32", shape: [1, 2], shapeSignature: [-1, 2] } as const;
  const model = oneOperator("ABS", { x: open }, { y: open });
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

  test("of inputs may be chosen by name or place; dependent shapes are unknown", () => {
    expect(shapes({ inputShapes: { x: [5, 2] } })).toEqual([
      [5, 2],
      [0, 2],
    ]);
    expect(shapes({ inputShapes: { 0: [5, 2] } })).toEqual([
      [5, 2],
      [0, 2],
    ]);
  });

  test("of inputs may be chosen freely if the file has no signature", () => {
    const free = oneOperator("ABS", { x: f }, { y: { ...f, shapeSignature: [-1] } });
    expect(importTflite(free, { inputShapes: { x: [7] } }).inputs[0]?.shape).toEqual([7]);
  });

  test.each([
    [{ z: [1, 2] }, 'options.inputShapes: there is no input "z"; inputs are "x"'],
    [{ 1: [1, 2] }, 'there is no input "1"'],
    [{ x: [1] }, 'options.inputShapes["x"]: [1] is not a shape of 2 dimensions'],
    [{ x: [0, 2] }, "[0, 2] is not a shape"],
    [{ x: [1.5, 2] }, "[1.5, 2] is not a shape"],
    [{ x: [1, 3] }, "dimension 1 is fixed at 2, not 3"],
  ])("the choice %j is refused", (inputShapes, message) => {
    expect(problemOf(model, { inputShapes })).toContain(message);
  });
});
