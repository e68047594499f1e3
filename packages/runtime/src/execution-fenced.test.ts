/**
 * Executions that depend on others: startComputeWithDependencies, with and without fences of the device.
 */
import { createFence } from "@nnhal/driver-core/fence";
import { androidPolicy } from "@nnhal/driver-core/partition";
import { type Device, ErrorStatus, type FencedResult, type SyncFence, TIMING_NOT_MEASURED } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Event } from "./event.ts";
import { Execution } from "./execution.ts";
import { code, faster, gate, half, turn, withPrepared } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import { addModel, compile, float32, openReference } from "./models.test-helper.ts";
import { chain } from "./plan/divided.test-helper.ts";

let reference: Device;
/** Without executeFenced. */
let plain: Device;
beforeAll(async () => {
  reference = await openReference();
  plain = withPrepared(reference, () => ({}), "executeFenced");
});

function ready(compilation: Compilation) {
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, output);
  return { execution, output };
}

const unmeasured = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
const broken = {
  status: ErrorStatus.GENERAL_FAILURE,
  message: "broken",
  outputShapes: [],
  timing: unmeasured,
} as const;

describe.each(["with", "without"])("a device %s fences", (kind) => {
  const device = () => (kind === "with" ? reference : plain);

  it("executes once all its dependencies have ended", async () => {
    const compilation = await compile(addModel(), [device()]);
    const [first, second] = [createFence(), createFence()];
    const { execution, output } = ready(compilation);
    const event = await execution.startComputeWithDependencies([
      Event.createFromSyncFence(first.fence),
      Event.createFromSyncFence(second.fence),
    ]);
    first.signal();
    await turn();
    expect([...output]).toEqual([0, 0]);
    expect(event.getSyncFence().state).toBe("ACTIVE");
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    second.signal();
    await event.wait();
    expect([...output]).toEqual([11, 22]);
    expect(event.getSyncFence().state).toBe("SIGNALED");
    expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
    await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
  });

  it("executes after an execution that was started without fences", async () => {
    const compilation = await compile(addModel(), [device()]);
    const first = ready(compilation);
    const second = new Execution(compilation);
    const output = new Float32Array(2);
    second.setInput(0, first.output);
    second.setInput(1, first.output);
    second.setOutput(0, output);
    const started = first.execution.startCompute();
    const event = await second.startComputeWithDependencies([started]);
    await event.wait();
    expect([...output]).toEqual([22, 44]);
  });

  it("fails if a dependency fails later, with everything that depends on it", async () => {
    const compilation = await compile(addModel(), [device()]);
    const { fence, fail } = createFence();
    const [first, second] = [ready(compilation), ready(compilation)];
    const event = await first.execution.startComputeWithDependencies([Event.createFromSyncFence(fence)]);
    const after = await second.execution.startComputeWithDependencies([event]);
    fail();
    await expect(event.wait()).rejects.toThrow(code("OP_FAILED"));
    await expect(after.wait()).rejects.toThrow(code("OP_FAILED"));
    expect(event.getSyncFence().state).toBe("ERROR");
    expect([...second.output]).toEqual([0, 0]);
    for (const { execution } of [first, second]) {
      expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    }
  });

  it("refuses a dependency that has failed already", async () => {
    const compilation = await compile(addModel(), [device()]);
    const { fence, fail } = createFence();
    fail();
    const { execution } = ready(compilation);
    const refused = execution.startComputeWithDependencies([Event.createFromSyncFence(fence)]);
    await expect(refused).rejects.toThrow(code("BAD_DATA"));
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
  });

  it("measures from the start, and from the end of its dependencies", async () => {
    const compilation = await compile(addModel(), [device()]);
    const { fence, signal } = createFence();
    const { execution } = ready(compilation);
    execution.setMeasureTiming(true);
    const event = await execution.startComputeWithDependencies([Event.createFromSyncFence(fence)]);
    await turn();
    signal();
    await event.wait();
    const [launched, fenced] = [execution.getDuration("inDriver"), execution.getDuration("fencedInDriver")];
    expect(launched ?? -1n).toBeGreaterThanOrEqual(fenced ?? 0n);
  });

  it("misses its deadline while it waits, or by its duration afterwards", async () => {
    const compilation = await compile(addModel(), [device()]);
    const waiting = ready(compilation);
    // Long enough for the launch on a slow machine.
    waiting.execution.setTimeout(100_000_000n);
    const never = Event.createFromSyncFence(createFence().fence);
    const late = await waiting.execution.startComputeWithDependencies([never]);
    await expect(late.wait()).rejects.toThrow(code("MISSED_DEADLINE_PERSISTENT"));
    const { fence, signal } = createFence();
    const short = ready(compilation);
    const event = await short.execution.startComputeWithDependencies([Event.createFromSyncFence(fence)], 1n);
    signal();
    await expect(event.wait()).rejects.toThrow(/deadline/);
    await expect(event.wait()).rejects.toMatchObject({ code: expect.toSatisfy((one) => one === 10 || one === 11) });
  });

  it("refuses outputs whose dimensions are not known", async () => {
    const compilation = await compile(addModel(float32(0), float32(0), float32(0)), [device()]);
    const execution = new Execution(compilation);
    const output = new Float32Array(2);
    execution.setInput(0, Float32Array.of(1, 2), [2]);
    execution.setInput(1, Float32Array.of(1, 2), [2]);
    execution.setOutput(0, output);
    await expect(execution.startComputeWithDependencies([])).rejects.toThrow(code("BAD_DATA"));
    // The refusal has not changed the execution.
    await execution.compute();
    const known = new Execution(compilation);
    known.setInput(0, Float32Array.of(1, 2), [2]);
    known.setInput(1, Float32Array.of(1, 2), [2]);
    known.setOutput(0, output, [2]);
    await (await known.startComputeWithDependencies([])).wait();
    expect(known.getOutputOperandDimensions(0)).toEqual([2]);
  });

  it("reads a memory that an execution before it writes", async () => {
    const compilation = await compile(addModel(), [device()]);
    const desc = new MemoryDesc();
    desc.addOutputRole(compilation, 0);
    desc.addInputRole(compilation, 0);
    desc.finish();
    const memory = await Memory.createFromDesc(desc);
    const { opened, open } = gate();
    const first = new Execution(compilation);
    first.setInput(0, Float32Array.of(1, 2));
    first.setInput(1, Float32Array.of(1, 1));
    first.setOutputFromMemory(0, memory);
    const second = new Execution(compilation);
    const output = new Float32Array(2);
    second.setInputFromMemory(0, memory);
    second.setInput(1, Float32Array.of(10, 10));
    second.setOutput(0, output);
    const { fence, signal } = createFence();
    void opened.then(signal);
    const event = await first.startComputeWithDependencies([Event.createFromSyncFence(fence)]);
    const after = await second.startComputeWithDependencies([event]);
    open();
    await after.wait();
    expect([...output]).toEqual([12, 13]);
    await event.wait();
    // There are no dependencies, so the missing value of the memory is found immediately.
    const other = new Execution(compilation);
    other.setInputFromMemory(0, await Memory.createFromDesc(desc));
    other.setInput(1, Float32Array.of(10, 10));
    other.setOutput(0, output);
    await expect(other.startComputeWithDependencies([])).rejects.toThrow(code("OP_FAILED"));
  });
});

describe("a memory that was written behind a fence", () => {
  it("can be read as soon as the fence is signalled", async () => {
    const compilation = await compile(addModel(), [reference]);
    const desc = new MemoryDesc();
    desc.addOutputRole(compilation, 0);
    desc.addInputRole(compilation, 0);
    desc.finish();
    const memory = await Memory.createFromDesc(desc);
    const [writing, reading] = [new Execution(compilation), new Execution(compilation)];
    const output = new Float32Array(2);
    writing.setInput(0, Float32Array.of(1, 2));
    writing.setInput(1, Float32Array.of(1, 1));
    writing.setOutputFromMemory(0, memory);
    reading.setInputFromMemory(0, memory);
    reading.setInput(1, Float32Array.of(0, 0));
    reading.setOutput(0, output);
    const { fence, signal } = createFence();
    const event = await writing.startComputeWithDependencies([Event.createFromSyncFence(fence)]);
    signal();
    await event.getSyncFence().wait();
    await (await reading.startComputeWithDependencies([event])).wait();
    expect([...output]).toEqual([2, 3]);
  });
});

describe("startComputeWithDependencies", () => {
  it("refuses a closed event and a second start", async () => {
    const compilation = await compile(addModel(), [reference]);
    const { execution } = ready(compilation);
    const closed = Event.createFromSyncFence(createFence().fence);
    void closed.close();
    await expect(execution.startComputeWithDependencies([closed])).rejects.toThrow(code("BAD_STATE"));
    await execution.startComputeWithDependencies([]);
    await expect(execution.startComputeWithDependencies([])).rejects.toThrow(code("BAD_STATE"));
    const incomplete = new Execution(compilation);
    await expect(incomplete.startComputeWithDependencies([])).rejects.toThrow("input 0 is not set");
  });

  it("runs a model over several devices, step by step", async () => {
    const compilation = await compile(chain(), [half("even", reference, 0), half("odd", reference, 1)]);
    expect(compilation.plan.steps).toHaveLength(3);
    const execution = new Execution(compilation);
    const output = new Float32Array(2);
    execution.setInput(0, Float32Array.of(1.5, -1.5));
    execution.setOutput(0, output);
    const { fence, signal } = createFence();
    const event = await execution.startComputeWithDependencies([Event.createFromSyncFence(fence)]);
    signal();
    await event.wait();
    expect([...output]).toEqual([-1, -2]);
  });

  it("falls back to the CPU if a device refuses, and only if that is allowed", async () => {
    const refusing = withPrepared(reference, () => ({
      executeFenced: async (): Promise<FencedResult> => ({ ...broken, syncFence: null, callback: null }),
      execute: async () => broken,
    }));
    const alone = ready(await compile(addModel(), [refusing]));
    await expect(alone.execution.startComputeWithDependencies([])).rejects.toThrow(code("OP_FAILED"));
    expect(() => alone.execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    const told: string[] = [];
    const backed = new Compilation(addModel(), [faster("refusing", refusing)], {
      policy: androidPolicy,
      cpu: reference,
      onFallback: (message) => told.push(message),
    });
    await backed.finish();
    expect(backed.deviceNames).toEqual(["refusing"]);
    const { execution, output } = ready(backed);
    const event = await execution.startComputeWithDependencies([]);
    await event.wait();
    expect([...output]).toEqual([11, 22]);
    expect(told).toHaveLength(1);
  });

  it.each<[string, () => Promise<FencedResult>]>([
    ["throws", () => Promise.reject(new Error("driver bug"))],
    ["answers NONE and no callback", async () => ({ status: ErrorStatus.NONE, syncFence: null, callback: null })],
  ])("fails if a device %s", async (_, executeFenced) => {
    const { execution } = ready(await compile(addModel(), [withPrepared(reference, () => ({ executeFenced }))]));
    await expect(execution.startComputeWithDependencies([])).rejects.toThrow(code("OP_FAILED"));
  });

  it.each<[string, SyncFence["state"] | "throws", ErrorStatus | "throws", keyof typeof codes]>([
    ["the fence fails and the callback says why", "ERROR", ErrorStatus.MISSED_DEADLINE_TRANSIENT, "missed"],
    ["the fence fails and the callback says NONE", "ERROR", ErrorStatus.NONE, "failed"],
    ["the fence fails and the callback throws", "ERROR", "throws", "failed"],
    ["the fence is signalled and the callback says it failed", "SIGNALED", ErrorStatus.INVALID_ARGUMENT, "bad"],
    ["the fence is signalled and the callback throws", "SIGNALED", "throws", "failed"],
    ["waiting for the fence throws", "throws", ErrorStatus.NONE, "failed"],
  ])("reports by the event that %s", async (_, state, status, expected) => {
    const fence: SyncFence = {
      state: "ACTIVE",
      wait: async () => {
        if (state === "throws") throw new Error("gone");
        return state;
      },
    };
    const getExecutionInfo = async () => {
      if (status === "throws") throw new Error("gone");
      return { status, timingLaunched: unmeasured, timingFenced: unmeasured };
    };
    const device = withPrepared(reference, () => ({
      executeFenced: async () => ({ status: ErrorStatus.NONE, syncFence: fence, callback: { getExecutionInfo } }),
    }));
    const { execution } = ready(await compile(addModel(), [device]));
    const event = await execution.startComputeWithDependencies([]);
    await expect(event.wait()).rejects.toThrow(code(codes[expected]));
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
  });
});

const codes = { missed: "MISSED_DEADLINE_TRANSIENT", failed: "OP_FAILED", bad: "BAD_DATA" } as const;

describe("Event.createFromSyncFence", () => {
  it("waits for the fence, and returns it", async () => {
    const { fence, signal } = createFence();
    const event = Event.createFromSyncFence(fence);
    expect(event.getSyncFence()).toBe(fence);
    signal();
    await event.wait();
  });

  it.each<[string, SyncFence]>([
    ["fails", { state: "ERROR", wait: async () => "ERROR" }],
    ["is unknown", { state: "UNKNOWN", wait: async () => "UNKNOWN" }],
    ["throws", { state: "ACTIVE", wait: () => Promise.reject(new Error("gone")) }],
  ])("is OP_FAILED if the fence %s", async (_, fence) => {
    await expect(Event.createFromSyncFence(fence).wait()).rejects.toThrow(code("OP_FAILED"));
  });

  it("refuses a value that is not a fence", () => {
    expect(() => Event.createFromSyncFence(JSON.parse("null"))).toThrow(code("UNEXPECTED_NULL"));
    for (const wrong of ["-1", "{}", '{"state":"ACTIVE"}']) {
      expect(() => Event.createFromSyncFence(JSON.parse(wrong))).toThrow(code("BAD_DATA"));
    }
  });
});
