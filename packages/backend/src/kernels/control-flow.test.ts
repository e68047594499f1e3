import { elementAt } from "@nnhal/operations";
import { ErrorStatus, OperandLifeTime, OperandType, OperationType, type Subgraph } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { RunContext } from "../contract.ts";
import { add, type Handle, tensorOf } from "./fake-engine.test-helper.ts";
import type { Kernel } from "./kernel.ts";
import {
  compile,
  context,
  input,
  modelOf,
  none,
  openOver,
  operand,
  output,
  plus,
  subgraph,
  weights,
} from "./kernel-models.test-helper.ts";

const { TENSOR_INT32, TENSOR_BOOL8 } = OperandType;
const life = OperandLifeTime;

describe("control flow on handles", () => {
  const condition = operand(life.SUBGRAPH_INPUT, [1], { type: TENSOR_BOOL8 });
  /** out = in + (weights, or in) */
  const branch = (other: 0 | 1): Subgraph => ({
    operands: [input, weights, none, output],
    operations: [plus([0, other, 2], [3])],
    inputIndexes: [0],
    outputIndexes: [3],
  });

  it("runs the branch that the condition chooses", async () => {
    const model = modelOf(
      {
        operands: [condition, subgraph(0), subgraph(1), input, output],
        operations: [{ type: OperationType.IF, inputs: [0, 1, 2, 3], outputs: [4] }],
        inputIndexes: [0, 3],
        outputIndexes: [4],
      },
      [branch(1), branch(0)],
    );
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, model);
    const bytes = new Uint8Array(8);
    const run = async (truth: number) => {
      const value = { bytes: new Uint8Array(Float32Array.of(1, 2).buffer), dimensions: [2] };
      const inputs = [{ bytes: Uint8Array.of(truth), dimensions: [1] }, value];
      expect(await executable.run(inputs, [{ bytes, dimensions: [2] }], context)).toMatchObject({ status: 0 });
      return [...new Float32Array(bytes.buffer)];
    };
    expect(await run(1)).toEqual([11, 22]);
    // Now both branches have their constants: those of the second one are uploaded in its first run.
    const held = record.alive.size;
    expect(await run(0)).toEqual([2, 4]);
    expect(await run(1)).toEqual([11, 22]);
    expect(record.alive.size).toBe(held);
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  /** While the first element of the counter is less than that of the limit, add 1 to it. */
  const less: Kernel<Handle> = {
    prepare:
      ({ left, right }) =>
      (read) => {
        const first = (tensor: unknown) => elementAt(read(tensorOf(tensor)).values, 0);
        return [{ values: [first(left) < first(right) ? 1 : 0] }];
      },
  };
  const integer = (lifetime: number) => operand(lifetime, [1], { type: TENSOR_INT32 });
  const counter = integer(life.SUBGRAPH_INPUT);
  const loop = modelOf(
    {
      operands: [subgraph(0), subgraph(1), counter, counter, counter, integer(life.SUBGRAPH_OUTPUT)],
      operations: [{ type: OperationType.WHILE, inputs: [0, 1, 2, 3, 4], outputs: [5] }],
      inputIndexes: [2, 3, 4],
      outputIndexes: [5],
    },
    [
      {
        operands: [counter, counter, counter, operand(life.SUBGRAPH_OUTPUT, [1], { type: TENSOR_BOOL8 })],
        operations: [{ type: OperationType.LESS, inputs: [0, 1], outputs: [3] }],
        inputIndexes: [0, 1, 2],
        outputIndexes: [3],
      },
      {
        operands: [counter, counter, counter, none, integer(life.SUBGRAPH_OUTPUT)],
        operations: [plus([0, 2, 3], [4])],
        inputIndexes: [0, 1, 2],
        outputIndexes: [4],
      },
    ],
  );
  const runLoop = async (start: number, limit: number, step: number, more: Partial<RunContext> = {}) => {
    const { session, record } = await openOver({ ADD: add, LESS: less });
    const executable = await compile(session, loop);
    const held = record.alive.size;
    const bytes = new Uint8Array(4);
    const inputs = [start, limit, step].map((value) => ({
      bytes: new Uint8Array(Int32Array.of(value).buffer),
      dimensions: [1],
    }));
    const result = await executable.run(inputs, [{ bytes, dimensions: [1] }], { ...context, ...more });
    expect(record.alive.size).toBe(held);
    executable.close();
    expect(record.alive.size).toBe(0);
    return { status: result.status, value: new Int32Array(bytes.buffer)[0] };
  };

  it("runs a loop any number of times", async () => {
    expect(await runLoop(0, 5, 1)).toEqual({ status: ErrorStatus.NONE, value: 5 });
    expect(await runLoop(7, 5, 1)).toEqual({ status: ErrorStatus.NONE, value: 7 });
  });

  it("ends a loop that takes too long", async () => {
    let time = 0n;
    const clock = { now: () => (time += 1000n), loopTimeoutDuration: 100_000n };
    expect(await runLoop(0, 5, 0, clock)).toMatchObject({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT });
  });
});
