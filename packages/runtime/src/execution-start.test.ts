/**
 * Executions that are started, and their events.
 */
import { type Device, ErrorStatus } from "@nnhal/types";
import { createLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Event } from "./event.ts";
import { Execution } from "./execution.ts";
import { code, gate, withPrepared } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { addModel, compile, float32, openReference, operationModel } from "./models.test-helper.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

/** An execution of ADD that is ready to start, and its output. */
async function ready(on: Device = device) {
  const execution = new Execution(await compile(addModel(), [on]));
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, output);
  return { execution, output };
}

/** A device whose executions wait at a gate. */
function makeGated() {
  const { opened, open } = gate();
  const slow = withPrepared(device, ({ execute }) => ({
    execute: async (...request) => opened.then(() => execute(...request)),
  }));
  return { slow, open };
}

describe("startCompute", () => {
  it("refuses to be awaited in place of its end, and computes all the same", async () => {
    const { execution } = await ready();
    const event = execution.startCompute();
    const mistaken = async () => await event;
    await expect(mistaken()).rejects.toThrow("await execution.startCompute().wait() waits for the end");
    await expect((async () => event)()).rejects.toThrow(code("BAD_STATE"));
    expect((await (async () => ({ event }))()).event).toBe(event);
    await event.wait();
  });

  it("returns before anything is computed; its event reports the end", async () => {
    const { execution, output } = await ready();
    const event = execution.startCompute();
    await Promise.resolve();
    expect([...output]).toEqual([0, 0]);
    await event.wait();
    expect([...output]).toEqual([11, 22]);
    await event.wait();
    expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
  });

  it("throws if the call is wrong, and does not change the execution", async () => {
    const execution = new Execution(await compile(addModel(), [device]));
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(1, 2));
    expect(() => execution.startCompute()).toThrow("startCompute: output 0 is not set");
    expect(() => execution.startCompute()).toThrow(code("BAD_DATA"));
    execution.setOutput(0, new Float32Array(2));
    const event = execution.startCompute();
    expect(() => execution.startCompute()).toThrow(code("BAD_STATE"));
    await event.wait();
    expect(() => execution.startCompute()).toThrow(code("BAD_STATE"));
  });

  it("reports by the event how the execution failed, to every caller", async () => {
    const indices = { type: "TENSOR_INT32", dimensions: [1] } as const;
    const model = operationModel("EMBEDDING_LOOKUP", [indices, float32(3, 1)], [], [float32(1, 1)]);
    const execution = new Execution(await compile(model, [device]));
    execution.setInput(0, Int32Array.of(3));
    execution.setInput(1, Float32Array.of(1, 2, 3));
    execution.setOutput(0, new Float32Array(1));
    const event = execution.startCompute();
    await expect(event.wait()).rejects.toThrow(code("OP_FAILED"));
    await expect(event.wait()).rejects.toThrow("startCompute: ");
    // Nothing waits for this event: that must not end the process.
    const unheard = new Execution(await compile(model, [device]));
    unheard.setInput(0, Int32Array.of(3));
    unheard.setInput(1, Float32Array.of(1, 2, 3));
    unheard.setOutput(0, new Float32Array(1));
    await unheard.startCompute().close();
  });

  it("has no results while it runs", async () => {
    const { slow, open } = makeGated();
    const { execution } = await ready(slow);
    execution.setMeasureTiming(true);
    const event = execution.startCompute();
    expect(() => execution.getOutputOperandDimensions(0)).toThrow("the execution is running");
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    expect(() => execution.isOutputSufficient(0)).toThrow(code("BAD_STATE"));
    expect(() => execution.getDuration("onHardware")).toThrow(code("BAD_STATE"));
    expect(() => execution.setInput(0, null)).toThrow(code("BAD_STATE"));
    expect(() => execution.setOutput(0, null)).toThrow(code("BAD_STATE"));
    expect(() => execution.setInputFromMemory(0, Memory.allocate(8))).toThrow(code("BAD_STATE"));
    expect(() => execution.setOutputFromMemory(0, Memory.allocate(8))).toThrow(code("BAD_STATE"));
    expect(() => execution.setLoopTimeout(1n)).toThrow(code("BAD_STATE"));
    expect(() => execution.setTimeout(1n)).toThrow(code("BAD_STATE"));
    expect(() => execution.setMeasureTiming(false)).toThrow(code("BAD_STATE"));
    open();
    await event.wait();
    expect(execution.getOutputOperandRank(0)).toBe(1);
    expect(execution.isOutputSufficient(0)).toBe(true);
  });

  it.each([
    ["GENERAL_FAILURE", "OP_FAILED"],
    ["INVALID_ARGUMENT", "BAD_DATA"],
    ["DEVICE_UNAVAILABLE", "UNAVAILABLE_DEVICE"],
    ["MISSED_DEADLINE_TRANSIENT", "MISSED_DEADLINE_TRANSIENT"],
    ["MISSED_DEADLINE_PERSISTENT", "MISSED_DEADLINE_PERSISTENT"],
    ["RESOURCE_EXHAUSTED_TRANSIENT", "RESOURCE_EXHAUSTED_TRANSIENT"],
    ["RESOURCE_EXHAUSTED_PERSISTENT", "RESOURCE_EXHAUSTED_PERSISTENT"],
  ] as const)("and compute say of a device that answers %s: %s", async (status, expected) => {
    const timing = { timeOnDevice: 0n, timeInDriver: 0n };
    const failing = withPrepared(device, () => ({
      execute: async () => ({ status: ErrorStatus[status], message: "no", outputShapes: [], timing }),
    }));
    const started = await ready(failing);
    await expect(started.execution.startCompute().wait()).rejects.toThrow(code(expected));
    const computed = await ready(failing);
    await expect(computed.execution.compute()).rejects.toThrow(code(expected));
    for (const { execution } of [started, computed]) {
      expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    }
  });

  it("ends if a device throws, or answers nonsense", async () => {
    const timing = { timeOnDevice: 0n, timeInDriver: 0n };
    const shape = (...dimensions: number[]) => ({ dimensions, isSufficient: true });
    const answers = [
      () => Promise.reject(new Error("driver bug")),
      async () => ({ status: ErrorStatus.NONE, outputShapes: [shape(3)], timing }),
      async () => ({ status: ErrorStatus.NONE, outputShapes: [shape(2), shape(2)], timing }),
      async () => ({ status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, outputShapes: [], timing }),
      async () => ({ status: ErrorStatus.NONE, outputShapes: [], timing }),
    ];
    for (const execute of answers) {
      const { execution } = await ready(withPrepared(device, () => ({ execute })));
      await expect(execution.compute()).rejects.toThrow(code("OP_FAILED"));
      expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    }
    // Drivers older than HAL 1.2 report no shapes.
    const silent = { execute: async () => ({ status: ErrorStatus.NONE, outputShapes: [], timing }) };
    const old: Device = { ...withPrepared(device, () => silent), halVersion: "1.1" };
    const { execution } = await ready(old);
    await execution.compute();
    expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
  });
});

describe("an event", () => {
  it("of startCompute has no sync fence", async () => {
    const event = (await ready()).execution.startCompute();
    expect(() => event.getSyncFence()).toThrow(code("OP_FAILED"));
    await event.wait();
    expect(() => event.getSyncFence()).toThrow(code("OP_FAILED"));
  });

  it("is closed once the execution has ended, and cannot be used afterwards", async () => {
    const { slow, open } = makeGated();
    const { execution, output } = await ready(slow);
    const event = execution.startCompute();
    const closing = event.close();
    await expect(event.wait()).rejects.toThrow(code("BAD_STATE"));
    expect(() => event.getSyncFence()).toThrow(code("BAD_STATE"));
    open();
    await closing;
    expect([...output]).toEqual([11, 22]);
    await event.close();
    {
      const other = await ready();
      await using started = other.execution.startCompute();
      expect(started).toBeInstanceOf(Event);
      expect([...other.output]).toEqual([0, 0]);
    }
  });
});

describe("an execution that is closed", () => {
  it("cannot be used any more", async () => {
    const { execution } = await ready();
    await execution.compute();
    execution.close();
    execution.close();
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    expect(() => execution.setInput(0, null)).toThrow("the execution is closed");
    await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
    expect(() => execution.startCompute()).toThrow(code("BAD_STATE"));
  });

  it("continues if it is running, and logs that", async () => {
    const { slow, open } = makeGated();
    const errors: string[] = [];
    const log = createLogger({ sink: ({ message }) => errors.push(message), properties: () => "" });
    log.initVLogMask();
    const compilation = new Compilation(addModel(), [slow], { log });
    await compilation.finish();
    const output = new Float32Array(2);
    let event: Event;
    {
      using execution = new Execution(compilation);
      execution.setInput(0, Float32Array.of(1, 2));
      execution.setInput(1, Float32Array.of(10, 20));
      execution.setOutput(0, output);
      event = execution.startCompute();
    }
    expect(errors).toEqual(["an execution was closed while it was running; it is not closed"]);
    open();
    await event.wait();
    expect([...output]).toEqual([11, 22]);
  });
});

describe("arguments", () => {
  it("that are missing are refused", async () => {
    const missing = JSON.parse("null");
    const absent = JSON.parse("{}").absent;
    const { execution } = await ready();
    expect(() => new Execution(missing)).toThrow(code("UNEXPECTED_NULL"));
    const fresh = new Execution(await compile(addModel(), [device]));
    expect(() => fresh.setInput(0, absent)).toThrow(code("UNEXPECTED_NULL"));
    expect(() => fresh.setOutput(0, absent)).toThrow(code("UNEXPECTED_NULL"));
    expect(() => fresh.setInput(0, new Float32Array(2), missing)).toThrow(code("UNEXPECTED_NULL"));
    await expect(execution.burstCompute(missing)).rejects.toThrow(code("UNEXPECTED_NULL"));
    await expect(execution.startComputeWithDependencies(missing)).rejects.toThrow(code("UNEXPECTED_NULL"));
    await expect(execution.startComputeWithDependencies([missing])).rejects.toThrow(code("UNEXPECTED_NULL"));
    await expect(execution.startComputeWithDependencies([JSON.parse("{}")])).rejects.toThrow(code("BAD_DATA"));
    await execution.compute();
  });

  it("that are omitted keep their known dimensions", async () => {
    const axes = { type: "TENSOR_INT32", dimensions: [2] } as const;
    const model = operationModel("TRANSPOSE", [float32(2, 3), axes], [], [float32(3, 2)]);
    const execution = new Execution(await compile(model, [device]));
    expect(() => execution.setInput(1, null, [3])).toThrow(code("BAD_DATA"));
    expect(() => execution.setOutput(0, null, [2, 3])).toThrow(code("BAD_DATA"));
    execution.setInput(1, null, [2]);
  });

  it("of scalars have no dimensions, and their outputs rank 0", async () => {
    const model = operationModel("RANK", [float32(2, 3)], [], [{ type: "INT32" }]);
    const execution = new Execution(await compile(model, [device]));
    const rank = new Int32Array(1);
    execution.setInput(0, new Float32Array(6));
    expect(() => execution.setOutput(0, rank, [1])).toThrow(code("BAD_DATA"));
    execution.setOutput(0, rank);
    await execution.compute();
    expect(rank[0]).toBe(2);
    expect(execution.getOutputOperandRank(0)).toBe(0);
    expect(() => execution.getOutputOperandDimensions(0)).toThrow(code("BAD_DATA"));
    expect(() => execution.getOutputOperandRank(1)).toThrow(code("BAD_DATA"));
    expect(() => execution.isOutputSufficient(-1)).toThrow(code("BAD_DATA"));
  });

  it("tell which output was too small", async () => {
    const parts = operationModel(
      "SPLIT",
      [float32(4)],
      [
        [{ type: "INT32" }, 0],
        [{ type: "INT32" }, 2],
      ],
      [float32(0), float32(0)],
    );
    const execution = new Execution(await compile(parts, [device]));
    execution.setInput(0, Float32Array.of(1, 2, 3, 4));
    execution.setOutput(0, new Float32Array(2));
    execution.setOutput(1, new Float32Array(1));
    await expect(execution.compute()).rejects.toThrow(code("OUTPUT_INSUFFICIENT_SIZE"));
    expect([0, 1].map((index) => execution.isOutputSufficient(index))).toEqual([true, false]);
    expect([0, 1].map((index) => execution.getOutputOperandDimensions(index))).toEqual([[2], [2]]);
  });
});
