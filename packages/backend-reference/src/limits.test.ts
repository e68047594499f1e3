/** Limits of the reference: output buffers that are too small, temporaries beyond the memory, and deadlines. */
import { type Executable, type RunContext, viewModel } from "@nnhal/backend";
import { modelOf as modelOfSubgraph, operand as operandOf, subgraphOf } from "@nnhal/test-kit/models";
import {
  ErrorStatus,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { referenceBackend } from "./reference-backend.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, FLOAT32, INT32, BOOL } = OperandType;
const { CONSTANT_COPY, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE } = OperandLifeTime;

const operand = (type: number, lifetime: number, dimensions: number[], offset = 0, length = 0): Operand =>
  operandOf({ type, lifetime, dimensions, location: { poolIndex: 0, offset, length } });

const modelOf = (operands: Operand[], operations: Operation[], operandValues: Uint8Array): Model =>
  modelOfSubgraph(subgraphOf(operands, operations), { operandValues });

const context: RunContext = {
  now: () => 0n,
  random: () => 0.5,
  loopTimeoutDuration: 1n,
  measure: false,
};

async function compile(model: Model): Promise<Executable> {
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session.compile(viewModel({ model, pools: [] }), { preference: 1, priority: 1 });
}

const fill = { type: OperationType.FILL, inputs: [0, 1], outputs: [2] };
/** A square of ones, and its reduction if `isReduced`. */
const square = (extent: number, isReduced: boolean) =>
  modelOf(
    [
      operand(TENSOR_INT32, CONSTANT_COPY, [2], 0, 8),
      operand(FLOAT32, CONSTANT_COPY, [], 8, 4),
      operand(TENSOR_FLOAT32, isReduced ? TEMPORARY_VARIABLE : SUBGRAPH_OUTPUT, [0, 0]),
      ...(isReduced
        ? [
            operand(TENSOR_INT32, CONSTANT_COPY, [2], 12, 8),
            operand(BOOL, CONSTANT_COPY, [], 20, 1),
            operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1]),
          ]
        : []),
    ],
    isReduced ? [fill, { type: OperationType.REDUCE_SUM, inputs: [2, 3, 4], outputs: [5] }] : [fill],
    new Uint8Array([
      ...new Uint8Array(Int32Array.of(extent, extent).buffer),
      ...new Uint8Array(Float32Array.of(1).buffer),
      ...new Uint8Array(Int32Array.of(0, 1).buffer),
      0,
    ]),
  );

describe("a sort of many elements", () => {
  /** TOPK_V2 of all elements. */
  const sort = (length: number) =>
    modelOf(
      [
        operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [length]),
        operand(INT32, CONSTANT_COPY, [], 0, 4),
        operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [length]),
        operand(TENSOR_INT32, SUBGRAPH_OUTPUT, [length]),
      ],
      [{ type: OperationType.TOPK_V2, inputs: [0, 1], outputs: [2, 3] }],
      new Uint8Array(Int32Array.of(length).buffer),
    );

  it("ends at a deadline that passes meanwhile", async () => {
    const length = 1 << 16;
    const executable = await compile(sort(length));
    const place = () => ({ bytes: new Uint8Array(4 * length), dimensions: [length] });
    let looks = 0n;
    const run = (deadline: bigint) => {
      looks = 0n;
      return executable.run([place()], [place(), place()], { ...context, now: () => looks++, deadline });
    };
    expect((await run(1000n)).status).toBe(ErrorStatus.NONE);
    // The clock is looked at before, at each pause, and after.
    expect(looks).toBeGreaterThan(10n);
    expect((await run(looks / 2n)).status).toBe(ErrorStatus.MISSED_DEADLINE_TRANSIENT);
    expect((await run(3n)).status).toBe(ErrorStatus.MISSED_DEADLINE_TRANSIENT);
    expect(looks).toBeLessThan(6n);
  });
});

describe("FILL of a huge square", () => {
  // It would take seconds or minutes, and more memory than there is.
  it.each([20_000, 60_000])("of %i ends at once if the output is too small", async (extent) => {
    const executable = await compile(square(extent, false));
    const output = { bytes: new Uint8Array(8), dimensions: [0, 0] };
    expect(await executable.run([], [output], { ...context, deadline: 1n })).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions: [extent, extent], isSufficient: false }],
    });
  });

  it("ends at once if there is no room for temporaries, and runs if there is", async () => {
    const output = { bytes: new Uint8Array(4), dimensions: [1] };
    const run = async (extent: number, temporaryLimit: number) =>
      (await compile(square(extent, true))).run([], [output], { ...context, temporaryLimit });
    expect(await run(60_000, 2 ** 30)).toMatchObject({
      status: ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT,
      message: "operation 2 (REDUCE_SUM): temporaries take 14400000004 bytes, more than the limit of 1073741824",
    });
    // Both tensors are alive while the second one is computed.
    expect((await run(100, 40_003)).status).toBe(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT);
    expect((await run(100, 40_004)).status).toBe(ErrorStatus.NONE);
    expect(new Float32Array(output.bytes.buffer)[0]).toBe(10_000);
  });
});
