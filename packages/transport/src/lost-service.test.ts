/** The runtime over a service that is lost and found again: executions of every kind go on, without those that need what was lost. */
import { createFence } from "@nnhal/driver-core/fence";
import { allocateMemory, mapPool, memoryOf } from "@nnhal/driver-core/memory";
import { Burst, Compilation, Execution, Memory, MemoryDesc, Model, runtimeAsDevice } from "@nnhal/runtime";
import { addModel } from "@nnhal/test-kit/models";
import { type Device, ErrorStatus, type PreparedModel, type ReusableExecution } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryChannels } from "./channel/index.ts";
import { connectDevice } from "./client/index.ts";
import { addRequest, makeReconnecting, prepare, reference } from "./ends.test-helper.ts";
import { serve } from "./server/index.ts";

const { NONE, DEVICE_UNAVAILABLE } = ErrorStatus;

let device: Awaited<ReturnType<typeof reference>>;
beforeAll(async () => {
  device = await reference();
});

/** An execution that adds 10 and 20, to 1 and 2 or to what a memory holds. */
function sum(compilation: Compilation, memory?: Memory) {
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  if (memory === undefined) execution.setInput(0, Float32Array.of(1, 2));
  else execution.setInputFromMemory(0, memory);
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, output);
  return { execution, output };
}

async function compile(remote: Device): Promise<Compilation> {
  const compilation = new Compilation(Model.from(addModel([2])), [remote]);
  await compilation.finish();
  return compilation;
}

/** A request of its own memory, set up as an execution of a prepared model. */
async function setUp(model: PreparedModel) {
  const memory = allocateMemory(24);
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const values = new Float32Array(mapping.bytes.buffer, 0, 6);
  const result = await model.createReusableExecution?.(addRequest(memory));
  const execution = result?.execution ?? null;
  if (execution === null) throw new Error(result?.message);
  /** Adds 10 and 20 to a value by one run. Returns the status of the run, and the sums. */
  const run = async (launch: (on: ReusableExecution) => Promise<ErrorStatus>, value: number) => {
    values.set([value, value, 10, 20, 0, 0]);
    return [await launch(execution), ...values.subarray(4)];
  };
  return { execution, run };
}

const atOnce = async (execution: ReusableExecution) => (await execution.execute()).status;

/** Launches a run behind a fence, which is signalled then, and waits for its end. */
async function launchFenced(execution: ReusableExecution): Promise<ErrorStatus> {
  const start = createFence();
  const { status, syncFence, callback } = await execution.executeFenced([start.fence]);
  start.signal();
  await syncFence?.wait();
  return callback === null ? status : (await callback.getExecutionInfo()).status;
}

/** The runtime's device over one whose service is restarted each time that it is lost, and a prepared model of it. */
async function prepareLosing() {
  const { remote, servers } = await makeReconnecting(device);
  const model = await prepare(runtimeAsDevice([remote]), addModel([2]));
  return { model, remote, servers, lose: () => servers.at(-1)?.close() };
}

describe("a service that has gone and come back", () => {
  it("has its models prepared anew, and executions that found it gone succeed", async () => {
    const { remote, servers } = await makeReconnecting(device);
    const compilation = await compile(remote);
    await servers[0]?.close();
    const both = [sum(compilation), sum(compilation)];
    await Promise.all(both.map(({ execution }) => execution.compute()));
    for (const { output } of both) expect([...output]).toEqual([11, 22]);
    expect(servers).toHaveLength(2);
    expect(servers[1]?.usage().objects).toBe(1);
    compilation.close();
    await expect.poll(() => servers[1]?.usage().objects).toBe(0);
    remote.close();
  });

  it("has executions set up anew, and each run goes on, at once and behind fences", async () => {
    const { model, remote, servers, lose } = await prepareLosing();
    const { execution, run } = await setUp(model);
    for (const [index, launch] of [launchFenced, atOnce, launchFenced, launchFenced].entries()) {
      expect(await run(launch, index), `run ${index}`).toEqual([NONE, 10 + index, 20 + index]);
      expect(await run(launch, -1)).toEqual([NONE, 9, 19]);
      await lose();
    }
    expect(servers).toHaveLength(4);
    expect(await run(atOnce, 5)).toEqual([NONE, 15, 25]);
    execution.close?.();
    model.close();
    await expect.poll(() => servers.at(-1)?.usage().objects).toBe(0);
    remote.close();
  });

  it("goes on with an execution that has not run since it was lost twice", async () => {
    const { model, remote, lose } = await prepareLosing();
    const [first, second] = [await setUp(model), await setUp(model)];
    await lose();
    expect(await first.run(launchFenced, 1)).toEqual([NONE, 11, 21]);
    await lose();
    expect(await second.run(launchFenced, 2)).toEqual([NONE, 12, 22]);
    expect(await first.run(atOnce, 3)).toEqual([NONE, 13, 23]);
    remote.close();
  });

  it("fails the fence of a run that waits, and goes on with the next run", async () => {
    const { model, remote, lose } = await prepareLosing();
    const { execution, run } = await setUp(model);
    const never = createFence();
    const { status, syncFence, callback } = await execution.executeFenced([never.fence]);
    expect(status).toBe(NONE);
    await lose();
    expect(await syncFence?.wait()).toBe("ERROR");
    expect(await callback?.getExecutionInfo()).toMatchObject({ status: DEVICE_UNAVAILABLE });
    expect(await run(launchFenced, 4)).toEqual([NONE, 14, 24]);
    remote.close();
  });

  it("leaves nothing set up that is closed while it is set up anew", async () => {
    const { model, remote, servers, lose } = await prepareLosing();
    const { execution } = await setUp(model);
    await lose();
    const running = atOnce(execution);
    execution.close?.();
    expect([NONE, ErrorStatus.INVALID_ARGUMENT]).toContain(await running);
    // The prepared model is left.
    await expect.poll(() => servers.at(-1)?.usage().objects).toBe(1);
    remote.close();
  });

  it("computes what a burst was computing when it was lost", async () => {
    let hang: (() => void) | undefined = () => {};
    const hung = new Promise<void>((resolve) => {
      hang = resolve;
    });
    const { connect: _, ...own } = device;
    /** Never answers the first execution. */
    const served: Device = {
      ...own,
      async prepareModel(...given) {
        const result = await device.prepareModel(...given);
        const { preparedModel } = result;
        if (preparedModel === null) return result;
        const execute: PreparedModel["execute"] = (...request) => {
          if (hang === undefined) return preparedModel.execute(...request);
          hang();
          hang = undefined;
          return new Promise(() => {});
        };
        return { ...result, preparedModel: { ...preparedModel, execute, close: () => preparedModel.close() } };
      },
    };
    const { remote, servers } = await makeReconnecting(served);
    const compilation = await compile(remote);
    const burst = await Burst.create(compilation);
    const first = sum(compilation);
    const running = first.execution.burstCompute(burst);
    await hung;
    await servers[0]?.close();
    await running;
    expect([...first.output]).toEqual([11, 22]);
    const second = sum(compilation);
    await second.execution.burstCompute(burst);
    expect([...second.output]).toEqual([11, 22]);
    expect(servers).toHaveLength(2);
    burst.close();
    compilation.close();
    remote.close();
  });
});

describe("a service that has gone with the memory that it had allocated", () => {
  it("fails executions on that memory, also when other memory has its token, and none besides", async () => {
    const { remote, servers } = await makeReconnecting(device);
    const compilation = await compile(remote);
    const createInput = async (...values: number[]) => {
      const desc = new MemoryDesc();
      desc.addInputRole(compilation, 0);
      desc.finish();
      const memory = await Memory.createFromDesc(desc);
      const bytes = new Uint8Array(Float32Array.from(values).buffer);
      await Memory.copy(Memory.from(memoryOf(bytes)), memory);
      return memory;
    };
    const lost = await createInput(1, 2);
    const held = sum(compilation, lost);
    held.execution.setReusable(true);
    await held.execution.compute();
    expect([...held.output]).toEqual([11, 22]);
    await servers[0]?.close();
    await expect(held.execution.compute()).rejects.toThrow("DEAD_OBJECT");
    const other = sum(compilation);
    await other.execution.compute();
    expect([...other.output]).toEqual([11, 22]);
    const found = await createInput(5, 6);
    const next = sum(compilation, found);
    await next.execution.compute();
    expect([...next.output]).toEqual([15, 26]);
    await expect(held.execution.compute()).rejects.toThrow("DEAD_OBJECT");
    await expect(sum(compilation, lost).execution.compute()).rejects.toThrow("DEAD_OBJECT");
    compilation.close();
    remote.close();
  });
});

it("a service that has not come back is a failure", async () => {
  const [client, server] = memoryChannels();
  const served = serve(device, server);
  const remote = await connectDevice(client);
  if ("unavailable" in remote) throw new Error(remote.unavailable);
  const compilation = await compile(remote);
  await served.close();
  await expect(sum(compilation).execution.compute()).rejects.toThrow("DEAD_OBJECT");
  const next = new Compilation(Model.from(addModel([2])), [remote]);
  await expect(next.finish()).rejects.toThrow("DEAD_OBJECT");
});
