import { join } from "node:path";
import { createBurst } from "@nnhal/driver-core/burst";
import { allocateMemory, mapPool } from "@nnhal/driver-core/memory";
import { ErrorStatus } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adderRequest } from "./burst.test-helper.ts";
import { burstAcrossProcesses } from "./burst-options.ts";
import { linux } from "./linux.ts";
import { prepareRemotely } from "./remote-device.test-helper.ts";
import { type Peer, privateFolder, startPeer } from "./start-peer.test-helper.ts";

const { NONE, INVALID_ARGUMENT, DEVICE_UNAVAILABLE } = ErrorStatus;

describe.runIf(!("missing" in linux()))("a device of another process", { timeout: 60_000 }, () => {
  const folder = privateFolder();
  const path = join(folder.path, "device");
  let peer: Peer;
  beforeAll(async () => {
    peer = startPeer("./transport.test-process.ts");
    await peer.ask("listen", path);
  });
  afterAll(async () => {
    await peer.kill();
    folder.remove();
  });

  it("computes in memory that both map, of which nothing is copied", async () => {
    const { model, passing } = await prepareRemotely(path);
    const { request, values, memory } = adderRequest();
    for (const count of [1, 2, 3]) {
      values.set([count, 1, Number.NaN]);
      expect(await model.execute(request)).toMatchObject({ status: NONE });
      expect(values[2]).toBe(count + 1);
    }
    const passed = passing?.pass(memory);
    expect(passed).not.toHaveProperty("store");
    expect(passed).not.toHaveProperty("load");
    model.close();
  });

  it("refuses memory of a kind that there is not, also if its bytes are shared", async () => {
    const { model } = await prepareRemotely(path);
    const { request, memory } = adderRequest();
    const paper = { ...request, pools: [{ kind: "memory", memory: { ...memory, name: "paper" } } as const] };
    expect(await model.execute(paper)).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining("paper"),
    });
    expect(await model.execute(request)).toMatchObject({ status: NONE });
  });

  /** A request in memory of the client's own. */
  const ownRequest = () => {
    const memory = allocateMemory(12);
    const mapping = mapPool(memory);
    const values = "bytes" in mapping ? new Float32Array(mapping.bytes.buffer) : new Float32Array(0);
    values.set([4, 5, 0]);
    return { memory, values, request: { ...adderRequest().request, pools: [{ kind: "memory", memory } as const] } };
  };

  it("computes with memory of the client's own, which is copied", async () => {
    const { model } = await prepareRemotely(path);
    const { request, values } = ownRequest();
    expect(await model.execute(request)).toMatchObject({ status: NONE });
    expect(values[2]).toBe(9);
  });

  it("computes with more memories than files may be passed: the others are copied in frames", async () => {
    const { model, passing } = await prepareRemotely(path, { mostFiles: 2 });
    const all = [ownRequest(), ownRequest(), ownRequest(), ownRequest()];
    for (const { request, values } of all) {
      expect(await model.execute(request)).toMatchObject({ status: NONE });
      expect(values[2]).toBe(9);
    }
    const refused = all.map(({ memory }) => "refused" in (passing?.pass(memory) ?? {}));
    expect(refused).toEqual([false, false, true, true]);
    expect(passing?.pass(ownRequest().memory)).toMatchObject({
      refused: "passing a memory of 12 bytes: this side has passed 2 files, which is the limit",
    });
  });

  it("serves bursts through shared queues, which end with its process", async () => {
    const { model } = await prepareRemotely(path);
    const configure = model.configureExecutionBurst;
    if (configure === undefined) throw new Error("no bursts");
    const { burst, message } = await createBurst(configure, burstAcrossProcesses());
    if (burst === null) throw new Error(message);
    const adders = [adderRequest(), adderRequest()];
    for (let count = 0; count < 20; count++) {
      const { request, values, memory } = adders[count % 2] ?? adderRequest();
      values.set([count, 1, Number.NaN]);
      expect(await burst.compute(request)).toMatchObject({ status: NONE });
      expect(values[2]).toBe(count + 1);
      if (count % 3 === 0) await burst.freeMemory(memory);
    }
    await peer.kill();
    const after = await model.execute(adderRequest().request);
    expect(after).toMatchObject({ status: DEVICE_UNAVAILABLE });
    expect(await burst.compute(adderRequest().request)).toMatchObject({ fallback: true });
    await burst.close();
  });
});
