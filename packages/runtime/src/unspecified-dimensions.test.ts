/**
 * Dimensions that the model leaves unknown, that an execution sets, or that either has wrong (as in Android's
 * TestUnspecifiedDimensions): sum = left + constant; result = TRANSPOSE(sum, permutation).
 */
import type { Device } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Execution } from "./execution.ts";
import { Memory } from "./memory.ts";
import { Model } from "./model.ts";
import { compile, float32, openReference } from "./models.test-helper.ts";
import { NeuralNetworksError, ResultCode } from "./result-code.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

const [ROWS, COLUMNS, WRONG] = [2, 3, 5];

/** The known part of the dimensions. `none`: an execution sets no dimensions. */
type Level = "full" | "extent" | "rank";
const levels: readonly Level[] = ["full", "extent", "rank"];
const executionLevels = [...levels, "none"] as const;

/** Dimensions, as far as they are known. `wrong`: the axis of a wrong extent. */
function at(level: Level | "none", dimensions: readonly number[], wrong?: number): number[] {
  if (level === "rank" || level === "none") return [];
  return dimensions.map((extent, axis) => {
    if (axis === wrong) return WRONG;
    return level === "extent" && axis === 0 ? 0 : extent;
  });
}

/** The model, with the known dimensions of its input, intermediate result and output. */
function transpose(input: readonly number[], sum: readonly number[], output: readonly number[]): Model {
  const model = new Model();
  const left = model.addOperand(float32(...input));
  const constant = model.addOperand(float32(1, COLUMNS));
  const activation = model.addOperand({ type: "INT32" });
  const between = model.addOperand(float32(...sum));
  const permutation = model.addOperand({ type: "TENSOR_INT32", dimensions: [2] });
  const result = model.addOperand(float32(...output));
  model.setOperandValue(constant, Float32Array.of(10, 20, 30));
  model.setOperandValue(activation, 0);
  model.addOperation("ADD", [left, constant, activation], [between]);
  model.addOperation("TRANSPOSE", [between, permutation], [result]);
  model.identifyInputsAndOutputs([left, permutation], [result]);
  model.finish();
  return model;
}

/** The dimensions that an execution sets, and the length of its output's buffer. */
interface Said {
  readonly input: readonly number[];
  readonly output: readonly number[];
  readonly room: number;
  readonly isMemory: boolean;
}

/** Values, or the result code of a refusal and the call that refused. */
async function run(model: Model, { input, output, room, isMemory }: Said): Promise<number[] | string> {
  const compilation = await compile(model, [device]);
  const execution = new Execution(compilation);
  const values = Float32Array.of(1, 2, 3, 4, 5, 6);
  const results = Memory.allocate(4 * room);
  const guard = async (call: string, work: () => unknown): Promise<string | undefined> => {
    try {
      await work();
      return undefined;
    } catch (error) {
      if (!(error instanceof NeuralNetworksError)) throw error;
      const name = Object.entries(ResultCode).find(([, code]) => code === error.code)?.[0];
      return `${call}: ${name}`;
    }
  };
  const setInput = () => {
    if (!isMemory) return execution.setInput(0, values, input);
    const memory = Memory.allocate(values.byteLength);
    memory.map().set(new Uint8Array(values.buffer));
    execution.setInputFromMemory(0, memory, { dimensions: input });
  };
  const setOutput = () =>
    isMemory
      ? execution.setOutputFromMemory(0, results, { dimensions: output })
      : execution.setOutput(0, results.map(), output);
  execution.setInput(1, Int32Array.of(1, 0));
  const refused =
    (await guard("setInput", setInput)) ??
    (await guard("setOutput", setOutput)) ??
    (await guard("compute", () => execution.compute()));
  compilation.close();
  if (refused === "compute: OUTPUT_INSUFFICIENT_SIZE") {
    expect(execution.getOutputOperandDimensions(0)).toEqual([COLUMNS, ROWS]);
  }
  return refused ?? [...new Float32Array(results.map().slice().buffer)].slice(0, 6);
}

const expected = [11, 14, 22, 25, 33, 36];
const places = [
  [ROWS, COLUMNS],
  [COLUMNS, ROWS],
] as const;
const [inputDimensions, outputDimensions] = places;

describe.each([false, true])("dimensions (arguments in memory: %s)", (isMemory) => {
  const usual: Said = { input: inputDimensions, output: outputDimensions, room: 6, isMemory };

  it.each(levels.flatMap((model) => executionLevels.map((execution) => [model, execution] as const)))(
    "of an input: model %s, execution %s",
    async (level, execution) => {
      const model = transpose(at(level, inputDimensions), inputDimensions, outputDimensions);
      const isKnown = execution === "full" || ((execution === "none" || execution === "rank") && level === "full");
      const result = await run(model, { ...usual, input: at(execution, inputDimensions) });
      expect(result).toEqual(isKnown ? expected : "setInput: BAD_DATA");
    },
  );

  it.each(
    levels.flatMap((model) =>
      executionLevels.flatMap((execution) => [5, 6, 7].map((room) => [model, execution, room] as const)),
    ),
  )("of an output: model %s, execution %s, room for %i", async (level, execution, room) => {
    const model = transpose(inputDimensions, inputDimensions, at(level, outputDimensions));
    const isSaid = execution === "full" || (level === "full" && execution !== "extent");
    // The known dimensions contradict the model if fewer are known.
    const isLess = execution === "extent" && level === "full";
    const result = await run(model, { ...usual, output: at(execution, outputDimensions), room });
    if (isLess || (isSaid && room !== 6)) expect(result).toBe("setOutput: BAD_DATA");
    else expect(result).toEqual(room < 6 ? "compute: OUTPUT_INSUFFICIENT_SIZE" : expected);
  });

  it.each(levels)("of the intermediate result: model %s", async (level) => {
    const model = transpose(inputDimensions, at(level, inputDimensions), outputDimensions);
    expect(await run(model, usual)).toEqual(expected);
  });

  it.each([0, 1])("of an input that are wrong at %i are refused if the model knows them", async (wrong) => {
    const said = inputDimensions.map((extent, axis) => (axis === wrong ? WRONG : extent));
    const known = transpose(inputDimensions, inputDimensions, outputDimensions);
    expect(await run(known, { ...usual, input: said })).toBe("setInput: BAD_DATA");
    // If it does not, the buffer is too short for them.
    const open = transpose([], [], []);
    expect(await run(open, { ...usual, input: said, output: [] })).toBe("setInput: BAD_DATA");
  });

  it("of an input that do not fit the constant are refused when it computes", async () => {
    const open = transpose([0, 0], [0, 0], [0, 0]);
    expect(await run(open, { ...usual, input: [3, 2], output: [] })).toBe("compute: OP_FAILED");
  });

  it("of an output that are wrong are refused, by the model or by the execution", async () => {
    const known = transpose(inputDimensions, inputDimensions, outputDimensions);
    expect(await run(known, { ...usual, output: [ROWS, COLUMNS] })).toBe("setOutput: BAD_DATA");
    const open = transpose(inputDimensions, inputDimensions, [0, 0]);
    expect(await run(open, { ...usual, output: [ROWS, COLUMNS] })).toMatch(/^compute: (OP_FAILED|BAD_DATA)$/);
  });
});
