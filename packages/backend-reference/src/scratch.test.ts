import { type Executable, viewModel } from "@nnhal/backend";
import {
  ErrorStatus,
  ExecutionPreference,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  Priority,
  type Subgraph,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { referenceBackend } from "./reference-backend.ts";
import { createScratch } from "./scratch.ts";

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY, TEMPORARY_VARIABLE } = OperandLifeTime;
const large = 5000;

const operand = (lifetime: number, type: number = OperandType.TENSOR_FLOAT32, offset = 0): Operand => ({
  type,
  dimensions: type === OperandType.TENSOR_FLOAT32 ? [large] : type === OperandType.TENSOR_BOOL8 ? [1] : [],
  numberOfConsumers: 1,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: { poolIndex: 0, offset, length: lifetime === CONSTANT_COPY ? 4 : 0 },
  extraParams: { kind: "none" },
});
const flag = (lifetime: number) => operand(lifetime, OperandType.TENSOR_BOOL8);
const reference = (index: number) => operand(OperandLifeTime.SUBGRAPH, OperandType.SUBGRAPH, index);

const isWanted: Subgraph = {
  operands: [operand(SUBGRAPH_INPUT), flag(SUBGRAPH_INPUT), flag(SUBGRAPH_OUTPUT)],
  operations: [{ type: OperationType.LOGICAL_AND, inputs: [1, 1], outputs: [2] }],
  inputIndexes: [0, 1],
  outputIndexes: [2],
};
const step: Subgraph = {
  operands: [operand(SUBGRAPH_INPUT), flag(SUBGRAPH_INPUT), operand(SUBGRAPH_OUTPUT)],
  operations: [{ type: OperationType.NEG, inputs: [0], outputs: [2] }],
  inputIndexes: [0, 1],
  outputIndexes: [2],
};

/** |x|, through a loop that returns its input if it has no iteration, plus -x, which is computed after it. */
const model: Model = {
  main: {
    operands: [
      operand(SUBGRAPH_INPUT),
      flag(SUBGRAPH_INPUT),
      operand(TEMPORARY_VARIABLE),
      reference(0),
      reference(1),
      operand(TEMPORARY_VARIABLE),
      operand(TEMPORARY_VARIABLE),
      operand(CONSTANT_COPY, OperandType.INT32),
      operand(SUBGRAPH_OUTPUT),
    ],
    operations: [
      { type: OperationType.ABS, inputs: [0], outputs: [2] },
      { type: OperationType.WHILE, inputs: [3, 4, 2, 1], outputs: [5] },
      { type: OperationType.NEG, inputs: [0], outputs: [6] },
      { type: OperationType.ADD, inputs: [5, 6, 7], outputs: [8] },
    ],
    inputIndexes: [0, 1],
    outputIndexes: [8],
  },
  referenced: [isWanted, step],
  operandValues: new Uint8Array(4),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

async function compile(): Promise<Executable> {
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const options = { preference: ExecutionPreference.FAST_SINGLE_ANSWER, priority: Priority.MEDIUM };
  return session.compile(viewModel({ model, pools: [] }), options);
}

/** Runs a model on an input filled with `x` and returns the value that all elements of the output have. */
async function run(executable: Executable, x: number): Promise<number> {
  const bytesOf = ({ buffer }: Float32Array) => new Uint8Array(buffer);
  const output = new Float32Array(large).fill(Number.NaN);
  const { status, message } = await executable.run(
    [
      { bytes: bytesOf(new Float32Array(large).fill(x)), dimensions: [large] },
      { bytes: Uint8Array.of(0), dimensions: [1] },
    ],
    [{ bytes: bytesOf(output), dimensions: [large] }],
    { now: () => 0n, random: () => 0, loopTimeoutDuration: 1n, measure: false },
  );
  expect([status, message]).toEqual([ErrorStatus.NONE, undefined]);
  expect(new Set(output).size).toBe(1);
  return output[0] ?? Number.NaN;
}

describe("createScratch", () => {
  it("returns elements that were given back once, for the same typed array and number only", () => {
    const scratch = createScratch();
    const data = new Float32Array(large);
    expect(scratch.take("TENSOR_FLOAT32", large)).toBeUndefined();
    scratch.giveBack(data);
    expect(scratch.take("TENSOR_FLOAT32", large + 1)).toBeUndefined();
    expect(scratch.take("TENSOR_INT32", large)).toBeUndefined();
    expect(scratch.take("TENSOR_FLOAT16", large)).toBe(data);
    expect(scratch.take("TENSOR_FLOAT32", large)).toBeUndefined();
  });

  it("drops all on request, and small pieces at once", () => {
    const scratch = createScratch();
    scratch.giveBack(new Int32Array(large));
    scratch.clear();
    expect(scratch.take("TENSOR_INT32", large)).toBeUndefined();
    scratch.giveBack(new Int32Array(4095));
    expect(scratch.take("TENSOR_INT32", 4095)).toBeUndefined();
    scratch.giveBack(new Int32Array(4096));
    expect(scratch.take("TENSOR_INT32", 4096)).toHaveLength(4096);
  });

  it("keeps no more bytes than its limit", () => {
    const scratch = createScratch(4 * large);
    const first = new Int32Array(large);
    scratch.giveBack(first);
    scratch.giveBack(new Int32Array(large + 1));
    expect(scratch.take("TENSOR_INT32", large + 1)).toBeUndefined();
    expect(scratch.take("TENSOR_INT32", large)).toBe(first);
    scratch.giveBack(first);
    expect(scratch.take("TENSOR_INT32", large)).toBe(first);
  });
});

describe("runs that share memory", () => {
  it("compute the same: one after the other, at the same time, and after the memory was released", async () => {
    const executable = await compile();
    expect(await run(executable, 3)).toBe(0);
    expect(await run(executable, -3)).toBe(6);
    expect(await Promise.all([run(executable, -1), run(executable, 2), run(executable, -4)])).toEqual([2, 0, 8]);
    executable.releaseScratch?.();
    expect(await run(executable, -3)).toBe(6);
  });
});
