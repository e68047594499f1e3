/** The runtime over a device of a server: the location of the device makes no difference. */
import { createBurst } from "@nnhal/driver-core/burst";
import { allocateMemory, mapPool, memoryOf } from "@nnhal/driver-core/memory";
import { Burst, Compilation, Execution, Model } from "@nnhal/runtime";
import { addModel } from "@nnhal/test-kit/models";
import { ErrorStatus } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryChannels, threadPassing } from "./channel/index.ts";
import { addRequest, connectEnds, pairs, prepare, reference } from "./ends.test-helper.ts";

let device: Awaited<ReturnType<typeof reference>>;
beforeAll(async () => {
  device = await reference();
});

function sum(compilation: Compilation) {
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, output);
  return { execution, output };
}

describe.each(pairs)("over a channel of kind %s", (_, pair, passing) => {
  it("models are compiled and executed, alone and in bursts", async () => {
    const { remote } = await connectEnds(device, pair, { passing });
    const model = Model.from(addModel([2]));
    expect(await model.getSupportedOperationsForDevices([remote])).toEqual([true]);
    const compilation = new Compilation(model, [remote]);
    await compilation.finish();
    const { execution, output } = sum(compilation);
    await execution.compute();
    expect([...output]).toEqual([11, 22]);
    const burst = await Burst.create(compilation);
    for (let turn = 0; turn < 3; turn++) {
      const next = sum(compilation);
      await next.execution.burstCompute(burst);
      expect([...next.output]).toEqual([11, 22]);
    }
    await burst.close();
    compilation.close();
    remote.close();
  });
});

describe("a burst over a connection that shares memory", () => {
  it("carries requests in shared memory, and leaves others to the ordinary call", async () => {
    const { remote } = await connectEnds(device, pairOfMemory, { passing: threadPassing });
    const model = await prepare(remote, addModel([2]));
    const { configureExecutionBurst } = model;
    if (configureExecutionBurst === undefined) throw new Error("no bursts");
    const { burst } = await createBurst(configureExecutionBurst);
    expect(await burst?.compute(addRequest(allocateMemory(24)))).toMatchObject({ status: ErrorStatus.NONE });
    const copied = await burst?.compute(addRequest(memoryOf(new Uint8Array(24))));
    expect(copied).toMatchObject({ fallback: true, message: expect.stringContaining("copies the memory") });
    await burst?.close();
    remote.close();
  });

  it("ends when the server does", async () => {
    const { remote, served } = await connectEnds(device, pairOfMemory, { passing: threadPassing });
    const model = await prepare(remote, addModel([2]));
    if (model.configureExecutionBurst === undefined) throw new Error("no bursts");
    const { burst } = await createBurst(model.configureExecutionBurst);
    await served.close();
    const answer = await burst?.compute(addRequest(allocateMemory(24)));
    expect(answer?.fallback || answer?.status === ErrorStatus.DEVICE_UNAVAILABLE).toBe(true);
    await burst?.close();
  });
});

describe("a burst over a connection that copies", () => {
  const start = async () => {
    const { remote, served } = await connectEnds(device, pairOfMemory);
    const model = await prepare(remote, addModel([2]));
    if (model.configureExecutionBurst === undefined) throw new Error("no bursts");
    const { burst } = await createBurst(model.configureExecutionBurst, { direct: false });
    if (burst === null) throw new Error("no burst");
    const memory = allocateMemory(24);
    const mapping = mapPool(memory);
    if ("unmappable" in mapping) throw new Error(mapping.unmappable);
    return { remote, served, model, burst, memory, values: new Float32Array(mapping.bytes.buffer, 0, 6) };
  };

  it("executes packets of queues on the client's side by calls, and knows memories by slots", async () => {
    const { remote, burst, memory, values } = await start();
    for (let x = 0; x < 3; x++) {
      values.set([x, x, 10, 20, 0, 0]);
      expect(await burst.compute(addRequest(memory))).toMatchObject({ status: ErrorStatus.NONE, fallback: false });
      expect([...values.subarray(4)]).toEqual([10 + x, 20 + x]);
      if (x === 1) await burst.freeMemory(memory);
    }
    await burst.close();
    remote.close();
  });

  it("ends when the server does", async () => {
    const { burst, served, memory } = await start();
    await served.close();
    const answer = await burst.compute(addRequest(memory));
    expect(answer.fallback || answer.status === ErrorStatus.DEVICE_UNAVAILABLE).toBe(true);
    await burst.close();
  });

  it("is refused after the prepared model is closed", async () => {
    const { remote, model, burst } = await start();
    await burst.close();
    model.close();
    if (model.configureExecutionBurst === undefined) throw new Error("no bursts");
    const late = await createBurst(model.configureExecutionBurst);
    expect(late).toMatchObject({ burst: null, status: ErrorStatus.INVALID_ARGUMENT });
    remote.close();
  });
});

const pairOfMemory = async () => memoryChannels();
