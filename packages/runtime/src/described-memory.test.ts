import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Protection } from "@nnhal/driver-core/memory";
import type { Device } from "@nnhal/types";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { addFrom, addInto, plainOf, read, state } from "./described-memory.test-helper.ts";
import { Execution } from "./execution.ts";
import { code } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { addModel, compile, float32, openReference } from "./models.test-helper.ts";

let folder: string;
let shortFile: number;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-described-memory-"));
  writeFileSync(join(folder, "short.bin"), "1234");
  shortFile = openSync(join(folder, "short.bin"), "r");
});
afterAll(() => {
  closeSync(shortFile);
  rmSync(folder, { recursive: true, force: true });
});

let reference: Device;
let compilation: Compilation;
beforeAll(async () => {
  reference = await openReference();
});
beforeEach(async () => {
  compilation = await compile(addModel(), [reference]);
});

describe.each(["of a device", "that fell back"])("described memory %s", (kind) => {
  let own: Compilation;
  let memory: Memory;
  beforeEach(async () => {
    const { allocate: _, ...without } = reference;
    own = kind === "of a device" ? compilation : new Compilation(addModel(), [], { cpu: without });
    if (!own.isFinished) await own.finish();
    memory = await Memory.createFromDesc(state(own));
  });

  it("has no value until an execution or a copy has written one", async () => {
    await expect(addFrom(memory, own)).rejects.toThrow(code("OP_FAILED"));
    await expect(addFrom(memory, own)).rejects.toThrow("the memory has no value yet");
    await expect(read(memory)).rejects.toThrow(code("BAD_DATA"));
    await addInto(memory, [1, 2], own);
    expect(await addFrom(memory, own)).toEqual([1, 2]);
    await Memory.copy(plainOf(3, 4), memory);
    expect(await addFrom(memory, own)).toEqual([3, 4]);
    expect(await read(memory)).toEqual([3, 4]);
  });

  it("loses its value when an execution or a copy into it fails", async () => {
    await Memory.copy(plainOf(3, 4), memory);
    await expect(Memory.copy(plainOf(3, 4, 5), memory)).rejects.toThrow(code("BAD_DATA"));
    await expect(addFrom(memory, own)).rejects.toThrow(code("OP_FAILED"));
    await Memory.copy(plainOf(3, 4), memory);
    const execution = new Execution(own);
    // The file is shorter than the memory.
    execution.setInputFromMemory(0, Memory.createFromFd(8, Protection.READ, shortFile));
    execution.setInput(1, Float32Array.of(1, 1));
    execution.setOutputFromMemory(0, memory);
    await expect(execution.compute()).rejects.toThrow(code("OP_FAILED"));
    await expect(addFrom(memory, own)).rejects.toThrow(code("OP_FAILED"));
    await expect(read(memory)).rejects.toThrow(code("BAD_DATA"));
  });

  it("is copied to another like it", async () => {
    const other = await Memory.createFromDesc(state(own));
    await addInto(memory, [5, 6], own);
    await Memory.copy(memory, other);
    await Memory.copy(other, other);
    expect(await addFrom(other, own)).toEqual([5, 6]);
  });

  it("must not be copied between operands that differ", async () => {
    await addInto(memory, [5, 6], own);
    const ints = await compile(addModel({ type: "TENSOR_INT32", dimensions: [2] }), [reference]);
    const longer = await compile(addModel(float32(3)), [reference]);
    const rows = await compile(addModel(float32(2, 1)), [reference]);
    for (const another of [ints, longer, rows]) {
      const other = await Memory.createFromDesc(state(another));
      await expect(Memory.copy(memory, other)).rejects.toThrow(code("BAD_DATA"));
    }
    expect(await read(memory)).toEqual([5, 6]);
  });

  it("is used only in its roles, and only as a whole", async () => {
    const execution = new Execution(own);
    const another = new Execution(await compile(addModel(), [reference]));
    expect(() => execution.setInputFromMemory(1, memory)).toThrow("the memory was not made for input 1");
    expect(() => another.setInputFromMemory(0, memory)).toThrow(code("BAD_DATA"));
    expect(() => another.setOutputFromMemory(0, memory)).toThrow(code("BAD_DATA"));
    for (const region of [{ offset: 4 }, { length: 8 }, { dimensions: [3] }]) {
      expect(() => execution.setInputFromMemory(0, memory, region)).toThrow(code("BAD_DATA"));
      expect(() => execution.setOutputFromMemory(0, memory, region)).toThrow(code("BAD_DATA"));
    }
    execution.setInputFromMemory(0, memory, { offset: 0, length: 0, dimensions: [2] });
    const { hal } = own;
    expect(hal.pools).toEqual([]);
  });

  it("cannot be used once it is closed; running executions continue", async () => {
    await addInto(memory, [1, 2], own);
    const execution = new Execution(own);
    const output = new Float32Array(2);
    execution.setInputFromMemory(0, memory);
    execution.setInput(1, Float32Array.of(0, 0));
    execution.setOutput(0, output);
    const computing = execution.compute();
    memory.close();
    await computing;
    expect([...output]).toEqual([1, 2]);
    await expect(addFrom(memory, own)).rejects.toThrow(code("BAD_STATE"));
  });
});

describe("described memory of open dimensions", () => {
  it("has the dimensions of each value", async () => {
    const open = await compile(addModel(float32(0), float32(0), float32(0)), [reference]);
    const memory = await Memory.createFromDesc(state(open));
    const run = async (length: number) => {
      const execution = new Execution(open);
      execution.setInput(0, new Float32Array(length).fill(length), [length]);
      execution.setInput(1, new Float32Array(length), [length]);
      execution.setOutputFromMemory(0, memory);
      await execution.compute();
      expect(execution.getOutputOperandDimensions(0)).toEqual([length]);
    };
    for (const length of [2, 5, 1]) {
      await run(length);
      expect(await read(memory, length)).toEqual(new Array(length).fill(length));
    }
    const wrong = new Execution(open);
    wrong.setInputFromMemory(0, memory, { dimensions: [2] });
    wrong.setInput(1, new Float32Array(2), [2]);
    wrong.setOutput(0, new Float32Array(2));
    await expect(wrong.compute()).rejects.toThrow(
      "the memory's value has dimensions [1] where the execution needs [2]",
    );
    const other = await Memory.createFromDesc(state(open));
    await Memory.copy(memory, other);
    expect(await read(other, 1)).toEqual([1]);
  });
});
