import { configureExecutionBurst } from "@nnhal/driver-core/burst";
import { allocateMemory, memoryOf } from "@nnhal/driver-core/memory";
import { androidPolicy } from "@nnhal/driver-core/partition";
import { collectUntil } from "@nnhal/test-kit/garbage";
import {
  type BurstResult,
  type Device,
  ErrorStatus,
  type Memory as HalMemory,
  type IBurstCallback,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { Burst } from "./burst.ts";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { code, faster, gate, half, turn, withPrepared } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import { addModel, compile, float32, openReference, operationModel } from "./models.test-helper.ts";
import { chain } from "./plan/divided.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

function ready(compilation: Compilation, x = 1) {
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(x, x));
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, output);
  return { execution, output };
}

/** A device that counts calls of execute, and the memories that a burst asks for. */
function makeCounting() {
  const seen = { ordinary: 0, forgotten: 0, closed: 0, memories: new Set<HalMemory>() };
  const device = withPrepared(reference, (own) => ({
    async execute(...request) {
      seen.ordinary++;
      return own.execute(...request);
    },
    async configureExecutionBurst(callback, ...channels): Promise<BurstResult> {
      const watched: IBurstCallback | null = callback && {
        async getMemories(slots) {
          const answer = await callback.getMemories(slots);
          for (const memory of answer.buffers) seen.memories.add(memory);
          return answer;
        },
      };
      const result = await own.configureExecutionBurst?.(watched, ...channels);
      const { context } = result ?? {};
      if (!result || !context) return { status: ErrorStatus.GENERAL_FAILURE, context: null };
      return {
        ...result,
        context: {
          freeMemory(slot) {
            seen.forgotten++;
            return context.freeMemory(slot);
          },
          close() {
            seen.closed++;
            context.close?.();
          },
        },
      };
    },
  }));
  return { seen, device };
}

/** Bytes of a queue of the default capacity. */
const queueSize = (64 + 8 * 1024) * 4;

/** A device behind a connection: it sees only the memory that it has made. Counts ordinary executions and memories. */
function elsewhere(change: { allocate?: (size: number) => HalMemory } = {}) {
  const seen = { ordinary: 0, queues: 0, staged: 0 };
  const shared = new WeakSet<HalMemory>();
  const allocate = (size: number) => {
    if (size === queueSize) seen.queues++;
    else seen.staged++;
    const memory = allocateMemory(size);
    shared.add(memory);
    return memory;
  };
  const device = withPrepared(reference, (own) => ({
    sharedMemory: { allocate, ...change },
    async execute(...request) {
      seen.ordinary++;
      return own.execute(...request);
    },
    async configureExecutionBurst(callback, requests, results): Promise<BurstResult> {
      // The service is in another process: there is no way but the queues.
      const isSeen = shared.has(requests.memory) && shared.has(results.memory);
      const message = "a queue lies in memory of this process alone";
      if (!isSeen) return { status: ErrorStatus.INVALID_ARGUMENT, message, context: null };
      const result = await own.configureExecutionBurst?.(callback, requests, results);
      if (!result?.context) return { status: ErrorStatus.GENERAL_FAILURE, context: null };
      const { context } = result;
      const refuseMemory = (memory: HalMemory) => (shared.has(memory) ? undefined : "the connection copies the memory");
      return {
        ...result,
        context: { freeMemory: (slot) => context.freeMemory(slot), close: () => context.close?.() },
        refuseMemory,
      };
    },
  }));
  return { seen, device };
}

describe("Burst of a device in another process", () => {
  it("has its queues in memory that the device makes, and so the values of arrays", async () => {
    const { seen, device } = elsewhere();
    const compilation = await compile(addModel(), [device]);
    const burst = await Burst.create(compilation);
    for (const x of [1, 2, 3]) {
      const { execution, output } = ready(compilation, x);
      await execution.burstCompute(burst);
      expect([...output]).toEqual([10 + x, 20 + x]);
    }
    expect(seen).toEqual({ ordinary: 0, queues: 2, staged: 1 });
    burst.close();
  });

  it("takes more memory for larger arrays", async () => {
    const { seen, device } = elsewhere();
    const vector = { type: "TENSOR_FLOAT32", dimensions: [0] } as const;
    const model = operationModel("RELU", [vector], [], [vector]);
    const compilation = await compile(model, [device]);
    const burst = await Burst.create(compilation);
    for (const count of [2, 400, 2000, 3]) {
      const execution = new Execution(compilation);
      const output = new Float32Array(count);
      execution.setInput(
        0,
        Float32Array.from({ length: count }, (_, index) => index - 1),
        [count],
      );
      execution.setOutput(0, output);
      await execution.burstCompute(burst);
      expect([...output]).toEqual(Array.from({ length: count }, (_, index) => Math.max(0, index - 1)));
    }
    expect(seen).toMatchObject({ ordinary: 0, staged: 2 });
    burst.close();
  });

  it("leaves requests with memories that the device does not see to ordinary executions", async () => {
    const { seen, device } = elsewhere();
    const compilation = await compile(addModel(), [device]);
    const burst = await Burst.create(compilation);
    const memory = Memory.from(memoryOf(new Uint8Array(Float32Array.of(1, 2).buffer)));
    const execution = new Execution(compilation);
    const output = new Float32Array(2);
    execution.setInputFromMemory(0, memory);
    execution.setInput(1, Float32Array.of(10, 20));
    execution.setOutput(0, output);
    await execution.burstCompute(burst);
    expect([...output]).toEqual([11, 22]);
    expect(seen.ordinary).toBe(1);
    burst.close();
  });

  it.each<[string, (size: number) => HalMemory]>([
    [
      "throws",
      () => {
        throw new Error("no memory today");
      },
    ],
    ["makes memory that is too small", (size) => allocateMemory(size - 1)],
    // A device without types.
    ["makes nothing", () => undefined as unknown as HalMemory],
  ])("executes without queues if the device %s", async (_what, allocate) => {
    const { seen, device } = elsewhere({ allocate });
    const compilation = await compile(addModel(), [device]);
    const burst = await Burst.create(compilation);
    const { execution, output } = ready(compilation);
    await execution.burstCompute(burst);
    expect([...output]).toEqual([11, 21]);
    expect(seen.ordinary).toBe(1);
    burst.close();
  });
});

describe("Burst", () => {
  it("runs executions through the device's queues, one after the other", async () => {
    const { seen, device } = makeCounting();
    const compilation = await compile(addModel(), [device]);
    const burst = await Burst.create(compilation);
    for (const x of [1, 2, 3]) {
      const { execution, output } = ready(compilation, x);
      await execution.burstCompute(burst);
      expect([...output]).toEqual([10 + x, 20 + x]);
      expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
    }
    expect(seen.ordinary).toBe(0);
    burst.close();
    burst.close();
  });

  it("lets the device remember memories until they are closed or collected, and never callers' arrays", async () => {
    const { seen, device } = makeCounting();
    const compilation = await compile(addModel(), [device]);
    using burst = await Burst.create(compilation);
    const memory = Memory.allocate(8);
    for (let round = 0; round < 3; round++) {
      const execution = new Execution(compilation);
      execution.setInputFromMemory(0, memory);
      execution.setInput(1, Float32Array.of(1, 2));
      execution.setOutput(0, new Float32Array(2));
      await execution.burstCompute(burst);
    }
    // The memory once, and two arrays each time.
    expect(seen.memories.size).toBe(1 + 3 * 2);
    await turn();
    expect(seen.forgotten).toBe(3 * 2);
    memory.close();
    await turn();
    expect(seen.forgotten).toBe(3 * 2 + 1);
    await (async () => {
      const execution = new Execution(compilation);
      execution.setInputFromMemory(0, Memory.allocate(8));
      execution.setInputFromMemory(1, Memory.allocate(8));
      execution.setOutput(0, new Float32Array(2));
      await execution.burstCompute(burst);
    })();
    expect(seen.forgotten).toBe(3 * 2 + 1 + 1);
    await collectUntil(() => seen.forgotten === 3 * 2 + 1 + 1 + 2);
    expect(seen.forgotten).toBe(3 * 2 + 1 + 1 + 2);
  });

  it("passes executions directly to a device in this thread, which asks for no memory", async () => {
    const getMemories = vi.fn();
    const device = withPrepared(reference, (own) => ({
      async configureExecutionBurst(_callback, ...channels): Promise<BurstResult> {
        const none = { status: ErrorStatus.GENERAL_FAILURE, context: null };
        return (await own.configureExecutionBurst?.({ getMemories }, ...channels)) ?? none;
      },
      execute: async () => Promise.reject(new Error("the ordinary way")),
    }));
    const compilation = await compile(addModel(), [device]);
    using burst = await Burst.create(compilation);
    for (const x of [1, 2, 3]) {
      const { execution, output } = ready(compilation, x);
      await execution.burstCompute(burst);
      expect([...output]).toEqual([10 + x, 20 + x]);
    }
    expect(getMemories).not.toHaveBeenCalled();
  });

  it("executes requests that bursts cannot carry without a burst", async () => {
    const { seen, device } = makeCounting();
    const compilation = await compile(addModel(), [device]);
    using burst = await Burst.create(compilation);
    const timed = ready(compilation);
    timed.execution.setTimeout(10n ** 18n);
    await timed.execution.burstCompute(burst);
    expect([...timed.output]).toEqual([11, 21]);
    const looped = ready(compilation);
    looped.execution.setLoopTimeout(10n ** 9n);
    await looped.execution.burstCompute(burst);
    expect(seen.ordinary).toBe(2);
    const desc = new MemoryDesc();
    desc.addOutputRole(compilation, 0);
    desc.addInputRole(compilation, 0);
    desc.finish();
    const memory = await Memory.createFromDesc(desc);
    const into = new Execution(compilation);
    into.setInput(0, Float32Array.of(1, 2));
    into.setInput(1, Float32Array.of(1, 1));
    into.setOutputFromMemory(0, memory);
    await into.burstCompute(burst);
    expect(seen.ordinary).toBe(3);
    const plain = Memory.allocate(8);
    await Memory.copy(memory, plain);
    expect([...new Float32Array(plain.map().slice().buffer)]).toEqual([2, 3]);
  });

  it("executes without a burst if the device has none", async () => {
    const none = withPrepared(reference, () => ({
      configureExecutionBurst: async () => ({ status: ErrorStatus.GENERAL_FAILURE, context: null }),
    }));
    const lacking = withPrepared(reference, () => ({}), "configureExecutionBurst");
    for (const device of [none, lacking]) {
      const compilation = await compile(addModel(), [device]);
      using burst = await Burst.create(compilation);
      const { execution, output } = ready(compilation);
      await execution.burstCompute(burst);
      expect([...output]).toEqual([11, 21]);
    }
    const divided = await compile(chain(), [half("even", reference, 0), half("odd", reference, 1)]);
    expect(divided.plan.steps).toHaveLength(3);
    using burst = await Burst.create(divided);
    const execution = new Execution(divided);
    const output = new Float32Array(2);
    execution.setInput(0, Float32Array.of(1.5, -1.5));
    execution.setOutput(0, output);
    await execution.burstCompute(burst);
    expect([...output]).toEqual([-1, -2]);
  });

  it("reports a failure, and continues afterwards", async () => {
    const indices = { type: "TENSOR_INT32", dimensions: [1] } as const;
    const lookup = operationModel("EMBEDDING_LOOKUP", [indices, float32(3, 1)], [], [float32(1, 0)]);
    const compilation = await compile(lookup, [reference]);
    using burst = await Burst.create(compilation);
    const run = async (index: number, length: number) => {
      const execution = new Execution(compilation);
      const output = new Float32Array(length);
      execution.setInput(0, Int32Array.of(index));
      execution.setInput(1, Float32Array.of(1, 2, 3));
      execution.setOutput(0, output);
      await execution.burstCompute(burst);
      return [...output];
    };
    await expect(run(3, 1)).rejects.toThrow(code("OP_FAILED"));
    await expect(run(2, 0)).rejects.toThrow(code("OUTPUT_INSUFFICIENT_SIZE"));
    await expect(run(2, 1)).resolves.toEqual([3]);
  });

  it("runs a failed execution again on the CPU if that is allowed", async () => {
    const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
    const execute = async () => ({ status: ErrorStatus.GENERAL_FAILURE, message: "broken", outputShapes: [], timing });
    const failing = withPrepared(reference, () => ({
      execute,
      configureExecutionBurst: async (...request) => configureExecutionBurst({ execute }, ...request),
    }));
    const told: string[] = [];
    const compilation = new Compilation(addModel(), [faster("failing", failing)], {
      policy: androidPolicy,
      cpu: reference,
      onFallback: (message) => told.push(message),
    });
    await compilation.finish();
    expect(compilation.deviceNames).toEqual(["failing"]);
    using burst = await Burst.create(compilation);
    const { execution, output } = ready(compilation);
    await execution.burstCompute(burst);
    expect([...output]).toEqual([11, 21]);
    expect(told).toHaveLength(1);
  });

  it("ends once it is garbage-collected, and when it is closed", async () => {
    const { seen, device } = makeCounting();
    const compilation = await compile(addModel(), [device]);
    (await Burst.create(compilation)).close();
    await turn();
    expect(seen.closed).toBe(1);
    await (async () => Burst.create(compilation))();
    await collectUntil(() => seen.closed === 2);
    expect(seen.closed).toBe(2);
  });

  describe("refuses", () => {
    it("compilations that are missing or not finished", async () => {
      await expect(Burst.create(JSON.parse("null"))).rejects.toThrow(code("UNEXPECTED_NULL"));
      await expect(Burst.create(new Compilation(addModel(), [reference]))).rejects.toThrow(code("BAD_STATE"));
      const observed = new Compilation(addModel(), [reference], { onStep: () => {} });
      await expect(Burst.create(observed)).rejects.toThrow(code("BAD_STATE"));
    });

    it("executions of another compilation, two at once, and any after it is closed", async () => {
      const { opened, open } = gate();
      const slow = withPrepared(reference, (own) => ({
        async execute(...request) {
          await opened;
          return own.execute(...request);
        },
        configureExecutionBurst: async () => ({ status: ErrorStatus.GENERAL_FAILURE, context: null }),
      }));
      const compilation = await compile(addModel(), [slow]);
      const burst = await Burst.create(compilation);
      const other = ready(await compile(addModel(), [reference]));
      await expect(other.execution.burstCompute(burst)).rejects.toThrow(code("BAD_DATA"));
      await other.execution.compute();
      const [first, second] = [ready(compilation), ready(compilation)];
      const running = first.execution.burstCompute(burst);
      await expect(second.execution.burstCompute(burst)).rejects.toThrow("the burst runs another execution");
      await expect(second.execution.burstCompute(burst)).rejects.toThrow(code("BAD_STATE"));
      burst.close();
      open();
      await running;
      expect([...first.output]).toEqual([11, 21]);
      await expect(second.execution.burstCompute(burst)).rejects.toThrow("the burst is closed");
      // The refusals have left it as it was.
      await second.execution.compute();
      await expect(second.execution.burstCompute(burst)).rejects.toThrow(code("BAD_STATE"));
      await expect(new Execution(compilation).burstCompute(burst)).rejects.toThrow(code("BAD_DATA"));
    });
  });
});
