import { createFence } from "@nnhal/driver-core/fence";
import type { Device } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Event } from "./event.ts";
import { Execution } from "./execution.ts";
import { code, gate, turn, withPrepared } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import { addModel, compile, float32, openReference, operationModel } from "./models.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

describe("null", () => {
  it("for an input that an operation needs is BAD_DATA that names it", async () => {
    const execution = new Execution(await compile(addModel(), [reference]));
    expect(() => execution.setInput(1, null)).toThrow(code("BAD_DATA"));
    expect(() => execution.setInput(1, null)).toThrow(
      "setInput(1): input 1 cannot be omitted: operation 1 (ADD) needs it as right",
    );
    execution.setInput(1, Float32Array.of(1, 2));
  });

  it("for an output is BAD_DATA that names the operation", async () => {
    const execution = new Execution(await compile(addModel(), [reference]));
    expect(() => execution.setOutput(0, null)).toThrow(code("BAD_DATA"));
    expect(() => execution.setOutput(0, null)).toThrow(
      "setOutput(0): output 0 cannot be omitted: operation 1 (ADD) writes it",
    );
    execution.setOutput(0, new Float32Array(2));
  });

  it("omits an input that is optional for all operations", async () => {
    const model = operationModel(
      "TRANSPOSE",
      [float32(2, 2), { type: "TENSOR_INT32", dimensions: [2] }],
      [],
      [float32(2, 2)],
    );
    const compilation = await compile(model, [reference]);
    const execution = new Execution(compilation);
    const output = new Float32Array(4);
    execution.setInput(0, Float32Array.of(1, 2, 3, 4));
    execution.setInput(1, null);
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual([1, 3, 2, 4]);
    expect(() => new Execution(compilation).setInput(0, null)).toThrow("TRANSPOSE");
  });
});

describe("the output of an execution that runs", () => {
  /** A memory that an execution is writing, and a function that lets it end. */
  async function write() {
    const { opened, open } = gate();
    const slow = withPrepared(reference, (own) => ({
      execute: (...request) => opened.then(() => own.execute(...request)),
    }));
    const compilation = await compile(addModel(), [slow]);
    const desc = new MemoryDesc();
    desc.addOutputRole(compilation, 0);
    desc.addInputRole(compilation, 0);
    desc.finish();
    const memory = await Memory.createFromDesc(desc);
    await Memory.copy(Memory.allocate(8), memory);
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(10, 20));
    execution.setOutputFromMemory(0, memory);
    return { compilation, execution, memory, open };
  }

  it("is not a value that can be copied or computed with", async () => {
    const { compilation, execution, memory, open } = await write();
    const event = execution.startCompute();
    await turn();
    await expect(Memory.copy(memory, Memory.allocate(8))).rejects.toThrow("the source has no value");
    const reader = new Execution(compilation);
    reader.setInputFromMemory(0, memory);
    reader.setInput(1, Float32Array.of(0, 0));
    reader.setOutput(0, new Float32Array(2));
    await expect(reader.compute()).rejects.toThrow(code("OP_FAILED"));
    open();
    await event.wait();
    const plain = Memory.allocate(8);
    await Memory.copy(memory, plain);
    expect([...new Float32Array(plain.map().buffer)]).toEqual([11, 22]);
  });

  it("has no results, and its event is neither a promise nor a value", async () => {
    const { execution, open } = await write();
    const event = execution.startCompute();
    expect(() => execution.getOutputOperandDimensions(0)).toThrow("the execution is running; wait for its event first");
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    expect(() => execution.isOutputSufficient(0)).toThrow(code("BAD_STATE"));
    expect(() => execution.getDuration("inDriver")).toThrow(code("BAD_STATE"));
    await expect((async () => event)()).rejects.toThrow("its event is not a promise");
    expect(Object.keys(event)).toEqual([]);
    expect(() => execution.setInput(0, event as never)).toThrow(code("BAD_STATE"));
    const other = new Execution(await compile(addModel(), [reference]));
    expect(() => other.setInput(0, event as never)).toThrow("setInput(0): an Event was given for a TENSOR_FLOAT32");
    open();
    await event.wait();
    expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
  });

  it("can be awaited through a fence that does not report its end", async () => {
    const { fence } = createFence();
    const broken = Object.defineProperty({ ...fence }, "state", {
      get() {
        throw new Error("planted");
      },
    });
    expect(() => Event.createFromSyncFence(broken)).toThrow(code("BAD_DATA"));
  });
});
