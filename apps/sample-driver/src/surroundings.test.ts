/** Faults in the surroundings of a daemon and its clients: full disks, clocks that jump, tokens of other clients. */

import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryOf } from "@nnhal/driver-core/memory";
import { connectService, type ServiceDevice } from "@nnhal/service";
import { type CompilationCache, ErrorStatus } from "@nnhal/types";
import { steadyClock } from "@nnhal/utils/time";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { added, addModel, addOnce, addRequest, prepare, slowModel, slowRequest } from "./models.test-helper.ts";
import { cleanUp, newFolder, type StartedDaemon, startDaemonProcess } from "./process.test-helper.ts";
import { openGreeted, pingOnce } from "./raw-client.test-helper.ts";

afterAll(cleanUp);

async function connect({ directory }: StartedDaemon, name = "nnapi-sample_all"): Promise<ServiceDevice> {
  const device = await connectService(name, { directory });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** Milliseconds that the main thread of a daemon has computed; 0 if the system does not say. */
function mainThreadTime({ child: { pid } }: StartedDaemon): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}

describe("a full disk", () => {
  it("keeps nothing in caches, and preparations succeed", async () => {
    const name = "nnhal-reference";
    // Writes to files fail beyond 0 bytes, as they do on a full disk.
    const daemon = await startDaemonProcess(["--devices", name], { limit: "-f 0" });
    const device = await connect(daemon, name);
    const { numModelCache, numDataCache } = device.getNumberOfCacheFilesNeeded();
    const folder = newFolder();
    const opened: number[] = [];
    const files = (kind: string, count: number, path = folder) =>
      Array.from({ length: count }, (_, index) => {
        const fd = openSync(path === folder ? join(folder, `${kind}${index}`) : path, "a+");
        opened.push(fd);
        return { fds: [fd] };
      });
    const cacheOf = (path?: string): CompilationCache => ({
      modelCache: files("model", numModelCache, path),
      dataCache: files("data", numDataCache, path),
      token: new Uint8Array(32).fill(1),
    });
    for (const path of [folder, ...(process.platform === "linux" ? ["/dev/full"] : [])]) {
      const { preparedModel, status, message } = await device.prepareModel(addModel, { cache: cacheOf(path) });
      expect([status, message]).toEqual([ErrorStatus.NONE, undefined]);
      if (preparedModel !== null) expect(await addOnce(preparedModel)).toEqual(added);
      const kept = await device.prepareModelFromCache?.(cacheOf(path));
      expect(kept).toMatchObject({ preparedModel: null, message: expect.any(String) });
    }
    for (const fd of opened) closeSync(fd);
    device.close();
  });
});

describe("a clock that jumps", () => {
  it("changes no deadline", async () => {
    // Each look at the clock of the day is a year away from the one before.
    const hook = join(newFolder(), "jumping-clock.cjs");
    writeFileSync(
      hook,
      `const year = 365 * 24 * 3600 * 1000;
      const real = Date.now;
      let looks = 0;
      Date.now = () => real() + (++looks % 2 === 0 ? year : -year);`,
    );
    const daemon = await startDaemonProcess([], {
      env: { NODE_OPTIONS: `--require ${hook}` },
    });
    const device = await connect(daemon);
    const model = await prepare(device);
    const request = () => addRequest(memoryOf(new Uint8Array(24)));
    const at = async (deadline: bigint) => (await model.execute(request(), { deadline })).status;
    const soon = steadyClock() + 60_000_000_000n;
    expect(await at(soon)).toBe(ErrorStatus.NONE);
    expect([ErrorStatus.MISSED_DEADLINE_TRANSIENT, ErrorStatus.MISSED_DEADLINE_PERSISTENT]).toContain(
      await at(steadyClock() - 1n),
    );
    expect(await addOnce(model)).toEqual(added);
    device.close();
  });
});

describe("a daemon", () => {
  let daemon: StartedDaemon;
  beforeAll(async () => {
    daemon = await startDaemonProcess();
  });

  it("answers pings within 20 ms while a model runs", async () => {
    const device = await connect(daemon);
    const model = await prepare(device, slowModel);
    // It occupies the thread of its device, so that everything before its end has not waited for it.
    let isOver = false;
    const running = model.execute(slowRequest()).then((result) => {
      isOver = true;
      return result;
    });
    const client = await openGreeted(daemon.directory);
    const times: number[] = [];
    for (;;) {
      const before = mainThreadTime(daemon);
      const isAnswered = await pingOnce(client);
      if (isOver || !isAnswered) break;
      times.push(mainThreadTime(daemon) - before);
    }
    expect((await running).status).toBe(ErrorStatus.NONE);
    expect(times.length).toBeGreaterThan(2);
    // Waiting for a processor is excluded: that is the machine's. The thread's own work delays a ping, and is far below 20 ms.
    expect(Math.max(...times)).toBeLessThan(20);
    client.socket.destroy();
    device.close();
  });

  it("keeps the tokens, models and buffers of a client from others", async () => {
    const role = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
    const [one, other] = [await connect(daemon), await connect(daemon)];
    const [model, otherModel] = [await prepare(one), await prepare(other)];
    const mine = await one.allocate?.({ dimensions: [] }, [model], role, []);
    expect(mine).toMatchObject({ status: ErrorStatus.NONE });
    await mine?.buffer?.copyFrom(memoryOf(new Uint8Array(Float32Array.of(5, 6).buffer)), []);
    const { inputs, outputs, pools } = addRequest(memoryOf(new Uint8Array(24)));
    const [first, second] = inputs;
    if (first === undefined || second === undefined) throw new Error("expected two inputs");
    const inBuffer = { ...first, location: { poolIndex: 1, offset: 0, length: 0 } };
    const token = { kind: "token", token: mine?.token ?? 0 } as const;
    const request = { inputs: [inBuffer, second], outputs, pools: [...pools, token] };
    expect((await model.execute(request)).status).toBe(ErrorStatus.NONE);
    expect(await otherModel.execute(request)).toMatchObject({ status: ErrorStatus.INVALID_ARGUMENT });
    // The same holds if the other client has different buffers, with other tokens.
    const theirs = await other.allocate?.({ dimensions: [] }, [otherModel], role, []);
    expect(theirs).toMatchObject({ status: ErrorStatus.NONE });
    if (theirs?.token !== mine?.token) expect((await otherModel.execute(request)).status).not.toBe(ErrorStatus.NONE);
    expect(await other.allocate?.({ dimensions: [] }, [model], role, [])).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      buffer: null,
    });
    one.close();
    // A client's objects end with it, and none of the other's.
    expect(await addOnce(otherModel)).toEqual(added);
    other.close();
  });
});
