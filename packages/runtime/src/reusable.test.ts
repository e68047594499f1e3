/**
 * Executions that are computed again, on devices that set them up once and on others.
 */
import { type Device, ErrorStatus, type PreparedModel } from "@nnhal/types";
import { createLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { Burst } from "./burst.ts";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { code, gate, withPrepared } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { addModel, compile, float32, openReference } from "./models.test-helper.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

/** A reusable execution of ADD, and its arrays. */
async function prepareAdd(on: Device = device, compilation?: Compilation) {
  const execution = new Execution(compilation ?? (await compile(addModel(), [on])));
  const left = Float32Array.of(1, 2);
  const output = new Float32Array(2);
  execution.setInput(0, left);
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, output);
  execution.setReusable(true);
  return { execution, left, output };
}

/** The reference with counted calls, and what they answer in place of its own. */
function countCalls(change: (own: PreparedModel) => Partial<PreparedModel> = () => ({})) {
  const calls = { created: 0, executed: 0, repeated: 0, closed: 0 };
  const counted = withPrepared(device, (own) => ({
    execute(...request) {
      calls.executed++;
      return own.execute(...request);
    },
    async createReusableExecution(...setUp) {
      calls.created++;
      const result = await own.createReusableExecution?.(...setUp);
      if (!result?.execution) throw new Error("the reference made no execution");
      const { execution } = result;
      return {
        ...result,
        execution: {
          executeFenced: execution.executeFenced,
          execute(times) {
            calls.repeated++;
            return execution.execute(times);
          },
          close() {
            calls.closed++;
          },
        },
      };
    },
    ...change(own),
  }));
  return { counted, calls };
}

describe("a reusable execution", () => {
  it("is set up once by the device, and computes what the inputs then hold", async () => {
    const { counted, calls } = countCalls();
    const { execution, left, output } = await prepareAdd(counted);
    for (const value of [1, 5, -3]) {
      left.fill(value);
      await execution.compute();
      expect([...output]).toEqual([value + 10, value + 20]);
      expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
    }
    expect(calls).toEqual({ created: 1, executed: 0, repeated: 3, closed: 0 });
    execution.close();
    await vi.waitFor(() => expect(calls.closed).toBe(1));
    await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
  });

  it("runs in every way, in turn", async () => {
    const compilation = await compile(addModel(), [device]);
    const { execution, left, output } = await prepareAdd(device, compilation);
    const burst = await Burst.create(compilation);
    const ways = [
      () => execution.compute(),
      () => execution.startCompute().wait(),
      () => execution.burstCompute(burst),
      async () => (await execution.startComputeWithDependencies([])).wait(),
    ];
    for (const [index, way] of [...ways, ...ways].entries()) {
      left.fill(index);
      await way();
      expect([...output]).toEqual([index + 10, index + 20]);
    }
    burst.close();
  });

  it.each([
    ["without the method", { createReusableExecution: undefined }],
    [
      "whose method refuses",
      { createReusableExecution: async () => ({ status: ErrorStatus.GENERAL_FAILURE, execution: null }) },
    ],
    ["whose method throws", { createReusableExecution: () => Promise.reject(new Error("planted")) }],
    [
      "whose method answers nothing",
      { createReusableExecution: async () => ({ status: ErrorStatus.NONE, execution: null }) },
    ],
  ] as const)("is repeated by ordinary executions on a device %s", async (_what, change) => {
    // A device without types.
    const { counted, calls } = countCalls(() => change as Partial<PreparedModel>);
    const { execution, left, output } = await prepareAdd(counted);
    for (const value of [1, 5]) {
      left.fill(value);
      await execution.compute();
      expect([...output]).toEqual([value + 10, value + 20]);
    }
    expect(calls.executed).toBe(2);
  });

  it("runs again after a run that has failed", async () => {
    let fail = true;
    const faulty = withPrepared(device, (own) => ({
      async createReusableExecution(...setUp) {
        const result = await own.createReusableExecution?.(...setUp);
        if (!result?.execution) throw new Error("the reference made no execution");
        const { execution } = result;
        const execute: typeof execution.execute = (times) =>
          fail ? Promise.reject(new Error("planted")) : execution.execute(times);
        return { ...result, execution: { ...execution, execute } };
      },
    }));
    const { execution, output } = await prepareAdd(faulty);
    await expect(execution.compute()).rejects.toThrow("execute threw: planted");
    expect(() => execution.getOutputOperandDimensions(0)).toThrow(code("BAD_STATE"));
    fail = false;
    await execution.compute();
    expect([...output]).toEqual([11, 22]);
  });

  it("falls back to the CPU in each run that fails on its device", async () => {
    const failing = withPrepared({ ...device, name: "it-fails" }, (own) => ({
      execute: async () => ({ ...(await own.execute({ inputs: [], outputs: [], pools: [] })), status: 2 }),
      async createReusableExecution(...setUp) {
        const result = await own.createReusableExecution?.(...setUp);
        const execution = result?.execution ?? null;
        if (execution === null) throw new Error("the reference made no execution");
        return { status: 0, execution: { ...execution, execute: () => Promise.reject(new Error("planted")) } };
      },
    }));
    const compilation = new Compilation(addModel(), [failing], { cpu: device, log: createLogger({ sink: () => {} }) });
    await compilation.finish();
    const { execution, left, output } = await prepareAdd(failing, compilation);
    for (const value of [1, 5]) {
      left.fill(value);
      await execution.compute();
      expect([...output]).toEqual([value + 10, value + 20]);
    }
  });

  it("measures and times each run", async () => {
    const { execution } = await prepareAdd();
    execution.setMeasureTiming(true);
    execution.setTimeout(10_000_000_000n);
    for (let run = 0; run < 3; run++) {
      await execution.compute();
      expect(execution.getDuration("inDriver")).toBeTypeOf("bigint");
    }
  });

  it("reads and writes the memories of an application in each run", async () => {
    const compilation = await compile(addModel(), [device]);
    const memory = Memory.allocate(24);
    const values = new Float32Array(memory.map().buffer, 0, 6);
    const execution = new Execution(compilation);
    execution.setReusable(true);
    execution.setInputFromMemory(0, memory, { offset: 0, length: 8 });
    execution.setInputFromMemory(1, memory, { offset: 8, length: 8 });
    execution.setOutputFromMemory(0, memory, { offset: 16, length: 8 });
    for (const value of [1, 2]) {
      values.set([value, value, 10, 20]);
      await execution.compute();
      expect([...values.subarray(4)]).toEqual([value + 10, value + 20]);
    }
    memory.close();
  });

  it("tells the shape of an output whose extents are unknown, in each run", async () => {
    const compilation = await compile(addModel(float32(0, 2)), [device]);
    const execution = new Execution(compilation);
    execution.setReusable(true);
    execution.setInput(0, Float32Array.of(1, 2), [1, 2]);
    execution.setInput(1, Float32Array.of(10, 20), [1, 2]);
    execution.setOutput(0, new Float32Array(4));
    for (let run = 0; run < 2; run++) {
      await execution.compute();
      expect(execution.getOutputOperandDimensions(0)).toEqual([1, 2]);
    }
  });

  it("refuses a second run at the same time, a change between runs, and results of the run under way", async () => {
    const { opened, open } = gate();
    const slow = withPrepared(
      device,
      (own) => ({ execute: async (...request) => opened.then(() => own.execute(...request)) }),
      "createReusableExecution",
    );
    const { execution } = await prepareAdd(slow);
    const running = execution.compute();
    await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
    expect(() => execution.startCompute()).toThrow(code("BAD_STATE"));
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
    open();
    await running;
    for (const change of [
      () => execution.setInput(0, new Float32Array(2)),
      () => execution.setOutput(0, new Float32Array(2)),
      () => execution.setReusable(false),
      () => execution.setLoopTimeout(1n),
      () => execution.enableInputAndOutputPadding(true),
    ]) {
      expect(change).toThrow(code("BAD_STATE"));
    }
    expect(execution.getOutputOperandRank(0)).toBe(1);
    await execution.compute();
  });

  it("is not what an execution is by default, nor after setReusable(false)", async () => {
    const { execution } = await prepareAdd();
    execution.setReusable(false);
    await execution.compute();
    await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
    expect(() => new Execution(new Compilation(addModel(), [device]))).toThrow(code("BAD_STATE"));
  });

  it("stops at a signal, and is BAD_STATE once its compilation is closed", async () => {
    const compilation = await compile(addModel(), [device]);
    const { execution } = await prepareAdd(device, compilation);
    const controller = new AbortController();
    execution.setSignal(controller.signal);
    await execution.compute();
    controller.abort();
    await expect(execution.compute()).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    compilation.close();
    await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
  });
});
