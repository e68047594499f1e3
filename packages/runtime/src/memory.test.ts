import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  allocateBlob,
  allocateHardwareBuffer,
  HardwareBufferUsage,
  hardwareBufferFormats,
  Protection,
} from "@nnhal/driver-core/memory";
import { collectUntil } from "@nnhal/test-kit/garbage";
import type { Device } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Execution } from "./execution.ts";
import { code, gate, withPrepared } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { Model } from "./model.ts";
import { addModel, addOperands, compile, float32, openReference } from "./models.test-helper.ts";

const { READ, WRITE } = Protection;
const missing = JSON.parse("null");
let device: Device;
let folder: string;
beforeAll(async () => {
  device = await openReference();
  folder = mkdtempSync(join(tmpdir(), "nnhal-memory-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An image of 2 pixels of 4 bytes, as only a device can read it. */
const image = () =>
  allocateHardwareBuffer({
    width: 2,
    height: 1,
    layers: 1,
    format: hardwareBufferFormats.R8G8B8A8_UNORM.code,
    usage: HardwareBufferUsage.GPU_DATA_BUFFER,
    stride: 2,
  });

/** A file of some float32 numbers. */
function fileOf(name: string, ...values: number[]): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.from(Float32Array.from(values).buffer));
  return path;
}

/** The file of a descriptor; "" if it is closed. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const floats = (bytes: Uint8Array) => [...new Float32Array(Uint8Array.from(bytes).buffer)];

describe("Memory", () => {
  it("is input and output of executions, whole or in parts", async () => {
    const compilation = await compile(addModel(), [device]);
    const inputs = Memory.allocate(16);
    const output = Memory.allocate(8);
    const view = inputs.map();
    new Float32Array(view.buffer, view.byteOffset, 4).set([1, 2, 10, 20]);
    const execution = new Execution(compilation);
    execution.setInputFromMemory(0, inputs, { length: 8 });
    execution.setInputFromMemory(1, inputs, { offset: 8 });
    execution.setOutputFromMemory(0, output);
    await execution.compute();
    expect(floats(output.map())).toEqual([11, 22]);
    expect([inputs.size, output.size]).toEqual([16, 8]);
  });

  it("of a file has the content of the file, and writes it", async () => {
    const path = fileOf("values.bin", 0, 1, 2, 10, 20);
    const fd = openSync(path, "r+");
    const memory = Memory.createFromFd(16, READ + WRITE, fd, 4);
    // The memory has a separate descriptor.
    closeSync(fd);
    const execution = new Execution(await compile(addModel(), [device]));
    execution.setInputFromMemory(0, memory, { length: 8 });
    execution.setInput(1, Float32Array.of(100, 200));
    execution.setOutputFromMemory(0, memory, { offset: 8 });
    await execution.compute();
    memory.close();
    expect(floats(readFileSync(path))).toEqual([0, 1, 2, 101, 202]);
  });

  it("of a hardware buffer is plain bytes if it is a BLOB", async () => {
    const memory = Memory.createFromAHardwareBuffer(allocateBlob(8));
    expect(memory.size).toBe(8);
    const execution = new Execution(await compile(addModel(), [device]));
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(3, 4));
    execution.setOutputFromMemory(0, memory);
    await execution.compute();
    expect(floats(memory.map())).toEqual([4, 6]);
  });

  it("of another hardware buffer is an argument as a whole", async () => {
    const memory = Memory.createFromAHardwareBuffer(image());
    expect(memory.size).toBe(0);
    expect(() => memory.map()).toThrow(code("UNMAPPABLE"));
    const execution = new Execution(await compile(addModel(), [device]));
    expect(() => execution.setInputFromMemory(0, memory, { length: 8 })).toThrow(code("BAD_DATA"));
    expect(() => execution.setInputFromMemory(0, memory, { offset: 4 })).toThrow(code("BAD_DATA"));
    execution.setInputFromMemory(0, memory);
    execution.setInput(1, Float32Array.of(3, 4));
    execution.setOutput(0, new Float32Array(2));
    // The reference device reads no images.
    await expect(execution.compute()).rejects.toThrow(code("OP_FAILED"));
    const model = new Model();
    const constant = model.addOperand(float32(2));
    expect(() => model.setOperandValueFromMemory(constant, memory, 0, 8)).toThrow(code("BAD_DATA"));
  });

  it("holds constants until the model is collected, even after it is closed", async () => {
    const fd = openSync(fileOf("constants.bin", 5, 6), "r");
    const memory = Memory.createFromFd(8, READ, fd);
    closeSync(fd);
    const model = new Model();
    const [input, constant, output] = addOperands(model, float32(2), float32(2), float32(2));
    const activation = model.addOperand({ type: "INT32" });
    model.setOperandValueFromMemory(constant, memory, 0, 8);
    model.setOperandValue(activation, 0);
    model.addOperation("ADD", [input, constant, activation], [output]);
    model.identifyInputsAndOutputs([input], [output]);
    memory.close();
    model.finish();
    const execution = new Execution(await compile(model, [device]));
    const result = new Float32Array(2);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setOutput(0, result);
    await execution.compute();
    expect([...result]).toEqual([6, 8]);
  });

  it("stays until running executions have ended after it is closed", async () => {
    const { opened, open } = gate();
    const slow = withPrepared(device, ({ execute }) => ({
      execute: async (...request) => opened.then(() => execute(...request)),
    }));
    const fd = openSync(fileOf("late.bin", 1, 2), "r");
    const memory = Memory.createFromFd(8, READ, fd);
    closeSync(fd);
    const execution = new Execution(await compile(addModel(), [slow]));
    const result = new Float32Array(2);
    execution.setInputFromMemory(0, memory);
    execution.setInput(1, Float32Array.of(1, 1));
    execution.setOutput(0, result);
    const computing = execution.compute();
    memory.close();
    open();
    await computing;
    expect([...result]).toEqual([2, 3]);
  });

  it.runIf(existsSync("/proc/self/fd"))("closes its descriptor when it is closed or collected", async () => {
    const fd = openSync(fileOf("open.bin", 1, 2), "r");
    const count = () =>
      readdirSync("/proc/self/fd").filter((one) => linkOf(`/proc/self/fd/${one}`).endsWith("open.bin")).length;
    const before = count();
    {
      using memory = Memory.createFromFd(8, READ, fd);
      expect(count()).toBe(before + 1);
      expect(memory.size).toBe(8);
    }
    expect(count()).toBe(before);
    (() => Memory.createFromFd(8, READ, fd))();
    expect(count()).toBe(before + 1);
    await collectUntil(() => count() === before);
    expect(count()).toBe(before);
    closeSync(fd);
  });

  describe("refuses", () => {
    it.each([0, -1, 1.5, 2 ** 32, Number.NaN])("a size of %s", (size) => {
      expect(() => Memory.allocate(size)).toThrow(code("BAD_DATA"));
      expect(() => Memory.createFromFd(size, READ, 0)).toThrow(code("BAD_DATA"));
    });

    it("a size that there is no room for", () => {
      const full = class {
        constructor() {
          throw new RangeError("Array buffer allocation failed");
        }
      };
      vi.stubGlobal("SharedArrayBuffer", full);
      try {
        expect(() => Memory.allocate(8)).toThrow(code("OUT_OF_MEMORY"));
      } finally {
        vi.unstubAllGlobals();
      }
      expect(Memory.allocate(8).size).toBe(8);
    });

    it("invalid descriptors, protections and offsets", () => {
      const fd = openSync(fileOf("some.bin", 1), "r");
      for (const wrong of [-1, 0.5, 1_000_000]) {
        expect(() => Memory.createFromFd(4, READ, wrong)).toThrow(code("BAD_DATA"));
      }
      for (const protection of [-1, 4, 0.5]) {
        expect(() => Memory.createFromFd(4, protection, fd)).toThrow(code("BAD_DATA"));
      }
      for (const offset of [-1, 0.5, Number.NaN]) {
        expect(() => Memory.createFromFd(4, READ, fd, offset)).toThrow(code("BAD_DATA"));
      }
      closeSync(fd);
    });

    it("to allow more than the descriptor does", async () => {
      const path = fileOf("protected.bin", 1, 2);
      const [reading, writing] = [openSync(path, "r"), openSync(path, "a")];
      const execution = new Execution(await compile(addModel(), [device]));
      execution.setInput(0, Float32Array.of(7, 8));
      execution.setInput(1, Float32Array.of(7, 8));
      execution.setOutputFromMemory(0, Memory.createFromFd(8, READ + WRITE, reading));
      await expect(execution.compute()).rejects.toThrow(code("OP_FAILED"));
      expect(() => Memory.createFromFd(8, READ, writing).map()).toThrow(code("UNMAPPABLE"));
      expect(floats(readFileSync(path))).toEqual([1, 2]);
      closeSync(reading);
      closeSync(writing);
    });

    it("to be mapped if it lies beyond its file, or must not be read", () => {
      const fd = openSync(fileOf("short.bin", 1), "r");
      expect(() => Memory.createFromFd(8, READ, fd).map()).toThrow(code("UNMAPPABLE"));
      expect(() => Memory.createFromFd(4, WRITE, fd).map()).toThrow(code("UNMAPPABLE"));
      closeSync(fd);
    });

    it("missing arguments, and values that are not a memory or a hardware buffer", () => {
      expect(() => Memory.from(missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => Memory.createFromAHardwareBuffer(missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => Memory.from({ name: "nothing", size: 4, handle: null })).toThrow(code("BAD_DATA"));
      const plain = {
        name: "ashmem",
        size: 4,
        handle: { kind: "buffer", buffer: new ArrayBuffer(4), byteOffset: 0 },
      } as const;
      expect(() => Memory.createFromAHardwareBuffer(plain)).toThrow(code("BAD_DATA"));
      expect(Memory.from(plain).size).toBe(4);
    });

    it("use after it was closed", async () => {
      const memory = Memory.allocate(8);
      memory.close();
      memory.close();
      const execution = new Execution(await compile(addModel(), [device]));
      expect(() => memory.map()).toThrow(code("BAD_STATE"));
      expect(() => execution.setInputFromMemory(0, memory)).toThrow(code("BAD_STATE"));
      expect(() => execution.setOutputFromMemory(0, memory)).toThrow(code("BAD_STATE"));
      await expect(Memory.copy(memory, Memory.allocate(8))).rejects.toThrow(code("BAD_STATE"));
      await expect(Memory.copy(Memory.allocate(8), memory)).rejects.toThrow(code("BAD_STATE"));
    });
  });

  describe("as an argument refuses", () => {
    const open = async () => new Execution(await compile(addModel(float32(0)), [device]));

    it.each([
      [{ offset: 0, length: 0 }],
      [{ offset: 16 }],
      [{ offset: 9, length: 8 }],
      [{ offset: -1, length: 8 }],
      [{ offset: 0.5, length: 8 }],
      [{ length: 17 }],
      [{ length: Number.NaN }],
    ])("the part %j of 16 bytes", async (region) => {
      const execution = await open();
      expect(() => execution.setInputFromMemory(0, Memory.allocate(16), { ...region, dimensions: [2] })).toThrow(
        code("BAD_DATA"),
      );
      execution.setInputFromMemory(0, Memory.allocate(16), { offset: 8, length: 8, dimensions: [2] });
    });

    it("parts of another size than the dimensions need, and dimensions that are not known", async () => {
      const execution = await open();
      const memory = Memory.allocate(16);
      expect(() => execution.setInputFromMemory(0, memory, { dimensions: [3] })).toThrow(code("BAD_DATA"));
      expect(() => execution.setInputFromMemory(0, memory)).toThrow("the dimensions [0] are not all known");
      expect(() => execution.setOutputFromMemory(0, memory, { dimensions: [3] })).toThrow(code("BAD_DATA"));
      expect(() => execution.setOutputFromMemory(0, memory, { dimensions: [1, 4] })).toThrow(code("BAD_DATA"));
      // The size of an output can be unknown.
      execution.setOutputFromMemory(0, memory);
    });

    it("no memory, an argument twice, and one that does not exist", async () => {
      const execution = await open();
      const memory = Memory.allocate(8);
      expect(() => execution.setInputFromMemory(0, missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => execution.setOutputFromMemory(0, missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => execution.setInputFromMemory(2, memory)).toThrow(code("BAD_DATA"));
      expect(() => execution.setOutputFromMemory(1, memory)).toThrow(code("BAD_DATA"));
      execution.setInputFromMemory(0, memory, { dimensions: [2] });
      execution.setOutputFromMemory(0, memory);
      expect(() => execution.setInputFromMemory(0, memory, { dimensions: [2] })).toThrow(code("BAD_STATE"));
      expect(() => execution.setOutputFromMemory(0, memory)).toThrow(code("BAD_STATE"));
    });
  });
});

describe("Memory.copy of plain bytes", () => {
  it("copies all of them, also to and from files, and nothing to itself", async () => {
    const path = fileOf("copy.bin", 1, 2);
    const fd = openSync(path, "r+");
    const [file, plain, blob] = [
      Memory.createFromFd(8, READ + WRITE, fd),
      Memory.allocate(8),
      Memory.createFromAHardwareBuffer(allocateBlob(8)),
    ];
    await Memory.copy(file, plain);
    await Memory.copy(plain, blob);
    expect(floats(blob.map())).toEqual([1, 2]);
    new Float32Array(plain.map().buffer).set([7, 8]);
    await Memory.copy(plain, file);
    await Memory.copy(file, file);
    file.close();
    closeSync(fd);
    expect(floats(readFileSync(path))).toEqual([7, 8]);
  });

  it("refuses other sizes, memories that cannot be mapped or written, and missing arguments", async () => {
    const fd = openSync(fileOf("read-only.bin", 1, 2), "r");
    const readOnly = Memory.createFromFd(8, READ, fd);
    const beyond = Memory.createFromFd(16, READ, fd);
    const opaque = Memory.createFromAHardwareBuffer(image());
    const plain = Memory.allocate(8);
    await expect(Memory.copy(plain, Memory.allocate(9))).rejects.toThrow("the source has 8 bytes, the destination 9");
    await expect(Memory.copy(plain, Memory.allocate(9))).rejects.toThrow(code("BAD_DATA"));
    await expect(Memory.copy(plain, readOnly)).rejects.toThrow(code("UNMAPPABLE"));
    await expect(Memory.copy(beyond, Memory.allocate(16))).rejects.toThrow(code("UNMAPPABLE"));
    await expect(Memory.copy(opaque, plain)).rejects.toThrow(code("UNMAPPABLE"));
    await expect(Memory.copy(plain, opaque)).rejects.toThrow(code("UNMAPPABLE"));
    await expect(Memory.copy(missing, plain)).rejects.toThrow(code("UNEXPECTED_NULL"));
    await expect(Memory.copy(plain, missing)).rejects.toThrow(code("UNEXPECTED_NULL"));
    closeSync(fd);
  });
});
