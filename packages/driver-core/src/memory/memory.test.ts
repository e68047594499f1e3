import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Memory, MemoryHandle } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyFile } from "./file-copy.ts";
import { allocateBlob, allocateHardwareBuffer, HardwareBufferUsage } from "./hardware-buffer.ts";
import type { Mapping, Unmappable } from "./mapping.ts";
import { allocateMemory, mapAnew, mapMemory, mapPool, memoryOf } from "./memory.ts";
import { type FileMapper, nativeMapper, whyNoNativeMapper } from "./native.ts";
import { mmapFdIntegers, mmapFdMemory, Protection } from "./protection.ts";

const { READ, WRITE } = Protection;
let folder = "";
const open: number[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-memory-"));
});
afterAll(() => {
  for (const fd of open) closeSync(fd);
  rmSync(folder, { recursive: true });
});

let files = 0;

/** A file of `length` bytes that count up, and its descriptor. */
function file(length: number, flags = "r+") {
  const path = join(folder, `file-${files++}`);
  writeFileSync(
    path,
    Uint8Array.from({ length }, (_, index) => index),
  );
  const fd = openSync(path, flags);
  open.push(fd);
  return { path, fd };
}

function mappingOf(mapping: Mapping | Unmappable): Mapping {
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  return mapping;
}

function problemOf(mapping: Mapping | Uint8Array | Unmappable): string {
  return "unmappable" in mapping ? mapping.unmappable : "it is mapped";
}

describe("memory of this process", () => {
  it("is shared with its creator and mapped once", () => {
    const bytes = Uint8Array.of(1, 2, 3, 4).subarray(1);
    const memory = memoryOf(bytes);
    const mapping = mappingOf(mapPool(memory));
    expect([...mapping.bytes]).toEqual([2, 3, 4]);
    mapping.bytes[0] = 9;
    expect(bytes[0]).toBe(9);
    expect(mapPool(memory)).toBe(mapping);
  });

  it("is refused if the buffer is shorter than it says", () => {
    const handle = { kind: "buffer", buffer: new ArrayBuffer(8), byteOffset: 1 } as const;
    expect(mappingOf(mapPool({ name: "ashmem", size: 7, handle })).bytes).toHaveLength(7);
    expect(problemOf(mapPool({ name: "ashmem", size: 8, handle }))).toContain("claims 8 bytes at 1 of a buffer of 8");
  });

  it("is mapped again if its buffer went to another thread", () => {
    const memory = memoryOf(new Uint8Array(8));
    mappingOf(mapPool(memory));
    if (memory.handle?.kind === "buffer") structuredClone(0, { transfer: [memory.handle.buffer as ArrayBuffer] });
    expect(problemOf(mapPool(memory))).toContain("of a buffer of 0");
  });

  it.each<[string, Memory]>([
    ["has no handle", { ...allocateMemory(4), handle: null }],
    ["kind ion is not known", { ...allocateMemory(4), name: "ion" }],
    ["memory mmap_fd: expected a file descriptor, got a buffer", { ...allocateMemory(4), name: "mmap_fd" }],
    ["nothing describes its format", { ...allocateMemory(4), name: "hardware_buffer" }],
  ])("is refused: %s", (message, memory) => expect(problemOf(mapPool(memory))).toContain(message));
});

const mappers: [string, () => FileMapper | undefined][] = [
  ["mapped through koffi", nativeMapper],
  ["copied", () => copyFile],
];

describe.each(mappers)("mmap_fd, %s", (_how, mapper) => {
  const map = (memory: Memory) => mapAnew(memory, mapper());

  it("reads from the offset, and writes if the protection allows it", () => {
    const { fd, path } = file(20);
    const { bytes, writable, store } = mappingOf(map(mmapFdMemory(8, fd, [READ | WRITE, 5, 0])));
    expect([...bytes]).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
    expect(writable).toBe(true);
    bytes.set([100, 101], 2);
    store?.(2, 2);
    expect([...readFileSync(path).subarray(5, 13)]).toEqual([5, 6, 100, 101, 9, 10, 11, 12]);
  });

  it("leaves the file alone if it may only be read", () => {
    const { fd, path } = file(8, "r");
    const { bytes, writable, store } = mappingOf(map(mmapFdMemory(8, fd, [READ, 0, 0])));
    expect([writable, store]).toEqual([false, undefined]);
    bytes[0] = 55;
    expect(readFileSync(path)[0]).toBe(0);
  });

  it("reads changes that others write", () => {
    const { fd, path } = file(8);
    const { bytes, load } = mappingOf(map(mmapFdMemory(8, fd, [READ | WRITE, 0, 0])));
    writeFileSync(path, Uint8Array.of(9, 9, 9, 9, 9, 9, 9, 9), { flag: "r+" });
    load?.(4, 2);
    expect([...bytes.subarray(4, 6)]).toEqual([9, 9]);
  });

  it("refuses what is not there: both sides of the file's end", () => {
    const { fd } = file(20);
    expect(mappingOf(map(mmapFdMemory(15, fd, [READ, 5, 0]))).bytes).toHaveLength(15);
    expect(problemOf(map(mmapFdMemory(15, fd, [READ, 6, 0])))).toContain("reaches beyond the file's 20 bytes");
    expect(problemOf(map(mmapFdMemory(1, fd, [READ, 0, 1])))).toContain("at 4294967296 of file descriptor");
  });

  it("refuses a protection that does not read, and a descriptor that is not open", () => {
    const { fd } = file(4);
    expect(problemOf(map(mmapFdMemory(4, fd, [WRITE, 0, 0])))).toContain("it is not readable");
    expect(problemOf(map(mmapFdMemory(4, 9999, [READ, 0, 0])))).toContain("EBADF");
  });

  it("maps nothing from an empty file", () => {
    expect(mappingOf(map(mmapFdMemory(0, file(0).fd, [READ, 0, 0]))).bytes).toHaveLength(0);
  });

  it("maps anonymous memory of a descriptor and BLOBs alike", () => {
    const handle: MemoryHandle = { kind: "fileDescriptor", fd: file(8).fd, protection: READ | WRITE, offset: 4 };
    for (const name of ["ashmem", "hardware_buffer_blob"]) {
      expect([...mappingOf(map({ name, size: 4, handle })).bytes]).toEqual([4, 5, 6, 7]);
    }
  });
});

describe("the two ways to map a file", () => {
  it("are both here: koffi is installed for the tests", () => {
    const mapper = nativeMapper();
    expect(mapper, whyNoNativeMapper()).toBeTypeOf("function");
  });

  it("share through koffi, and keep bytes alive as long as anything sees them", () => {
    const { fd, path } = file(8);
    const shared = mappingOf(mapAnew(mmapFdMemory(8, fd, [READ | WRITE, 0, 0])));
    expect(shared.load).toBeUndefined();
    shared.bytes[3] = 77;
    expect(readFileSync(path)[3]).toBe(77);
  });

  it("flush mmap_fd memory only: other shared bytes need no file that keeps them", () => {
    const { fd } = file(8);
    const handle: MemoryHandle = { kind: "fileDescriptor", fd, protection: READ | WRITE, offset: 0 };
    const storeOf = (name: string, mapper?: FileMapper) => mappingOf(mapAnew({ name, size: 8, handle }, mapper)).store;
    expect(storeOf("mmap_fd")).toBeTypeOf("function");
    expect(storeOf("ashmem")).toBeUndefined();
    expect(storeOf("ashmem", copyFile)).toBeTypeOf("function");
  });

  it("report that a copied file has shrunk", () => {
    const { fd, path } = file(8);
    const { load } = mappingOf(mapAnew(mmapFdMemory(8, fd, [READ, 0, 0]), copyFile));
    truncateSync(path, 4);
    expect(() => load?.(0, 4)).not.toThrow();
    expect(() => load?.(0, 5)).toThrow("ends 1 bytes early");
  });
});

describe("mmap_fd integers", () => {
  it("split the offset in two words, the lower one without a sign", () => {
    const { handle } = mmapFdMemory(4, 3, [READ, 0x8000_0000, 2]);
    expect(handle).toMatchObject({ kind: "fileDescriptor", offset: 2 * 2 ** 32 + 0x8000_0000 });
    if (handle?.kind === "fileDescriptor") expect(mmapFdIntegers(handle)).toEqual([READ, 0x8000_0000, 2]);
    expect(mmapFdMemory(4, 3, [READ, -1, 0]).handle).toMatchObject({ offset: 0xffff_ffff });
    expect(() => mmapFdMemory(4, 3, [READ, 0, 0x20_0000])).toThrow(RangeError);
  });
});

describe("hardware buffers", () => {
  const { CPU_READ_OFTEN, CPU_WRITE_OFTEN, GPU_SAMPLED_IMAGE } = HardwareBufferUsage;
  const picture = { width: 3, height: 2, layers: 1, format: 1, usage: CPU_READ_OFTEN, stride: 4 };

  it("hold plain bytes if they are BLOBs", () => {
    const memory = allocateBlob(16);
    expect(memory).toMatchObject({ name: "hardware_buffer_blob", size: 16 });
    const { bytes, writable } = mappingOf(mapPool(memory));
    expect([bytes.length, writable]).toEqual([16, true]);
    expect(mapMemory(memory)).toBe(bytes);
  });

  it("are used by CPUs as far as their usage says", () => {
    expect(mappingOf(mapPool(allocateBlob(4, CPU_READ_OFTEN))).writable).toBe(false);
    expect(problemOf(mapPool(allocateBlob(4, CPU_WRITE_OFTEN)))).toContain("CPUs cannot read it");
    expect(problemOf(mapPool(allocateBlob(4, GPU_SAMPLED_IMAGE)))).toContain("usage 0x100");
  });

  it("keep their layout private if they are not: rows padded to the stride", () => {
    const memory = allocateHardwareBuffer(picture);
    expect(memory).toMatchObject({ name: "hardware_buffer", size: 4 * 4 * 2 });
    expect(mappingOf(mapPool(memory)).opaque).toEqual(picture);
    expect(problemOf(mapMemory(memory))).toContain("private to its driver");
  });

  it.each([
    ["the width: expected an integer >= 1, got 0", { width: 0 }],
    ["the layers: expected an integer >= 1, got 1.5", { layers: 1.5 }],
    ["which is not emulated", { format: 99 }],
    ["the stride is 2, less than the width 3", { stride: 2 }],
    ["a BLOB has height 2", { format: 0x21 }],
  ])("cannot be allocated: %s", (message, change) => {
    expect(() => allocateHardwareBuffer({ ...picture, ...change })).toThrow(message);
  });

  it("are refused if name, format and size do not fit together", () => {
    const memory = allocateHardwareBuffer(picture);
    expect(problemOf(mapPool({ ...memory, name: "hardware_buffer_blob" }))).toContain("of format R8G8B8A8_UNORM");
    expect(problemOf(mapPool({ ...memory, size: 31 }))).toContain("claims 31 bytes, its hardware buffer has 32");
    expect(problemOf(mapPool({ ...allocateBlob(8), size: 4 }))).toContain("claims 4 bytes, its hardware buffer has 8");
  });
});
