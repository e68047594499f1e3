import { join } from "node:path";
import {
  type BurstContext,
  type BurstController,
  configureExecutionBurst,
  createBurst,
} from "@nnhal/driver-core/burst";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { ErrorStatus, type IBurstCallback } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  adderRequest,
  type ConfigureMessage,
  clientContext,
  memoriesOf,
  passingOver,
  unwrap,
} from "./burst.test-helper.ts";
import { burstAcrossProcesses } from "./burst-options.ts";
import { type DescriptorServer, serveDescriptors } from "./descriptor-socket.ts";
import { blockingFutexSignal } from "./futex-signal.ts";
import { linux } from "./linux.ts";
import type { MemoryPassing } from "./passing.ts";
import { type Peer, privateFolder, startPeer } from "./start-peer.test-helper.ts";

const { NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE } = ErrorStatus;
const isHere = !("missing" in linux());
const folder = privateFolder();
const path = join(folder.path, "service");
let server: DescriptorServer;

beforeAll(async () => {
  if (!isHere) return;
  server = unwrap(await serveDescriptors(path));
});
afterAll(() => {
  folder.remove();
  if (isHere) server.close();
});

/** Connects the passing of memories with another process. */
async function passingTo(peer: Peer): Promise<MemoryPassing> {
  const secret = await peer.ask("connect", path);
  if (!(secret instanceof Uint8Array)) throw new Error("no secret");
  return passingOver(unwrap(await server.accept(secret, undefined)).fd);
}

/** Another process that serves bursts of an adder. */
async function startService() {
  let client: ReturnType<typeof clientContext> | undefined;
  const peer = startPeer("./burst.test-process.ts", [], {
    getMemories: (slots: readonly number[]) => client?.getMemories(slots),
  });
  const passing = await passingTo(peer);
  return {
    peer,
    async burst(service: Partial<ConfigureMessage>, options = {}): Promise<BurstController> {
      client = clientContext(() => passing, peer.ask, service, peer.ended);
      const { burst, message } = await createBurst(client.configure, {
        ...burstAcrossProcesses(),
        pollingWindow: service.pollingWindow,
        ...options,
      });
      if (burst === null) throw new Error(message);
      return burst;
    },
  };
}

describe.runIf(isHere)("a burst whose service is another process", { timeout: 60_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.peer.kill());

  it.each<[string, Partial<ConfigureMessage>, object]>([
    ["sleep", { pollingWindow: 0 }, {}],
    ["poll", { pollingWindow: 50 }, {}],
    ["park and sleep", { pollingWindow: 0, how: "park" }, {}],
    ["block", { pollingWindow: 0, how: "block" }, { signal: blockingFutexSignal() }],
  ])("executes many requests with memories that come and go, if the sides %s", async (_how, configuration, options) => {
    const burst = await service.burst(configuration, options);
    const adders = [adderRequest(), adderRequest(), adderRequest()];
    for (let count = 0; count < 100; count++) {
      const { request, values, memory } = adders[count % 3] ?? adderRequest();
      values.set([count, 1, Number.NaN]);
      expect(await burst.compute(request)).toMatchObject({ status: NONE });
      expect(values[2]).toBe(count + 1);
      if (count % 3 === 1) await burst.freeMemory(memory);
    }
    await burst.close();
  });

  it.each(["sleep", "park", "block"] as const)("answers other calls while its burst is idle (%s)", async (how) => {
    const burst = await service.burst({ pollingWindow: 0, how });
    const { request, values } = adderRequest();
    values.set([1, 2, 0]);
    await burst.compute(request);
    for (let count = 0; count < 5; count++) expect(await service.peer.ask("ping")).toBe("pong");
    await burst.close();
  });

  it("falls back if a memory is not shared", async () => {
    const burst = await service.burst({ pollingWindow: 0 });
    const { request } = adderRequest();
    const pools = [{ kind: "memory", memory: allocateMemory(12) } as const];
    expect(await burst.compute({ ...request, pools })).toMatchObject({
      status: GENERAL_FAILURE,
      fallback: true,
      message: expect.stringContaining("use createSharedMemory"),
    });
    await burst.close();
  });

  it("refuses queues that are not shared", async () => {
    const client = clientContext(() => undefined, service.peer.ask);
    const { burst, status } = await createBurst(client.configure, burstAcrossProcesses());
    expect({ burst, status }).toEqual({ burst: null, status: GENERAL_FAILURE });
    const allocate = () => {
      throw new Error("there is no memory left");
    };
    await expect(service.burst({}, { allocate })).rejects.toThrow("starting a burst: there is no memory left");
  });
});

describe.runIf(isHere)("the death of a process with a burst", { timeout: 60_000 }, () => {
  it.each<[string, Partial<ConfigureMessage>, object]>([
    ["sleeping", { pollingWindow: 0 }, {}],
    ["polling", { pollingWindow: 50 }, {}],
    ["blocking", { pollingWindow: 0 }, { signal: blockingFutexSignal() }],
  ])(
    "ends the request under way of a client that is %s, and later ones fall back",
    async (_how, configuration, options) => {
      const service = await startService();
      const burst = await service.burst({ ...configuration, how: "stall" }, options);
      const { request } = adderRequest();
      const underWay = burst.compute(request);
      // The service has taken the request when it answers the question for memories and this one.
      await service.peer.ask("ping");
      await service.peer.kill();
      expect(await underWay).toMatchObject({ status: DEVICE_UNAVAILABLE, fallback: false });
      expect(await burst.compute(request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
      await burst.close();
    },
  );

  it("ends the service's side when the connection of a client that was killed ends", async () => {
    const { context, peer, result } = await serveClient();
    expect(result).toEqual({ status: NONE, sum: 3 });
    await peer.kill();
    // A connection does this when its socket is closed.
    await context.close();
    await context.ended;
  });
});

/** Serves a burst of another process, which executes once. */
async function serveClient() {
  let context: BurstContext | undefined;
  let passing: MemoryPassing | undefined;
  const model = {
    async execute(request: Parameters<Parameters<typeof configureExecutionBurst>[0]["execute"]>[0]) {
      const pool = request.pools[0];
      if (pool?.kind !== "memory" || pool.memory.handle?.kind !== "buffer") throw new Error("no memory");
      const { buffer, byteOffset } = pool.memory.handle;
      const values = new Float32Array(buffer, byteOffset, 3);
      values[2] = (values[0] ?? 0) + (values[1] ?? 0);
      const timing = { timeOnDevice: 0n, timeInDriver: 0n };
      return { status: NONE, outputShapes: [{ dimensions: [1], isSufficient: true }], timing };
    },
  };
  const peer: Peer = startPeer("./burst.test-process.ts", [], {
    configure({ requests, results }: ConfigureMessage) {
      const receive = (reference: Uint8Array) => unwrap(passing?.receive(reference) ?? { refused: "not connected" });
      const callback: IBurstCallback = { getMemories: (slots) => memoriesOf(passing, peer.ask, slots) };
      const served = configureExecutionBurst(
        model,
        callback,
        { datum: "FmqRequestDatum", memory: receive(requests.reference), capacity: requests.capacity },
        { datum: "FmqResultDatum", memory: receive(results.reference), capacity: results.capacity },
        { pollingWindow: 0 },
      );
      context = served.context ?? undefined;
      return { status: served.status, message: served.message };
    },
  });
  passing = await passingTo(peer);
  const result = await peer.ask("start");
  if (context === undefined) throw new Error("no burst");
  return { context, peer, result };
}
