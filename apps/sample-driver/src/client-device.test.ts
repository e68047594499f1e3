import { referenceBackend } from "@nnhal/backend-reference";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { memoryOf } from "@nnhal/driver-core/memory";
import { input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import { ErrorStatus, OperationType, type PreparedModel } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limitedDevice } from "./client-device.ts";
import { createCounters } from "./counters.ts";

let device: OpenedDevice;
beforeAll(async () => {
  const opened = await openDevice({ backend: referenceBackend, caching: false, log: silentLogger });
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  device = opened;
});
afterAll(() => device.close());

const relu = modelOf(
  subgraphOf([operand(input), operand(output)], [{ type: OperationType.RELU, inputs: [0], outputs: [1] }]),
);
const role = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];

function client(limits: { models: number; buffers: number }) {
  const counters = createCounters();
  let time = 0n;
  const now = () => {
    time += 2_000_000n;
    return time;
  };
  return { counters, device: limitedDevice(device.connect(), { limits, counters, now }) };
}

async function prepare(one: ReturnType<typeof client>): Promise<PreparedModel> {
  const { preparedModel, message } = await one.device.prepareModel(relu);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}

const { NONE, RESOURCE_EXHAUSTED_PERSISTENT, INVALID_ARGUMENT } = ErrorStatus;

describe("the limits of a client", () => {
  it("are those of prepared models; a closed one makes room, once", async () => {
    const one = client({ models: 2, buffers: 1 });
    const first = await prepare(one);
    await prepare(one);
    expect(await one.device.prepareModel(relu)).toEqual({
      status: RESOURCE_EXHAUSTED_PERSISTENT,
      message: "nnhal-reference: this client has 2 models, which is the limit",
      preparedModel: null,
    });
    first.close();
    first.close();
    await prepare(one);
    expect((await one.device.prepareModel(relu)).status).toBe(RESOURCE_EXHAUSTED_PERSISTENT);
    await one.device.close();
  });

  it("hold models that are being prepared, and not those that failed", async () => {
    const one = client({ models: 1, buffers: 1 });
    const both = await Promise.all([one.device.prepareModel(relu), one.device.prepareModel(relu)]);
    expect(both.map(({ status }) => status)).toEqual([NONE, RESOURCE_EXHAUSTED_PERSISTENT]);
    both[0].preparedModel?.close();
    const invalid = { ...relu, main: { ...relu.main, inputIndexes: [9] } };
    expect((await one.device.prepareModel(invalid)).status).toBe(INVALID_ARGUMENT);
    await prepare(one);
    await one.device.close();
  });

  it("are those of buffers", async () => {
    const one = client({ models: 1, buffers: 1 });
    const model = await prepare(one);
    const { buffer, token } = await one.device.allocate({ dimensions: [] }, [model], role, []);
    expect(token).toBeGreaterThan(0);
    expect(await one.device.allocate({ dimensions: [] }, [model], role, [])).toMatchObject({
      status: RESOURCE_EXHAUSTED_PERSISTENT,
      message: "nnhal-reference: this client has 1 buffers, which is the limit",
    });
    buffer?.close?.();
    expect((await one.device.allocate({ dimensions: [] }, [model], role, [])).status).toBe(NONE);
    await one.device.close();
  });
});

describe("reusable executions", () => {
  it("are those of the device, and their runs are counted", async () => {
    const one = client({ models: 1, buffers: 0 });
    const model = await prepare(one);
    const values = Float32Array.of(-1, 2, 9, 9);
    const pools = [{ kind: "memory", memory: memoryOf(new Uint8Array(values.buffer)) }] as const;
    const at = (offset: number, length = 8) => ({
      hasNoValue: false,
      location: { poolIndex: 0, offset, length },
      dimensions: [],
    });
    const create = (outputs: ReturnType<typeof at>[]) =>
      model.createReusableExecution?.({ inputs: [at(0)], outputs, pools });
    expect(await create([at(12)])).toMatchObject({ status: INVALID_ARGUMENT, execution: null });
    const execution = (await create([at(8)]))?.execution;
    if (!execution) throw new Error("the device made no execution");
    expect((await execution.execute()).status).toBe(NONE);
    expect([...values]).toEqual([-1, 2, 0, 2]);
    values.fill(5, 0, 2);
    const fenced = await execution.executeFenced([]);
    await fenced.syncFence?.wait();
    expect(await fenced.callback?.getExecutionInfo()).toMatchObject({ status: NONE });
    expect([...values]).toEqual([5, 5, 5, 5]);
    expect(one.counters.get("executions")).toBe(2);
    execution.close?.();
    await one.device.close();
  });
});

describe("the counters", () => {
  it("have what a client has, and nothing of it after its close", async () => {
    const one = client({ models: 4, buffers: 4 });
    const { counters } = one;
    const has = () => (["clients", "models", "buffers"] as const).map((name) => counters.get(name));
    expect(has()).toEqual([1, 0, 0]);
    const model = await prepare(one);
    await one.device.allocate({ dimensions: [] }, [model], role, []);
    expect(has()).toEqual([1, 1, 1]);
    await one.device.close();
    model.close();
    expect(has()).toEqual([0, 0, 0]);
  });

  it("have executions, failures and times, in buckets", async () => {
    const one = client({ models: 4, buffers: 4 });
    const model = await prepare(one);
    const pools = [{ kind: "memory", memory: memoryOf(new Uint8Array(16)) }] as const;
    const at = (offset: number, length = 8) => ({
      hasNoValue: false,
      location: { poolIndex: 0, offset, length },
      dimensions: [],
    });
    expect((await model.execute({ inputs: [at(0)], outputs: [at(8)], pools })).status).toBe(NONE);
    expect((await model.execute({ inputs: [at(0)], outputs: [at(12)], pools })).status).toBe(INVALID_ARGUMENT);
    expect(one.counters.get("executions")).toBe(2);
    expect(one.counters.get("failures")).toBe(1);
    expect(one.counters.get("seconds")).toBeCloseTo(0.004);
    // 2 ms each, which is in the bucket up to 2.5 ms.
    expect(one.counters.latencies.map((count, index) => [count, index]).filter(([count]) => count)).toEqual([[2, 4]]);
    await one.device.close();
  });
});
