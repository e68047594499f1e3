import { describe, expect, test } from "vitest";
import { add, execute, expectValid, type OperatorGiven, ofOperators, problemOf } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

describe("state", () => {
  const one = { type: "FLOAT32", shape: [1, 1] } as const;
  const matrix = { ...one, data: [1] } as const;
  const tensors = {
    x: one,
    w: matrix,
    b: { type: "FLOAT32", shape: [1], data: [1] },
    h: { ...one, isVariable: true },
    a: one,
    y: one,
  } as const;
  const rnn = (input: string, output: string): OperatorGiven => ({
    name: "RNN",
    inputs: [input, "w", "w", "b", "h"],
    outputs: [output],
  });

  test("is an input and an output after the model's own", async () => {
    const imported = importTflite(ofOperators(tensors, [rnn("x", "y")], ["x"], ["y"]));
    expectValid(imported);
    expect(imported.states).toEqual([{ name: "h", input: 1, output: 1 }]);
    const [, ...kept] = await execute(imported, [[1], [0]]);
    expect(await execute(imported, [[1], ...kept])).toEqual([[4], [4]]);
  });

  test("that the file lists as an input keeps that place", () => {
    const imported = importTflite(ofOperators(tensors, [rnn("x", "y")], ["h", "x"], ["y"]));
    expectValid(imported);
    expect(imported.states).toEqual([{ name: "h", input: 0, output: 1 }]);
    expect(imported.inputs.map(({ name }) => name)).toEqual(["h", "x"]);
    expect(imported.outputs.map(({ name }) => name)).toEqual(["y", "h"]);
  });

  test("that is an output of the file too is its new value there", async () => {
    const imported = importTflite(ofOperators(tensors, [rnn("x", "y")], ["x"], ["h", "y"]));
    expectValid(imported);
    expect(await execute(imported, [[1], [2]])).toEqual([[4], [4], [4]]);
  });

  test("keeps its operator though its result is not read", () => {
    const imported = importTflite(ofOperators(tensors, [rnn("x", "a"), add(["x", "x"], "y")], ["x"], ["y"]));
    expectValid(imported);
    expect(imported.operators.map(({ name }) => name)).toEqual(["RNN", "ADD"]);
  });

  test("that two operators share is refused", () => {
    const model = ofOperators(tensors, [rnn("x", "a"), rnn("a", "y")], ["x"], ["y"]);
    expect(problemOf(model)).toContain(
      '(RNN version 1): subgraphs[0].tensors[3] "h": is state of two operators; the HAL cannot share it',
    );
  });

  test("that another operator reads is refused", () => {
    const model = ofOperators(tensors, [add(["h", "x"], "y")], ["x"], ["y"]);
    expect(problemOf(model)).toContain("a variable tensor is read by an operator that keeps no state");
  });
});
