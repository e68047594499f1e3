import { type RunContext, type RunResult, type RunSection, viewModel } from "@nnhal/backend";
import { operand as operandOf } from "@nnhal/test-kit/models";
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

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY, TEMPORARY_VARIABLE } = OperandLifeTime;
const { TENSOR_FLOAT32, TENSOR_BOOL8, INT32, SUBGRAPH } = OperandType;

const operand = (type: number, lifetime: number, dimensions: number[] = [1], offset = 0, length = 0): Operand =>
  operandOf({ type, lifetime, dimensions, numberOfConsumers: 1, location: { poolIndex: 0, offset, length } });
const limit = operand(TENSOR_FLOAT32, CONSTANT_COPY, [1], 0, 4);
const one = operand(TENSOR_FLOAT32, CONSTANT_COPY, [1], 4, 4);
const none = operand(INT32, CONSTANT_COPY, [], 8, 4);
const value = (lifetime: number) => operand(TENSOR_FLOAT32, lifetime);
const reference = (index: number) => operand(SUBGRAPH, OperandLifeTime.SUBGRAPH, [], index);

const isSmall: Subgraph = {
  operands: [value(SUBGRAPH_INPUT), limit, operand(TENSOR_BOOL8, SUBGRAPH_OUTPUT)],
  operations: [{ type: OperationType.LESS, inputs: [0, 1], outputs: [2] }],
  inputIndexes: [0],
  outputIndexes: [2],
};
const increment: Subgraph = {
  operands: [value(SUBGRAPH_INPUT), one, none, value(SUBGRAPH_OUTPUT)],
  operations: [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }],
  inputIndexes: [0],
  outputIndexes: [3],
};
/** Counts up to 2, then adds one more if its other input says so. */
const model: Model = {
  main: {
    operands: [
      value(SUBGRAPH_INPUT),
      operand(TENSOR_BOOL8, SUBGRAPH_INPUT),
      reference(0),
      reference(1),
      reference(2),
      value(TEMPORARY_VARIABLE),
      value(SUBGRAPH_OUTPUT),
    ],
    operations: [
      { type: OperationType.WHILE, inputs: [2, 3, 0], outputs: [5] },
      { type: OperationType.IF, inputs: [1, 3, 4, 5], outputs: [6] },
    ],
    inputIndexes: [0, 1],
    outputIndexes: [6],
  },
  referenced: [
    isSmall,
    increment,
    { ...increment, operations: [{ type: OperationType.MUL, inputs: [0, 1, 2], outputs: [3] }] },
  ],
  operandValues: new Uint8Array([...bytesOf(Float32Array.of(2, 1)), 0, 0, 0, 0]),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

function bytesOf({ buffer }: Float32Array): Uint8Array {
  return new Uint8Array(buffer);
}

async function run(isMore: number, watch: Partial<RunContext>, from = 1): Promise<[RunResult, number]> {
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const executable = await session.compile(viewModel({ model, pools: [] }), {
    preference: ExecutionPreference.FAST_SINGLE_ANSWER,
    priority: Priority.MEDIUM,
  });
  const output = new Float32Array(1);
  const result = await executable.run(
    [
      { bytes: bytesOf(Float32Array.of(from)), dimensions: [1] },
      { bytes: Uint8Array.of(isMore), dimensions: [1] },
    ],
    [{ bytes: bytesOf(output), dimensions: [1] }],
    { now: () => 0n, random: () => 0, loopTimeoutDuration: 1n, measure: false, ...watch },
  );
  return [result, output[0] ?? Number.NaN];
}

/** A section that writes down what begins and ends in it, indented by how deep it lies. */
function writingSection(lines: string[], depth = 0): RunSection {
  return {
    begin(layer, phase, detail) {
      lines.push(`${"  ".repeat(depth)}${layer} ${phase} ${detail}`);
      return writingSection(lines, depth + 1);
    },
    end: () => lines.push(`${"  ".repeat(depth - 1)}end`),
  };
}

describe("the log of a run", () => {
  it("names each operation, the iterations of loops and the branches taken", async () => {
    const lines: string[] = [];
    const [{ status }, result] = await run(1, { log: (line) => lines.push(line) });
    expect([status, result]).toEqual([ErrorStatus.NONE, 3]);
    expect(lines).toEqual([
      "run: 2 operations in the main subgraph",
      "operation 1 (WHILE)",
      "operation 1 (LESS)",
      "operation 1 (WHILE): the condition is true after 0 iterations",
      "operation 1 (ADD)",
      "operation 1 (LESS)",
      "operation 1 (WHILE): the condition is false after 1 iterations",
      "operation 2 (IF)",
      "operation 2 (IF): the condition is true",
      "operation 1 (ADD)",
    ]);
    lines.length = 0;
    await run(0, { log: (line) => lines.push(line) });
    expect(lines.slice(-2)).toEqual(["operation 2 (IF): the condition is false", "operation 1 (MUL)"]);
  });
});

describe("the sections of a run", () => {
  it("contain one for each operation; those of subgraphs are inside that of IF or WHILE", async () => {
    const lines: string[] = [];
    await run(1, { section: writingSection(lines) }, 2);
    expect(lines).toEqual([
      "LC PE run",
      "  LC PTR decode inputs",
      "  end",
      "  LC PCO WHILE",
      "    LC PCO LESS",
      "    end",
      "  end",
      "  LC PCO IF",
      "    LC PCO ADD",
      "    end",
      "  end",
      "  LC PR encode outputs",
      "  end",
      "end",
    ]);
  });

  it("end when the run fails", async () => {
    const lines: string[] = [];
    let time = 0n;
    const [{ status }] = await run(1, { section: writingSection(lines), now: () => (time += 2n) });
    expect(status).toBe(ErrorStatus.MISSED_DEADLINE_TRANSIENT);
    expect([lines[0], lines.at(-1)]).toEqual(["LC PE run", "end"]);
  });
});
