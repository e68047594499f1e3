import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, connect as netConnect, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { mapPool } from "@nnhal/driver-core/memory";
import type { Memory } from "@nnhal/types";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { whyCopied } from "./adopt.ts";
import { descriptorChannel, mostUntaken } from "./descriptor-channel.ts";
import {
  connectDescriptors,
  type DescriptorServer,
  type DescriptorSocket,
  serveDescriptors,
} from "./descriptor-socket.ts";
import { descriptorWay, folderWay } from "./file-way.ts";
import { linux } from "./linux.ts";
import { createPassing, type MemoryPassing, type PassingOptions } from "./passing.ts";
import type { NoMemory } from "./shared-memory.ts";
import { openFiles, type Peer, privateFolder, startPeer } from "./start-peer.test-helper.ts";

const length = 1 << 16;
const [MFD_CLOEXEC, MFD_ALLOW_SEALING] = [1, 2];
/** True if the system calls of Linux are available. The other form is tested by form.test.ts. */
const isHere = !("missing" in linux());
const folder = privateFolder();
const path = join(folder.path, "service");
let client: Peer;
let server: DescriptorServer;
let mains: Server;
/** The main connection of the client. The test's messages replace its traffic. */
let main: Socket;

beforeAll(async () => {
  if (!isHere) return;
  const served = await serveDescriptors(path);
  if ("noSocket" in served) throw new Error(served.noSocket);
  server = served;
  // Both ends of the main connection are in this process, so it stands for none but this one.
  mains = createServer(() => {}).listen(path);
  await new Promise((resolve) => mains.once("listening", resolve));
  main = netConnect(path);
  await new Promise((resolve) => main.once("connect", resolve));
});
afterAll(() => {
  folder.remove();
  if (!isHere) return;
  main.destroy();
  server.close();
  mains.close();
});

function bytesOf(memory: Memory | NoMemory): Uint8Array {
  if ("refused" in memory) throw new Error(memory.refused);
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  return mapping.bytes;
}

/** A reference as messages bring it. */
async function reference(what: string, argument?: unknown): Promise<Uint8Array> {
  const bytes = await client.ask(what, argument);
  if (bytes instanceof Uint8Array) return bytes;
  throw new Error(`${what} returned ${bytes}`);
}

describe.runIf(isHere)(
  "a service that a client of another process passes memories to by descriptors",
  { timeout: 60_000 },
  () => {
    let accepted: DescriptorSocket;
    let passing: MemoryPassing;
    let filesBefore = 0;

    beforeAll(() => {
      client = startPeer("./client.test-process.ts", ["--expose-gc"]);
    });
    afterAll(() => client.kill());

    const open = async (options: PassingOptions = {}) => {
      const secret = await reference("connect", path);
      // The main connection is not the client's own here, so the check of its process is left out.
      const found = await server.accept(secret, undefined);
      if ("noSocket" in found) throw new Error(found.noSocket);
      accepted = found;
      const way = descriptorWay(accepted.fd);
      if ("notPassed" in way) throw new Error(way.notPassed);
      passing = createPassing(way, options);
      filesBefore = openFiles();
    };
    beforeEach(() => open());
    afterEach(async () => {
      passing.close();
      await client.ask("closeSocket");
      accepted.close();
    });
    const start = () => client.ask("startDescriptors");

    it("sees the same bytes, in both directions, and keeps no descriptor", async () => {
      await start();
      const bytes = bytesOf(passing.receive(await reference("passShared", length)));
      expect(bytes.length).toBe(length);
      expect([...bytes.subarray(250, 260)]).toEqual([250, 251, 252, 253, 254, 255, 0, 1, 2, 3]);
      bytes.fill(7);
      expect(new Set(await client.ask("read").then((all) => (Array.isArray(all) ? all : [])))).toEqual(new Set([7]));
      expect(openFiles()).toBe(filesBefore);
    });

    it("knows a memory that is passed again", async () => {
      await start();
      const first = passing.receive(await reference("passShared", 4096));
      expect(passing.receive(await reference("passAgain"))).toBe(first);
      expect(passing.receivedBytes).toBe(4096);
    });

    it("is told when a memory is gone, and releases it", async () => {
      await start();
      passing.receive(await reference("passShared", 4096));
      const gone = await client.ask("forget");
      expect(gone).toEqual([1]);
      passing.release(1);
      passing.release(1);
      expect(passing.receivedBytes).toBe(0);
    });

    it("gets copies of bytes that only the client has, and of results", async () => {
      await start();
      const bytes = bytesOf(passing.receive(await reference("passOwn", [1, 2, 3])));
      expect([...bytes]).toEqual([1, 2, 3]);
      bytes[2] = 30;
      expect(await client.ask("read")).toEqual([1, 2, 30]);
      // A part of a buffer: the rest of it is not copied.
      const part = bytesOf(passing.receive(await reference("passPart", [4, 5])));
      expect([...part]).toEqual([4, 5]);
      expect(new Uint8Array(part.buffer)[0]).toBe(0);
      part[1] = 50;
      expect(await client.ask("read")).toEqual([4, 50]);
    });

    it("seals a file that is not sealed: the client cannot make it shorter", async () => {
      const flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
      const memory = passing.receive(await reference("offerMemoryFile", { length, flags, says: length }));
      expect(await client.ask("truncate", 0)).toBe("EPERM");
      expect(bytesOf(memory).every((byte) => byte === 0)).toBe(true);
    });

    it.each([
      [4096, "one byte more than the file has", { length: 4095, flags: 3, says: 4096 }],
      [4096, "a file without a length", { length: 0, flags: 3, says: 4096 }],
    ])("refuses %i bytes that are %s", async (_size, _why, argument) => {
      expect(passing.receive(await reference("offerMemoryFile", argument))).toMatchObject({
        refused: expect.stringContaining(`reaches beyond the file's ${argument.length} bytes`),
      });
      expect(openFiles()).toBe(filesBefore);
    });

    it("uses a file by copies if it cannot be sealed, and survives its truncation", async () => {
      const memory = passing.receive(await reference("offerMemoryFile", { length, flags: MFD_CLOEXEC, says: length }));
      if ("refused" in memory) throw new Error(memory.refused);
      expect(whyCopied(memory)).toBe("it is not sealed against getting shorter");
      const mapping = mapPool(memory);
      if ("unmappable" in mapping) throw new Error(mapping.unmappable);
      mapping.load?.(0, length);
      expect(await client.ask("truncate", 4096)).toBe("done");
      mapping.load?.(0, 4096);
      expect(() => mapping.load?.(0, 4097)).toThrow("ends 1 bytes early");
      expect(mapping.bytes.every((byte) => byte === 0)).toBe(true);
    });

    it("uses a file of a disk by copies, both ways", async () => {
      const file = join(folder.path, "weights");
      writeFileSync(file, Uint8Array.of(1, 2, 3, 4));
      const memory = passing.receive(await reference("offerPathAgain", { path: file, length: 4 }));
      const bytes = bytesOf(memory);
      if ("refused" in memory) throw new Error(memory.refused);
      expect([...bytes]).toEqual([1, 2, 3, 4]);
      bytes[3] = 40;
      const mapping = mapPool(memory);
      if (!("unmappable" in mapping)) mapping.store?.(3, 1);
      expect(await client.ask("readPath", file)).toEqual([1, 2, 3, 40]);
      await client.ask("truncatePath", file);
      expect(() => ("unmappable" in mapping ? undefined : mapping.load?.(0, 4))).toThrow("ends 4 bytes early");
    });

    it("takes open files, and none that could keep it waiting", async () => {
      await start();
      const file = join(folder.path, "cache");
      writeFileSync(file, "prepared");
      const id = await client.ask("passFileAt", file);
      const taken = typeof id === "number" ? passing.takeFile?.(id) : undefined;
      if (taken === undefined || "refused" in taken) throw new Error(JSON.stringify(taken));
      expect(readFileSync(taken.fd, "utf8")).toBe("prepared");
      taken.close();
      const other = await client.ask("passFileAt", "/dev/zero");
      expect(typeof other === "number" && passing.takeFile?.(other)).toMatchObject({ refused: expect.any(String) });
      expect(passing.takeFile?.(99)).toMatchObject({ refused: expect.stringContaining("has not been sent") });
      expect(openFiles()).toBe(filesBefore);
    });

    it("shares a file of a disk that the client has mapped", async () => {
      await start();
      const file = join(folder.path, "mapped");
      writeFileSync(file, Uint8Array.of(1, 2, 3, 4));
      const bytes = bytesOf(passing.receive(await reference("passFile", { path: file, size: 4 })));
      expect([...bytes]).toEqual([1, 2, 3, 4]);
    });

    it.each(["/dev/zero", "/", "/proc/self/status"])("refuses %s, which is not a file of a disk", async (offered) => {
      expect(passing.receive(await reference("offerPath", offered))).toMatchObject({ refused: expect.any(String) });
      expect(openFiles()).toBe(filesBefore);
    });

    it("refuses a socket", async () => {
      expect(passing.receive(await reference("offerSocket"))).toMatchObject({ refused: expect.any(String) });
      expect(openFiles()).toBe(filesBefore);
    });

    it("refuses references without a descriptor, or that say something else than the one before", async () => {
      await start();
      const good = await reference("passShared", 4096);
      const with_ = (at: number, value: number) => {
        const bytes = good.slice();
        new DataView(bytes.buffer).setFloat64(at, value, true);
        return bytes;
      };
      const other = good.slice();
      new DataView(other.buffer).setUint32(0, 2, true);
      expect(passing.receive(other)).toMatchObject({ refused: expect.stringContaining("it has not been sent") });
      expect(passing.receive(good)).not.toHaveProperty("refused");
      expect(passing.receive(with_(16, 8192))).toMatchObject({ refused: expect.stringContaining("8192 bytes") });
      expect(passing.receive(with_(32, 4097))).toMatchObject({ refused: expect.stringContaining("4097 bytes at 0") });
      expect(passing.receive(with_(24, 1))).toMatchObject({ refused: expect.stringContaining("4096 bytes at 1") });
      for (const at of [8, 16, 24, 32]) {
        for (const value of [Number.NaN, -1, 0.5, 2 ** 53]) {
          expect(passing.receive(with_(at, value))).toMatchObject({ refused: expect.stringContaining("not valid") });
        }
      }
      expect(passing.receive(new Uint8Array(39))).toMatchObject({ refused: expect.stringContaining("39 bytes") });
      expect(passing.receive(new Uint8Array(40))).toMatchObject({
        refused: "a reference's id is 0, which is not valid",
      });
    });

    it("keeps as many files and bytes as its limits say", async () => {
      passing = createPassing(
        (() => {
          const way = descriptorWay(accepted.fd);
          if ("notPassed" in way) throw new Error(way.notPassed);
          return way;
        })(),
        { mostFiles: 2, mostBytes: 8192 },
      );
      await start();
      expect(passing.receive(await reference("passShared", 4096))).not.toHaveProperty("refused");
      expect(passing.receive(await reference("passShared", 4097))).toMatchObject({
        refused: expect.stringContaining("4096 bytes of the 8192"),
      });
      expect(passing.receive(await reference("passShared", 4096))).not.toHaveProperty("refused");
      expect(passing.receive(await reference("passShared", 1))).toMatchObject({
        refused: expect.stringContaining("2 files"),
      });
      passing.release(1);
      expect(passing.receive(await reference("passAgain"))).not.toHaveProperty("refused");
    });

    it("closes the descriptors of a client that floods it", async () => {
      const channel = descriptorChannel(accepted.fd);
      if ("notPassed" in channel) throw new Error(channel.notPassed);
      const sent = await client.ask("flood", 2000);
      // The socket itself bounds what waits in it.
      expect(sent).toBeLessThan(2000);
      // A reference for one that never comes makes the service receive all.
      for (let round = 0; round < 4; round++) {
        channel.take(1_000_000);
        if ("notPassed" in Object(channel.take(1))) break;
        await client.ask("flood", 2000);
      }
      expect(channel.take(1)).toEqual({ notPassed: `more than ${mostUntaken} descriptors were sent and not used` });
      expect(openFiles()).toBe(filesBefore);
    });

    const head = [0x6e, 0x6e, 0x66, 0x64, 2, 0, 0, 0, 1, 0, 0, 0, ...new Array(20).fill(0)];
    it.each<[string, string, unknown]>([
      ["a message without a descriptor", "sendBytes", { bytes: head, withDescriptor: false }],
      ["a part of a message", "sendBytes", { bytes: head.slice(0, 31), withDescriptor: true }],
      ["another message with a descriptor", "sendBytes", { bytes: [0, ...head.slice(1)], withDescriptor: true }],
      ["three descriptors at once", "sendThree", head],
    ])("ends the channel for %s", async (_what, method, argument) => {
      await client.ask(method, argument);
      const channel = descriptorChannel(accepted.fd);
      if ("notPassed" in channel) throw new Error(channel.notPassed);
      const broken = { notPassed: "the other end has sent something else than one descriptor" };
      expect(channel.take(1)).toEqual(broken);
      expect(channel.send(0)).toEqual(broken);
      expect(openFiles()).toBe(filesBefore);
    });

    it("keeps what it has when the client is killed", async () => {
      await start();
      const memory = passing.receive(await reference("passShared", length));
      await client.kill();
      expect(bytesOf(memory)[255]).toBe(255);
      const channel = descriptorChannel(accepted.fd);
      expect("take" in channel && channel.take(1)).toEqual({ notPassed: "the other end has closed its socket" });
      client = startPeer("./client.test-process.ts", ["--expose-gc"]);
      await client.ask("connect", path);
    });
  },
);

describe.runIf(isHere)("sockets for descriptors", () => {
  it("are for the process of the main connection, and the secret that it says", async () => {
    const own = await connectDescriptors(path);
    if ("noSocket" in own) throw new Error(own.noSocket);
    const wrong = await server.accept(new Uint8Array(16), main, 20);
    expect(wrong).toEqual({ noSocket: "received no socket for descriptors within 20 ms" });
    expect(await server.accept(own.secret.subarray(1), main)).toMatchObject({
      noSocket: expect.stringContaining("15 bytes"),
    });
    const right = await server.accept(own.secret, main);
    expect(right).toHaveProperty("fd");
    expect(await server.accept(own.secret, main, 1)).toHaveProperty("noSocket");
    own.close();
    if ("close" in right) right.close();
  });

  it("are not for another process", async () => {
    const other = startPeer("./client.test-process.ts");
    const secret = await other.ask("connect", path);
    if (!(secret instanceof Uint8Array)) throw new Error("no secret");
    expect(await server.accept(secret, main)).toEqual({
      noSocket: "the socket for descriptors is not of the process that asks for it",
    });
    await other.kill();
  });

  it("say that there is no service", async () => {
    expect(await connectDescriptors(join(folder.path, "nothing"))).toMatchObject({
      noSocket: expect.stringContaining("ENOENT"),
    });
  });
});

describe.runIf(isHere)("a service that memories are passed to by files", { timeout: 60_000 }, () => {
  const files = join(folder.path, "files");
  let passing: MemoryPassing;

  beforeAll(async () => {
    mkdirSync(files, { mode: 0o700 });
    client = startPeer("./client.test-process.ts", ["--expose-gc"]);
    await client.ask("startFiles", files);
  });
  afterAll(() => client.kill());
  beforeEach(() => {
    passing = createPassing(folderWay({ folder: files }));
  });
  afterEach(() => passing.close());

  it("copies bytes both ways, and leaves no file", async () => {
    const memory = passing.receive(await reference("passOwn", [1, 2, 3]));
    const mapping = "refused" in memory ? memory : mapPool(memory);
    if (!("bytes" in mapping)) throw new Error(JSON.stringify(mapping));
    expect([...mapping.bytes]).toEqual([1, 2, 3]);
    expect(readdirSync(files)).toEqual([]);
    mapping.bytes[0] = 10;
    mapping.store?.(0, 3);
    expect(await client.ask("read")).toEqual([10, 2, 3]);
    expect(passing.way).toBe("files");
  });

  it.each<[string, object, string]>([
    ["a link", { file: "link", mode: 0o600, link: true }, "ELOOP"],
    ["a file that others may read", { file: "open", mode: 0o644, link: false }, "its mode is 644"],
  ])("refuses %s", async (_what, argument, why) => {
    const before = openFiles();
    expect(passing.receive(await reference("offerNamed", { folder: files, ...argument }))).toMatchObject({
      refused: expect.stringContaining(why),
    });
    expect(openFiles()).toBe(before);
  });

  it("refuses a file of another user", async () => {
    const owned = createPassing(folderWay({ folder: files, owner: 12_345 }));
    expect(
      owned.receive(await reference("offerNamed", { folder: files, file: "mine", mode: 0o600, link: false })),
    ).toMatchObject({
      refused: expect.stringContaining("not 12345"),
    });
  });

  it.each(["../weights", "", "/etc/passwd"])("refuses the name %s", (file) => {
    const named = Uint8Array.from([...new Uint8Array(40), ...new TextEncoder().encode(file)]);
    const view = new DataView(named.buffer);
    view.setUint32(0, 1, true);
    view.setUint32(4, 3, true);
    view.setFloat64(16, 4, true);
    view.setFloat64(32, 4, true);
    expect(passing.receive(named)).toMatchObject({
      refused: expect.stringContaining(file === "" ? "no file is named" : "a reference's file is"),
    });
  });
});
