/**
 * IF and WHILE from the programming model down to the reference executor.
 */
import type { Device } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Execution } from "./execution.ts";
import { Model } from "./model.ts";
import { addOperands, compile, float32, openReference, run } from "./models.test-helper.ts";
import { ResultCode } from "./result-code.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

const BOOL = { type: "TENSOR_BOOL8", dimensions: [1] } as const;

/** state < limit */
function lessThan(limit: number): Model {
  const model = new Model();
  const [state, bound, verdict] = addOperands(model, float32(1), float32(1), BOOL);
  model.setOperandValue(bound, Float32Array.of(limit));
  model.addOperation("LESS", [state, bound], [verdict]);
  model.identifyInputsAndOutputs([state], [verdict]);
  model.finish();
  return model;
}

/** A model of one operation with a constant operand: ADD or MUL. */
function withConstant(name: "ADD" | "MUL", constant: number): Model {
  const model = new Model();
  const [state, other, activation, next] = addOperands(
    model,
    float32(1),
    float32(1),
    { type: "INT32" } as const,
    float32(1),
  );
  model.setOperandValue(other, Float32Array.of(constant));
  model.setOperandValue(activation, 0);
  model.addOperation(name, [state, other, activation], [next]);
  model.identifyInputsAndOutputs([state], [next]);
  model.finish();
  return model;
}

function whileModel(condition: Model, body: Model): Model {
  const model = new Model();
  const SUBGRAPH = { type: "SUBGRAPH" } as const;
  const [test, step, start, end] = addOperands(model, SUBGRAPH, SUBGRAPH, float32(1), float32(1));
  model.setOperandValueFromModel(test, condition);
  model.setOperandValueFromModel(step, body);
  model.addOperation("WHILE", [test, step, start], [end]);
  model.identifyInputsAndOutputs([start], [end]);
  model.finish();
  return model;
}

describe("WHILE", () => {
  it("runs the body as long as the condition holds", async () => {
    const model = whileModel(lessThan(100), withConstant("MUL", 3));
    await expect(run(model, device, [[1]], 1)).resolves.toMatchObject({ values: [243] });
  });

  it("returns the initial values if the condition is false at once", async () => {
    const model = whileModel(lessThan(100), withConstant("MUL", 3));
    await expect(run(model, device, [[100]], 1)).resolves.toMatchObject({ values: [100] });
  });

  it("loops within loops", async () => {
    // Doubles until 50, then the outer loop adds by running the inner one again: 3 → 96, stops.
    const inner = whileModel(lessThan(50), withConstant("MUL", 2));
    const model = whileModel(lessThan(10), inner);
    await expect(run(model, device, [[3]], 1)).resolves.toMatchObject({ values: [96] });
  });

  it("ends with MISSED_DEADLINE if it exceeds the loop timeout", async () => {
    const forever = whileModel(lessThan(1), withConstant("MUL", 1));
    const execution = new Execution(await compile(forever, [device]));
    execution.setLoopTimeout(1_000_000n);
    execution.setInput(0, Float32Array.of(0));
    execution.setOutput(0, new Float32Array(1));
    const missed = execution.compute();
    await expect(missed).rejects.toThrow("operation 1 (WHILE): the loop took longer than 1000000 ns");
    await expect(missed).rejects.toThrow(expect.objectContaining({ code: ResultCode.MISSED_DEADLINE_TRANSIENT }));
  });
});

describe("IF", () => {
  it.each([
    [1, 12],
    [0, 20],
  ])("runs the branch that the condition %i chooses", async (condition, expected) => {
    const model = new Model();
    const SUBGRAPH = { type: "SUBGRAPH" } as const;
    const [flag, yes, no, input, output] = addOperands(model, BOOL, SUBGRAPH, SUBGRAPH, float32(1), float32(1));
    model.setOperandValueFromModel(yes, withConstant("ADD", 2));
    model.setOperandValueFromModel(no, withConstant("MUL", 2));
    model.addOperation("IF", [flag, yes, no, input], [output]);
    model.identifyInputsAndOutputs([flag, input], [output]);
    model.finish();
    const execution = new Execution(await compile(model, [device]));
    execution.setInput(0, Uint8Array.of(condition));
    execution.setInput(1, Float32Array.of(10));
    const result = new Float32Array(1);
    execution.setOutput(0, result);
    await execution.compute();
    expect([...result]).toEqual([expected]);
  });
});
