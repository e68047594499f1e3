/** Bursts of the runtime on the device of a daemon: queues and values lie in memory that both processes map. */

import { mapPool } from "@nnhal/driver-core/memory";
import { Burst, Compilation, Execution, Memory, Model } from "@nnhal/runtime";
import { connectService, type ServiceDevice } from "@nnhal/service";
import { createSharedMemory } from "@nnhal/service/shared-memory";
import type { Device } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addModel } from "./models.test-helper.ts";
import { cleanUp, type StartedDaemon, startDaemonProcess } from "./process.test-helper.ts";

let daemon: StartedDaemon;
beforeAll(async () => {
  daemon = await startDaemonProcess([]);
});
afterAll(cleanUp);

/** A device of the daemon, and how many executions were ordinary calls. */
async function connect(sharing: boolean): Promise<{ own: ServiceDevice; device: Device; seen: { calls: number } }> {
  const own = await connectService("nnapi-sample_all", { directory: daemon.directory, sharing });
  if ("unavailable" in own) throw new Error(own.unavailable);
  const seen = { calls: 0 };
  const device: Device = {
    ...own,
    async prepareModel(model, options) {
      const { preparedModel, ...outcome } = await own.prepareModel(model, options);
      if (preparedModel === null) return { ...outcome, preparedModel };
      const execute: typeof preparedModel.execute = (...request) => {
        seen.calls++;
        return preparedModel.execute(...request);
      };
      return { ...outcome, preparedModel: { ...preparedModel, execute } };
    },
  };
  return { own, device, seen };
}

async function burstOf(device: Device) {
  const compilation = new Compilation(Model.from(addModel), [device]);
  await compilation.finish();
  return { compilation, burst: await Burst.create(compilation) };
}

async function addInBurst({ compilation, burst }: Awaited<ReturnType<typeof burstOf>>, x: number) {
  const execution = new Execution(compilation);
  const sum = new Float32Array(2);
  execution.setInput(0, Float32Array.of(x, x));
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, sum);
  await execution.burstCompute(burst);
  return [...sum];
}

describe("a burst of the runtime on a daemon's device", () => {
  it("runs through shared queues, with arrays and with memory that is shared", async () => {
    const { own, device, seen } = await connect(true);
    const started = await burstOf(device);
    for (let x = 0; x < 5; x++) expect(await addInBurst(started, x)).toEqual([10 + x, 20 + x]);
    const shared = createSharedMemory(24);
    if (!("refused" in shared)) {
      const mapping = mapPool(shared);
      if ("unmappable" in mapping) throw new Error(mapping.unmappable);
      const values = new Float32Array(mapping.bytes.buffer, mapping.bytes.byteOffset, 6);
      using memory = Memory.from(shared);
      for (let x = 0; x < 3; x++) {
        values.set([x, x, 1, 2, 0, 0]);
        const execution = new Execution(started.compilation);
        for (const index of [0, 1]) execution.setInputFromMemory(index, memory, { offset: 8 * index, length: 8 });
        execution.setOutputFromMemory(0, memory, { offset: 16, length: 8 });
        await execution.burstCompute(started.burst);
        expect([...values.subarray(4)]).toEqual([x + 1, x + 2]);
      }
    }
    expect(seen.calls).toBe(0);
    started.burst.close();
    started.compilation.close();
    own.close();
  });

  it("is served on the client's side where memory is copied", async () => {
    const { own, device, seen } = await connect(false);
    const started = await burstOf(device);
    expect(await addInBurst(started, 1)).toEqual([11, 21]);
    expect(seen.calls).toBe(0);
    started.burst.close();
    own.close();
  });

  it("fails as a call does if the daemon is gone", async () => {
    const { own, device, seen } = await connect(true);
    const started = await burstOf(device);
    expect(await addInBurst(started, 1)).toEqual([11, 21]);
    expect(seen.calls).toBe(0);
    daemon.child.kill("SIGKILL");
    await daemon.ended;
    await expect(addInBurst(started, 2)).rejects.toThrow();
    started.burst.close();
    own.close();
  });
});
