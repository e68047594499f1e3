/** A client that passes memories, honestly or not. */
import { closeSync, ftruncateSync, openSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { allocateMemory, mapPool, memoryOf, systemLibrary } from "@nnhal/driver-core/memory";
import type { Memory } from "@nnhal/types";
import { descriptorChannel } from "./descriptor-channel.ts";
import { type ClientSocket, connectDescriptors, serveDescriptors } from "./descriptor-socket.ts";
import { descriptorWay, folderWay } from "./file-way.ts";
import { sharedMemoryForm } from "./form.ts";
import { linux } from "./linux.ts";
import { encodeReference } from "./memory-reference.ts";
import { createPassing, type MemoryPassing, type PassedMemory } from "./passing.ts";
import { peerCredentials } from "./peer-credentials.ts";
import { createSharedMemory } from "./shared-memory.ts";
import { answer } from "./start-peer.test-helper.ts";

let socket: ClientSocket | undefined;
let passing: MemoryPassing | undefined;
let memory: Memory | undefined;
let passed: PassedMemory | undefined;
let raw = -1;
const unused: number[] = [];

function connectClient(): ClientSocket {
  if (socket === undefined) throw new Error("not connected");
  return socket;
}

function bytesOf(one: Memory | undefined): Uint8Array {
  const mapping = one === undefined ? { unmappable: "none" } : mapPool(one);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  return mapping.bytes;
}

function calls() {
  const system = linux();
  if ("missing" in system) throw new Error(system.missing);
  return system;
}

/** Sends the descriptor `raw` with a reference that need not be true. */
function offer(length: number, protection: number): Uint8Array {
  const way = descriptorWay(connectClient().fd);
  if ("notPassed" in way) throw new Error(way.notPassed);
  const sent = way.send(raw);
  if ("refused" in sent) throw new Error(sent.refused);
  return encodeReference({ ...sent, start: 0, length, protection, offset: 0, size: length });
}

function memoryFile(flags: number): number {
  const library = systemLibrary();
  if ("missing" in library) throw new Error(library.missing);
  return Number(library.func("int memfd_create(const char *name, unsigned int flags)")("test", flags));
}

function passMemory(one: Memory) {
  memory = one;
  if (passing === undefined) throw new Error("not connected");
  const result = passing.pass(one);
  if ("refused" in result) throw new Error(result.refused);
  passed = result;
  result.store?.(0, one.size);
  return result.reference;
}

answer({
  async connect(path: string) {
    const found = await connectDescriptors(path);
    if ("noSocket" in found) throw new Error(found.noSocket);
    socket = found;
    return found.secret;
  },
  startDescriptors() {
    const way = descriptorWay(connectClient().fd);
    if ("notPassed" in way) throw new Error(way.notPassed);
    passing = createPassing(way, { onUnused: (id) => unused.push(id) });
  },
  startFiles(folder: string) {
    passing = createPassing(folderWay({ folder }), { onUnused: (id) => unused.push(id) });
  },
  passShared(size: number) {
    const shared = createSharedMemory(size);
    if ("refused" in shared) throw new Error(shared.refused);
    bytesOf(shared).forEach((_, index, bytes) => {
      bytes[index] = index;
    });
    return passMemory(shared);
  },
  passOwn(values: readonly number[]) {
    const own = allocateMemory(values.length);
    bytesOf(own).set(values);
    return passMemory(own);
  },
  passPart(values: readonly number[]) {
    return passMemory(memoryOf(Uint8Array.of(9, 9, ...values, 9).subarray(2, 2 + values.length)));
  },
  passFile({ path, size }: { path: string; size: number }) {
    const fd = openSync(path, "r+");
    return passMemory({ name: "mmap_fd", size, handle: { kind: "fileDescriptor", fd, protection: 3, offset: 0 } });
  },
  passAgain() {
    if (memory === undefined) throw new Error("no memory");
    return passMemory(memory);
  },
  read() {
    passed?.load?.(0, memory?.size ?? 0);
    return [...bytesOf(memory)];
  },
  async forget() {
    memory = undefined;
    passed = undefined;
    for (let turn = 0; turn < 50 && unused.length === 0; turn++) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return unused.splice(0);
  },
  /** Offers a memory file. `flags`: allow sealing. `says`: the length in the reference. */
  offerMemoryFile({ length, flags, says }: { length: number; flags: number; says: number }) {
    raw = memoryFile(flags);
    ftruncateSync(raw, length);
    return offer(says, 3);
  },
  offerPath(path: string) {
    raw = openSync(path, "r");
    return offer(4096, 1);
  },
  offerPathAgain({ path, length }: { path: string; length: number }) {
    raw = openSync(path, "r+");
    return offer(length, 3);
  },
  passFileAt(path: string) {
    const fd = openSync(path, "r+");
    return passing?.passFile?.(fd);
  },
  offerSocket() {
    raw = connectClient().fd;
    return offer(4096, 1);
  },
  truncate(length: number) {
    try {
      ftruncateSync(raw, length);
      return "done";
    } catch (error) {
      return error instanceof Error && "code" in error ? error.code : error;
    }
  },
  /** Descriptors without references, until the socket has no room. */
  flood(count: number) {
    const channel = descriptorChannel(connectClient().fd);
    if ("notPassed" in channel) throw new Error(channel.notPassed);
    const fd = openSync("/dev/null", "r");
    let sent = 0;
    for (let index = 0; index < count; index++) if (typeof channel.send(fd) === "number") sent++;
    closeSync(fd);
    return sent;
  },
  /** Some bytes, with a descriptor if `fd` says so. */
  sendBytes({ bytes, withDescriptor }: { bytes: readonly number[]; withDescriptor: boolean }) {
    return calls().send(connectClient().fd, Uint8Array.from(bytes), withDescriptor ? 0 : undefined);
  },
  /** Three descriptors in one message. */
  sendThree(bytes: readonly number[]) {
    const { library, allocate } = calls();
    const page = allocate(4096);
    const view = new DataView(library.view(page, 4096));
    bytes.forEach((byte, index) => {
      view.setUint8(512 + index, byte);
    });
    const control = [28n, 1n | (1n << 32n)];
    view.setBigUint64(16, page + 64n, true);
    view.setBigUint64(24, 1n, true);
    view.setBigUint64(32, page + 128n, true);
    view.setBigUint64(40, 28n, true);
    view.setBigUint64(64, page + 512n, true);
    view.setBigUint64(72, BigInt(bytes.length), true);
    control.forEach((word, index) => {
      view.setBigUint64(128 + 8 * index, word, true);
    });
    for (const index of [0, 1, 2]) view.setInt32(144 + 4 * index, 0, true);
    return Number(library.func("long sendmsg(int socket, void *message, int flags)")(connectClient().fd, page, 0));
  },
  /** A file in the folder of the other side, and a reference for it. */
  offerNamed({ folder, file, mode, link }: { folder: string; file: string; mode: number; link: boolean }) {
    const path = join(folder, file);
    writeFileSync(link ? `${path}-target` : path, new Uint8Array(64), { mode });
    if (link) symlinkSync(`${path}-target`, path);
    return encodeReference({ id: 77, file, start: 0, length: 64, protection: 3, offset: 0, size: 64 });
  },
  truncatePath: (path: string) => truncateSync(path, 0),
  readPath: (path: string) => [...readFileSync(path)],
  form: () => sharedMemoryForm(),
  /** Answers of functions that need system calls. */
  async reasons() {
    return [
      createSharedMemory(1),
      descriptorChannel(0),
      await connectDescriptors("/"),
      await serveDescriptors("/"),
      peerCredentials(new Socket()),
    ];
  },
  closeSocket: () => socket?.close(),
});
