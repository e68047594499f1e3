import { mkdirSync, readdirSync } from "node:fs";
import { createServer, connect as netConnect } from "node:net";
import { join } from "node:path";
import { mapPool } from "@nnhal/driver-core/memory";
import { koffiHider } from "@nnhal/test-kit/without-koffi";
import { afterAll, describe, expect, it } from "vitest";
import { adoptMemory } from "./adopt.ts";
import { folderWay } from "./file-way.ts";
import { sharedMemoryForm } from "./form.ts";
import { linux, load } from "./linux.ts";
import { createPassing } from "./passing.ts";
import { peerCredentials } from "./peer-credentials.ts";
import { createSharedMemory, greatestSize } from "./shared-memory.ts";
import { privateFolder, startPeer } from "./start-peer.test-helper.ts";

const isHere = !("missing" in linux());
const folder = privateFolder();
afterAll(() => folder.remove());

describe("a process without koffi", { timeout: 60_000 }, () => {
  it("says so, and passes memories by files", async () => {
    const peer = startPeer("./client.test-process.ts", ["--require", koffiHider(folder.path)]);
    const missing = isHere ? "the package koffi is not installed" : "it is not done by system calls on";
    expect(await peer.ask("form")).toMatchObject({
      form: "copied",
      why: expect.stringMatching(`^memory is copied through private files: (?!shared memory).*${missing}`),
      ...(isHere && { remedy: "npm install koffi" }),
    });
    const why = expect.stringContaining(missing);
    expect(await peer.ask("reasons")).toEqual([
      { refused: why },
      { notPassed: why },
      { noSocket: why },
      { noSocket: why },
      { unknown: why },
    ]);
    const files = join(folder.path, "files");
    mkdirSync(files, { mode: 0o700 });
    await peer.ask("startFiles", files);
    const passing = createPassing(folderWay({ folder: files }));
    const reference = await peer.ask("passOwn", [1, 2, 3]);
    const memory = reference instanceof Uint8Array ? passing.receive(reference) : { refused: "no reference" };
    const mapping = "refused" in memory ? memory : mapPool(memory);
    if (!("bytes" in mapping)) throw new Error(JSON.stringify(mapping));
    expect([...mapping.bytes]).toEqual([1, 2, 3]);
    mapping.bytes[1] = 20;
    mapping.store?.(1, 1);
    expect(await peer.ask("read")).toEqual([1, 20, 3]);
    expect(readdirSync(files)).toEqual([]);
    await peer.kill();
  });
});

it.each([
  ["darwin", "arm64"],
  ["win32", "x64"],
  ["linux", "arm"],
] as const)("system calls are not used on %s %s", (platform, arch) => {
  expect(load({ platform, arch })).toEqual({ missing: `it is not done by system calls on ${platform} ${arch}` });
});

describe("the size of shared memory", () => {
  it.each([0, -1, 0.5, Number.NaN, greatestSize + 1])("is not %s", (size) => {
    expect(() => createSharedMemory(size)).toThrow(RangeError);
  });

  it.each([0, -1, 0.5, Number.NaN, greatestSize + 1])("is not claimed to be %s", (size) => {
    expect(adoptMemory(-1, size)).toMatchObject({ refused: expect.any(String) });
  });
});

describe.runIf(isHere)("shared memory", () => {
  it("has as many bytes as are asked for, all zero", () => {
    for (const size of [1, 4096, 100_001]) {
      const memory = createSharedMemory(size);
      if ("refused" in memory) throw new Error(memory.refused);
      const mapping = mapPool(memory);
      if ("unmappable" in mapping) throw new Error(mapping.unmappable);
      expect(mapping.bytes.length).toBe(size);
      expect(mapping.bytes.every((byte) => byte === 0)).toBe(true);
      memory.close();
    }
  });

  it("takes the greatest size, of which only used pages are memory", () => {
    const memory = createSharedMemory(greatestSize);
    if ("refused" in memory) throw new Error(memory.refused);
    const mapping = mapPool(memory);
    if ("unmappable" in mapping) throw new Error(mapping.unmappable);
    mapping.bytes[greatestSize - 1] = 1;
    expect(mapping.bytes.length).toBe(greatestSize);
    memory.close();
  });

  it("closes its descriptor once, and keeps its bytes", () => {
    const memory = createSharedMemory(16);
    if ("refused" in memory) throw new Error(memory.refused);
    memory.close();
    const after = readdirSync("/proc/self/fd").length;
    memory.close();
    expect(readdirSync("/proc/self/fd").length).toBe(after);
    // Another file soon has the number.
    expect(memory.handle.fd).toBe(-1);
    const mapping = mapPool(memory);
    expect("bytes" in mapping && mapping.bytes.length).toBe(16);
  });

  it("is the form of this machine", () => {
    expect(sharedMemoryForm()).toEqual({ form: "mapped", why: expect.stringContaining("memfd") });
  });
});

describe.runIf(isHere)("the process at the other end of a socket", () => {
  it("is known for a unix socket, and not for another", async () => {
    const path = join(folder.path, "peer");
    const unix = createServer().listen(path);
    const first = netConnect(path);
    await new Promise((resolve) => first.once("connect", resolve));
    expect(peerCredentials(first)).toEqual({ pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() });
    first.destroy();
    expect(peerCredentials(first)).toEqual({ unknown: "the socket is not connected" });
    unix.close();
    const tcp = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => tcp.once("listening", resolve));
    const address = tcp.address();
    const second = netConnect(typeof address === "object" ? (address?.port ?? 0) : 0, "127.0.0.1");
    await new Promise((resolve) => second.once("connect", resolve));
    expect(peerCredentials(second)).toMatchObject({ unknown: expect.any(String) });
    second.destroy();
    tcp.close();
  });
});

describe.runIf(isHere)("memory that is not used any more", { timeout: 60_000 }, () => {
  it("leaves neither descriptors nor mappings", async () => {
    const peer = startPeer("./leaks.test-process.ts", ["--expose-gc"]);
    const after = await peer.ask("makeMany", 200);
    expect(after).toEqual({ descriptors: 0, mappings: 0 });
    await peer.kill();
  });
});
