/**
 * That tensors of tfjs, which nothing collects, are all disposed of: whatever becomes of a run, there are as many after it as before.
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

describe.each(["wasm", "cpu"] as const)("the memory of tfjs on %s", (engine) => {
  it("is as full after 1,000 runs as after one, and as before when the model is closed", async () => {
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

  it("is as full after runs that fail at the last operation", async () => {
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
      expect(message).toMatch(/operation 3 \(GATHER\): .*indexes reach from .* outside \[0, 2\)/);
    }
    expect(tf.memory()).toEqual(before);
  });

  it("is as full wherever a deadline ends a run", async () => {
    let time = 0n;
    const preparedModel = await prepare(chain(), engine, { now: () => time++ });
    const before = tf.memory();
    const request = requestOf([new Uint8Array(8), new Uint8Array(4)], [new Uint8Array(4)]);
    const statuses = new Set<ErrorStatus>();
    for (let ticks = 1n; ticks < 100n && !statuses.has(ErrorStatus.NONE); ticks++) {
      statuses.add((await preparedModel.execute(request, { deadline: time + ticks })).status);
      expect(tf.memory()).toEqual(before);
    }
    const { MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT, NONE } = ErrorStatus;
    expect([...statuses]).toEqual([MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT, NONE]);
  });

  it("is as before when a model is closed while it runs", async () => {
    const before = tf.memory();
    const preparedModel = await prepare(network(), engine);
    const running = preparedModel.execute(requestOf([new Uint8Array(8)], [new Uint8Array(8)]));
    preparedModel.close();
    expect(await running).toMatchObject({ status: ErrorStatus.NONE });
    expect(tf.memory()).toEqual(before);
  });
});
