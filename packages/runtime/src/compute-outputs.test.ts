/** Outputs whose sizes a run determines: TILE, whose multiples are an input. */
import type { Device } from "@nnhal/types";
import { expect, it } from "vitest";
import { computeOutputs, type OutputMemory } from "./compute-outputs.ts";
import { Execution } from "./execution.ts";
import { Model } from "./model.ts";
import { compile, float32, openReference } from "./models.test-helper.ts";
import { ResultCode } from "./result-code.ts";

const sizeOf: OutputMemory["sizeOf"] = (_, dimensions) => dimensions.reduce((size, extent) => size * extent, 4);

/** Runs TILE of two elements, and counts the runs. */
async function tile(device: Device, multiple: number, memory: OutputMemory) {
  const model = new Model();
  const input = model.addOperand(float32(2));
  const multiples = model.addOperand({ type: "TENSOR_INT32", dimensions: [1] });
  const output = model.addOperand(float32(0));
  model.addOperation("TILE", [input, multiples], [output]);
  model.identifyInputsAndOutputs([input, multiples], [output]);
  model.finish();
  const compilation = await compile(model, [device]);
  let runs = 0;
  const prepare = () => {
    runs++;
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Int32Array.of(multiple));
    return execution;
  };
  const { execution, outputs } = await computeOutputs(prepare, memory);
  const [{ bytes, dimensions } = { bytes: new Uint8Array(), dimensions: [] }] = outputs;
  const values = [...new Float32Array(bytes.slice().buffer)];
  return { runs, values, dimensions, bytes, known: execution.getOutputOperandDimensions(0) };
}

it.each([
  ["too little memory is repeated with enough", 0, 2],
  ["as much memory as is written runs once", 24, 1],
  ["more memory runs once, and the rest is cut off", 40, 1],
])("%s", async (_, size, runs) => {
  const found = await tile(await openReference(), 3, { sizes: [size], sizeOf });
  expect(found).toMatchObject({ runs, values: [1, 2, 1, 2, 1, 2], dimensions: [6], known: [6] });
});

it.each([
  [24, true],
  [28, false],
])("memory of the caller of %i bytes is used for an output of 24: %s", async (length, isUsed) => {
  const given = new Uint8Array(length);
  const { bytes } = await tile(await openReference(), 3, { sizes: [24], sizeOf, into: [given] });
  expect(bytes.buffer === given.buffer).toBe(isUsed);
});

it("a device that asks for more again is not asked a third time", async () => {
  const tooLittle: OutputMemory = { sizes: [0], sizeOf: () => 4 };
  await expect(tile(await openReference(), 3, tooLittle)).rejects.toMatchObject({
    code: ResultCode.OUTPUT_INSUFFICIENT_SIZE,
  });
});

it("any other failure is not repeated", async () => {
  await expect(tile(await openReference(), -1, { sizes: [0], sizeOf })).rejects.toMatchObject({
    code: ResultCode.OP_FAILED,
  });
});
