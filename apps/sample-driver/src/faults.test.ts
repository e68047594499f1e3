/** Faults, with processes of their own: clients that are killed, send nonsense, do not read or flood; daemons that are killed. */

import type { Socket } from "node:net";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { memoryOf } from "@nnhal/driver-core/memory";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { connectService, type ServiceDevice } from "@nnhal/service";
import { sharedMemoryForm } from "@nnhal/service/shared-memory";
import { ErrorStatus } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { added, addModel, addOnce, addRequest, burstOf, prepare } from "./models.test-helper.ts";
import { cleanUp, type StartedDaemon, startDaemonProcess, startSource } from "./process.test-helper.ts";
import { frame, greeting, openGreeted, openSocket, ping } from "./raw-client.test-helper.ts";

let daemon: StartedDaemon;
beforeAll(async () => {
  daemon = await startDaemonProcess(["--metrics", "0"]);
});
afterAll(cleanUp);

async function connect(directory = daemon.directory): Promise<ServiceDevice> {
  // On a busy machine the daemon waits for a processor longer than a client usually waits for it.
  const device = await connectService("nnapi-sample_all", { directory, limit: 60_000 });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** The gauges of what clients have: all 0 without clients. */
async function gauges(): Promise<number[]> {
  const url = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(daemon.output.stderr)?.[0];
  const text = await (await fetch(String(url))).text();
  return ["clients", "prepared_models", "buffers", "mapped_bytes"].map((name) =>
    Number(new RegExp(`^nnhal_${name}\\{.*\\} (\\d+)$`, "m").exec(text)?.[1]),
  );
}

const nothing = [0, 0, 0, 0];

/** Without shared memory there are no bursts between processes. */
const isShared = sharedMemoryForm().form === "mapped";
/** NNHAL_FAULTS=all sends 100,000; NNHAL_FUZZ_FRAMES any number. */
const randomFrames = Number(process.env.NNHAL_FUZZ_FRAMES ?? (process.env.NNHAL_FAULTS === "all" ? 100_000 : 2000));

/** Another client gets right answers, and what all others had is freed. */
async function expectWhole(): Promise<void> {
  const device = await connect();
  expect(await addOnce(await prepare(device))).toEqual(added);
  device.close();
  await expect.poll(gauges, { timeout: 10_000 }).toEqual(nothing);
}

describe("a client that is killed", () => {
  it.each(["prepare", "execute", "copy", ...(isShared ? ["burst"] : [])])(
    "in %s leaves nothing behind",
    async (phase) => {
      const client = startSource("client.test-process.ts", [daemon.directory, phase]);
      await client.says(`in ${phase}`);
      expect((await gauges())[0]).toBe(1);
      client.child.kill("SIGKILL");
      await client.ended;
      await expectWhole();
    },
  );
});

describe("a client that floods", () => {
  it("does not starve another: each of ten executions waits for its turn, not for the flood", async () => {
    const flood = startSource("client.test-process.ts", [daemon.directory, "flood"]);
    await flood.says("in flood");
    const device = await connect();
    const model = await prepare(device);
    try {
      const before = await executions();
      for (let turn = 0; turn < 10; turn++) expect(await addOnce(model)).toEqual(added);
      // The flood has a hundred calls under way at any time. If they came first, there would be a thousand before these ten. Each takes
      // milliseconds, so that few end while this process waits for the processor.
      expect((await executions()) - before).toBeLessThan(500);
    } finally {
      device.close();
      flood.child.kill("SIGKILL");
      await flood.ended;
    }
    await expectWhole();
  });
});

async function executions(): Promise<number> {
  const url = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(daemon.output.stderr)?.[0];
  const text = await (await fetch(String(url))).text();
  return Number(/^nnhal_executions_total\{.*\} (\d+)$/m.exec(text)?.[1]);
}

describe("a client that sends nonsense", () => {
  it("before its greeting is refused", async () => {
    const { socket, closed } = await openSocket(daemon.directory);
    socket.write(frame(Uint8Array.of(1, 2, 3)));
    socket.resume();
    await closed;
    await expectWhole();
  });

  it.each([
    ["half a header", Uint8Array.of(9)],
    ["half a frame", frame(new Uint8Array(10), 100)],
    ["a frame over the limit", frame(new Uint8Array(0), 0xffff_ffff)],
    ["a frame of an unknown kind", frame(Uint8Array.of(99, 1, 2))],
    ["an empty frame", frame(new Uint8Array(0))],
  ])("and ends in the middle: %s", async (_, bytes) => {
    const { socket, closed } = await openGreeted(daemon.directory);
    socket.write(bytes);
    socket.end();
    socket.resume();
    await closed;
    await expectWhole();
  });

  const fuzzLimit = 20_000 + randomFrames;
  it("in thousands of random frames is refused or cut off, and harms no other", { timeout: fuzzLimit }, async () => {
    const victim = await connect();
    const model = await prepare(victim);
    let seed = 12_345;
    const random = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return seed / 2 ** 32;
    };
    for (let round = 0; round < randomFrames / 100; round++) {
      const { socket, closed } = await openGreeted(daemon.directory);
      socket.resume();
      for (let count = 0; count < 100 && !socket.destroyed; count++) {
        const bytes = Uint8Array.from({ length: 1 + Math.floor(40 * random()) }, () => Math.floor(256 * random()));
        // Kinds and codes of the protocol, so that more than the first byte is read.
        bytes[0] = 2 + Math.floor(4 * random());
        if (bytes.length > 8) bytes.set([Math.floor(90 * random()), 0, 0, 0], 5);
        socket.write(frame(bytes));
      }
      socket.end();
      await closed;
    }
    expect(await addOnce(model)).toEqual(added);
    victim.close();
    await expectWhole();
  });
});

describe("a client that does not read", () => {
  it("stops only itself", async () => {
    const { socket } = await openSocket(daemon.directory);
    socket.pause();
    socket.write(greeting);
    // Pings, whose answers wait: far more than the buffers of a socket hold.
    const many = new Uint8Array(ping.length * 60_000);
    for (let at = 0; at < many.length; at += ping.length) many.set(ping, at);
    for (let part = 0; part < 4; part++) socket.write(many);
    const device = await connect();
    expect(await addOnce(await prepare(device))).toEqual(added);
    device.close();
    socket.destroy();
    await expectWhole();
  });
});

describe("a daemon without descriptors", () => {
  it("serves the clients that it has, and others when there are some again", async () => {
    const { directory } = await startDaemonProcess([], { limit: "-n 90" });
    const device = await connect(directory);
    const model = await prepare(device);
    // It crosses now: another memory needs another descriptor.
    const memory = memoryOf(new Uint8Array(24));
    expect(await addOnce(model, memory)).toEqual(added);
    const sockets: Socket[] = [];
    for (let count = 0; count < 100; count++) sockets.push((await openSocket(directory)).socket);
    expect(await addOnce(model, memory)).toEqual(added);
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(async () => "getStatus" in (await connectService("nnapi-sample_all", { directory })), { timeout: 10_000 })
      .toBe(true);
    expect(await addOnce(model)).toEqual(added);
    device.close();
  });
});

describe.runIf(isShared)("a daemon that is killed in bursts", () => {
  it("ends every request, and the bursts", async () => {
    const killed = await startDaemonProcess();
    const device = await connect(killed.directory);
    const model = await prepare(device);
    const bursts = await Promise.all(Array.from({ length: 4 }, () => burstOf(model, device)));
    const request = addRequest(device.createMemory(24));
    const lanes = bursts.map(async ({ burst }) => {
      for (;;) {
        const result = await burst?.compute(request);
        if (result === undefined || result.fallback || result.status !== ErrorStatus.NONE) return result;
      }
    });
    expect((await bursts[0]?.burst?.compute(request))?.status).toBe(ErrorStatus.NONE);
    killed.child.kill("SIGKILL");
    for (const result of await Promise.all(lanes)) {
      expect(result?.fallback || result?.status === ErrorStatus.DEVICE_UNAVAILABLE).toBe(true);
    }
    for (const { burst } of bursts) await burst?.close();
    expect(await model.execute(request)).toMatchObject({ status: ErrorStatus.DEVICE_UNAVAILABLE });
    device.close();
  });
});

describe("a daemon that is killed under load", () => {
  it("ends every call with DEAD_OBJECT; the runtime falls back to the CPU, and the next daemon is found", async () => {
    const killed = await startDaemonProcess();
    const device = await connect(killed.directory);
    const model = await prepare(device);
    const calls = Array.from({ length: 50 }, () => addOnce(model));
    killed.child.kill("SIGKILL");
    const results = await Promise.all(calls);
    for (const { status, message } of results.filter((one) => one.status !== ErrorStatus.NONE)) {
      expect(status).toBe(ErrorStatus.DEVICE_UNAVAILABLE);
      expect(message).toContain("DEAD_OBJECT");
    }
    expect(await addOnce(model)).toMatchObject({
      status: ErrorStatus.DEVICE_UNAVAILABLE,
      message: expect.stringContaining("DEAD_OBJECT"),
    });
    // Until the process is gone, its socket takes connections.
    await killed.ended;
    expect(await device.prepareModel(addModel)).toMatchObject({
      status: ErrorStatus.DEVICE_UNAVAILABLE,
      message: expect.stringContaining("its daemon has ended without removing the socket"),
    });

    const cpu = await openDevice({ backend: referenceBackend, caching: false, log: silentLogger });
    if ("unavailable" in cpu) throw new Error(cpu.unavailable);
    using compilation = new Compilation(Model.from(addModel), [device], { cpu });
    await compilation.finish();
    const sum = new Float32Array(2);
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(3, 4));
    execution.setOutput(0, sum);
    await execution.compute();
    expect([...sum]).toEqual([4, 6]);
    await cpu.close();

    await startDaemonProcess([], { directory: killed.directory });
    expect(await addOnce(await prepare(device))).toEqual(added);
    expect(await addOnce(model)).toMatchObject({ status: ErrorStatus.DEVICE_UNAVAILABLE });
    device.close();
  });
});
