import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorStatus, type Memory } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { allocateBlob, allocateHardwareBuffer, HardwareBufferUsage } from "../memory/hardware-buffer.ts";
import { allocateMemory } from "../memory/memory.ts";
import { mmapFdMemory, Protection } from "../memory/protection.ts";
import { bufferFor, floats, floatsIn, prepareOn, referenceDevice, reluModel } from "./relu-model.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const values = [1, -2, 3, -4, 5, -6];

/** A buffer for 2x3 floats, or for 0x3 where its first extent is open. */
async function buffer(dimensions: readonly number[] = [2, 3]) {
  const device = await referenceDevice();
  const model = await prepareOn(device, reluModel({ dimensions }));
  return (await bufferFor(device, model, [0], [0])).buffer;
}

describe("copyFrom", () => {
  it("accepts memory of exactly the value's size", async () => {
    const target = await buffer();
    expect((await target.copyFrom(allocateMemory(12), [])).status).toBe(INVALID_ARGUMENT);
    expect((await target.copyFrom(allocateMemory(48), [])).status).toBe(INVALID_ARGUMENT);
    expect((await target.copyFrom(floats(...values), [])).status).toBe(NONE);
  });

  it("accepts memory of the size of the dimensions, if the buffer does not know them", async () => {
    const target = await buffer([0, 3]);
    expect((await target.copyFrom(allocateMemory(12), [2, 3])).status).toBe(INVALID_ARGUMENT);
    expect((await target.copyFrom(allocateMemory(48), [2, 3])).status).toBe(INVALID_ARGUMENT);
    expect((await target.copyFrom(allocateMemory(24), [4, 3])).status).toBe(INVALID_ARGUMENT);
    expect((await target.copyFrom(allocateMemory(24), [2, 3])).status).toBe(NONE);
    expect((await target.copyFrom(allocateMemory(48), [4, 3])).status).toBe(NONE);
  });

  it.each<[string, readonly number[], readonly number[], ErrorStatus]>([
    ["a rank too small", [2, 3], [6], INVALID_ARGUMENT],
    ["another extent", [2, 3], [3, 2], INVALID_ARGUMENT],
    ["an extent of 0", [2, 3], [0, 3], INVALID_ARGUMENT],
    ["no dimensions", [2, 3], [], NONE],
    ["the same dimensions", [2, 3], [2, 3], NONE],
    ["a rank too small for open ones", [0, 3], [6], INVALID_ARGUMENT],
    ["another fixed extent", [0, 3], [3, 2], INVALID_ARGUMENT],
    ["an extent of 0 where it is open", [0, 3], [0, 3], INVALID_ARGUMENT],
    ["no dimensions where one is open", [0, 3], [], INVALID_ARGUMENT],
    ["an extent for the open one", [0, 3], [2, 3], NONE],
    ["a negative extent", [0, 3], [-2, -3], INVALID_ARGUMENT],
  ])("answers %s", async (_what, known, dimensions, status) => {
    const result = await (await buffer(known)).copyFrom(floats(...values), dimensions);
    expect(result.status).toBe(status);
    if (status !== NONE) expect(result.message).toMatch(/^copying to a device buffer: .*dimensions/);
  });

  it("leaves no value if it fails", async () => {
    const target = await buffer();
    await target.copyFrom(floats(...values), []);
    expect((await target.copyTo(allocateMemory(24))).status).toBe(NONE);
    await target.copyFrom(allocateMemory(4), []);
    expect((await target.copyTo(allocateMemory(24))).status).toBe(GENERAL_FAILURE);
  });
});

describe("copyTo", () => {
  it("has nothing to copy before there is a value", async () => {
    expect((await (await buffer()).copyTo(allocateMemory(24))).status).toBe(GENERAL_FAILURE);
    expect((await (await buffer([0, 3])).copyTo(allocateMemory(24))).status).toBe(GENERAL_FAILURE);
  });

  it.each([
    ["known", [2, 3]],
    ["open", [0, 3]],
  ])("fills memory of exactly the value's size, dimensions %s", async (_what, known) => {
    const source = await buffer(known);
    await source.copyFrom(floats(...values), [2, 3]);
    expect((await source.copyTo(allocateMemory(12))).status).toBe(INVALID_ARGUMENT);
    expect((await source.copyTo(allocateMemory(48))).status).toBe(INVALID_ARGUMENT);
    const target = allocateMemory(24);
    expect((await source.copyTo(target)).status).toBe(NONE);
    expect([...floatsIn(target)]).toEqual(values);
  });
});

describe("memory to copy from and to", () => {
  it("may be a BLOB or a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nnhal-copy-"));
    const path = join(folder, "values");
    writeFileSync(path, Float32Array.from(values));
    const fd = openSync(path, "r+");
    try {
      const file = (protection: number) => mmapFdMemory(24, fd, [protection, 0, 0]);
      const first = await buffer();
      expect((await first.copyFrom(file(Protection.READ), [])).status).toBe(NONE);
      const blob = allocateBlob(24);
      expect((await first.copyTo(blob)).status).toBe(NONE);
      floatsIn(blob)[0] = 100;
      const second = await buffer();
      expect((await second.copyFrom(blob, [])).status).toBe(NONE);
      expect((await second.copyTo(file(Protection.READ))).status).toBe(INVALID_ARGUMENT);
      expect((await second.copyTo(file(Protection.READ | Protection.WRITE))).status).toBe(NONE);
      expect(new Float32Array(new Uint8Array(readFileSync(path)).buffer)[0]).toBe(100);
    } finally {
      closeSync(fd);
      rmSync(folder, { recursive: true });
    }
  });

  const usage = HardwareBufferUsage.CPU_READ_OFTEN | HardwareBufferUsage.CPU_WRITE_OFTEN;
  it.each<[string, Memory, ErrorStatus]>([
    ["no handle", { ...allocateMemory(24), handle: null }, INVALID_ARGUMENT],
    ["an unknown name", { ...allocateMemory(24), name: "ion" }, INVALID_ARGUMENT],
    [
      "a private layout",
      allocateHardwareBuffer({ width: 6, height: 1, layers: 1, format: 1, usage, stride: 6 }),
      INVALID_ARGUMENT,
    ],
    ["a descriptor that is not open", mmapFdMemory(24, 9999, [3, 0, 0]), GENERAL_FAILURE],
  ])("is refused if it has %s", async (_what, memory, status) => {
    const target = await buffer();
    expect((await target.copyFrom(memory, [])).status).toBe(status);
    await target.copyFrom(floats(...values), []);
    expect((await target.copyTo(memory)).status).toBe(status);
  });

  it("is refused by a buffer that is closed", async () => {
    const target = await buffer();
    target.close?.();
    for (const result of [await target.copyFrom(floats(...values), []), await target.copyTo(allocateMemory(24))]) {
      expect(result.status).toBe(INVALID_ARGUMENT);
      expect(result.message).toContain("the buffer is closed");
    }
  });
});
