/**
 * Tensors of tfjs are not garbage-collected, so every run must dispose of all that it made, also one that fails.
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import {
  ErrorStatus,
  type Model,
  OperandLifeTime,
  OperandType,
  OperationType,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import * as tf from "@tensorflow/tfjs-core";
import { describe, expect, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";
import { constant, modelOf, network, operand } from "./_models.test-helper.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE } = OperandLifeTime;

/** A request with one pool for each argument. */
function requestOf(inputs: readonly Uint8Array[], outputs: readonly Uint8Array[]): Request {
  const argument = (poolIndex: number, { length }: Uint8Array) => ({
    hasNoValue: false,
    location: { poolIndex, offset: 0, length },
    dimensions: [],
  });
  return {
    inputs: inputs.map((bytes, index) => argument(index, bytes)),
    outputs: outputs.map((bytes, index) => argument(inputs.length + index, bytes)),
    pools: [...inputs, ...outputs].map((bytes) => ({ kind: "memory", memory: memoryOf(bytes) })),
  };
}

async function prepare(model: Model, ...device: Parameters<typeof deviceOn>): Promise<PreparedModel> {
  const { preparedModel, message } = await (await deviceOn(...device)).prepareModel(model);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}

/** |x| of |x| and so on, then the element of it that the second input names. */
function chain(): Model {
  const abs = { type: OperationType.ABS };
  return modelOf(
    [
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2]),
      operand(TENSOR_INT32, SUBGRAPH_INPUT, [1]),
      constant(INT32, [], 0, 4),
      ...[0, 1, 2].map(() => operand(TENSOR_FLOAT32, TEMPORARY_VARIABLE, [2])),
      operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1]),
    ],
    [
      { ...abs, inputs: [0], outputs: [3] },
      { ...abs, inputs: [3], outputs: [4] },
      { ...abs, inputs: [4], outputs: [5] },
      { type: OperationType.GATHER, inputs: [5, 2, 1], outputs: [6] },
    ],
    new Uint8Array(4),
  );
}

/** UNIDIRECTIONAL_SEQUENCE_RNN over 20 steps of 2 units. */
function sequence(): Model {
  return modelOf(
    [
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [20, 1, 2]),
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2, 2]),
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2, 2]),
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2]),
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [1, 2]),
      constant(INT32, [], 0, 4),
      constant(INT32, [], 4, 4),
      operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [20, 1, 2]),
    ],
    [{ type: OperationType.UNIDIRECTIONAL_SEQUENCE_RNN, inputs: [0, 1, 2, 3, 4, 5, 6], outputs: [7] }],
    new Uint8Array(Int32Array.of(0, 1).buffer),
  );
}

/** TOPK_V2 of all of so many elements that the kernel pauses. */
function sort(length = 8192): Model {
  return modelOf(
    [
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [length]),
      constant(INT32, [], 0, 4),
      operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [length]),
      operand(TENSOR_INT32, SUBGRAPH_OUTPUT, [length]),
    ],
    [{ type: OperationType.TOPK_V2, inputs: [0, 1], outputs: [2, 3] }],
    new Uint8Array(Int32Array.of(length).buffer),
  );
}

/** A request of zeros; all elements take four bytes. */
function zerosFor({ main: { operands, inputIndexes, outputIndexes } }: Model): Request {
  const bytesOf = (index: number) =>
    new Uint8Array(operands[index].dimensions.reduce((size, extent) => size * extent, 4));
  return requestOf(inputIndexes.map(bytesOf), outputIndexes.map(bytesOf));
}

/** The device answers at the deadline; a run that waits for its turn of the event loop then ends in that turn. */
async function memoryAfter(before: tf.MemoryInfo): Promise<tf.MemoryInfo> {
  for (let turn = 0; turn < 100 && tf.memory().numTensors !== before.numTensors; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return tf.memory();
}

describe.each(["wasm", "cpu"] as const)("the memory of tfjs on %s", (engine) => {
  it("has as many tensors after 1,000 runs as after one, and none of the model after it is closed", async () => {
    const device = await deviceOn(engine);
    const before = tf.memory();
    const { preparedModel } = await device.prepareModel(network());
    if (preparedModel === null) throw new Error("not prepared");
    const compiled = tf.memory();
    // Weights, turned round, and bias: the constants themselves are not held beside what was made of them.
    expect(compiled.numTensors - before.numTensors).toBe(2);
    const request = requestOf([new Uint8Array(8)], [new Uint8Array(8)]);
    for (let run = 0; run < 1000; run++) {
      const { status, message } = await preparedModel.execute(request);
      expect({ status, message }).toEqual({ status: ErrorStatus.NONE, message: undefined });
    }
    expect(tf.memory()).toEqual(compiled);
    preparedModel.close();
    expect(tf.memory()).toEqual(before);
  });

  it("has as many tensors after runs that fail at the last operation", async () => {
    const preparedModel = await prepare(chain(), engine);
    const before = tf.memory();
    const values = new Uint8Array(Float32Array.of(5, -6).buffer);
    const output = new Uint8Array(4);
    const runAt = (index: number) =>
      preparedModel.execute(requestOf([values, new Uint8Array(Int32Array.of(index).buffer)], [output]));
    expect(await runAt(1)).toMatchObject({ status: ErrorStatus.NONE });
    expect([...new Float32Array(output.buffer)]).toEqual([6]);
    for (const index of [-1, 2, 2 ** 31 - 1]) {
      const { status, message } = await runAt(index);
      expect(status).toBe(ErrorStatus.GENERAL_FAILURE);
      expect(message).toMatch(/operation 4 \(GATHER\): .*indexes reach from .* outside \[0, 2\)/);
    }
    expect(tf.memory()).toEqual(before);
  });

  it.each([
    ["a run", chain()],
    ["a sequence", sequence()],
    ["a sort", sort()],
  ])("is as full wherever a deadline ends %s", async (_, model) => {
    let time = 0n;
    const preparedModel = await prepare(model, engine, { now: () => time++ });
    const before = tf.memory();
    const request = zerosFor(model);
    const statuses = new Set<ErrorStatus>();
    for (let ticks = 1n; ticks < 200n && !statuses.has(ErrorStatus.NONE); ticks++) {
      statuses.add((await preparedModel.execute(request, { deadline: time + ticks })).status);
      expect(await memoryAfter(before)).toEqual(before);
    }
    const { MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT, NONE } = ErrorStatus;
    expect([...statuses]).toEqual([MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT, NONE]);
  });

  it("has no tensors of a model that is closed while it runs", async () => {
    const before = tf.memory();
    const preparedModel = await prepare(network(), engine);
    const running = preparedModel.execute(requestOf([new Uint8Array(8)], [new Uint8Array(8)]));
    preparedModel.close();
    expect(await running).toMatchObject({ status: ErrorStatus.NONE });
    expect(tf.memory()).toEqual(before);
  });
});
