/**
 * Measured durations of executions, and their time limits.
 */
import { type Device, ErrorStatus, type ExecuteOptions, TIMING_NOT_MEASURED, type Timing } from "@nnhal/types";
import { createLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { Burst } from "./burst.ts";
import { Compilation } from "./compilation.ts";
import { defaultLoopTimeout, Execution, maximumLoopTimeout } from "./execution.ts";
import { code, half, withPrepared } from "./fakes.test-helper.ts";
import { Model } from "./model.ts";
import { addModel, float32, openReference } from "./models.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

const unknown: Timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
const codes = ["onHardware", "inDriver", "fencedOnHardware", "fencedInDriver"] as const;

/** A device that reports given times, and records the options of its calls. */
function makeMeasuring(launched: Timing, fenced: Timing = launched) {
  const asked: ExecuteOptions[] = [];
  const device = withPrepared(reference, ({ execute }) => ({
    async execute(request, options = {}) {
      asked.push(options);
      const result = await execute(request, options);
      return { ...result, timing: options.measure === 1 ? launched : unknown };
    },
    async executeFenced(request, _waitFor, options = {}) {
      asked.push(options);
      const { status } = await execute(request);
      const isMeasured = options.measure === 1;
      const info = {
        status,
        timingLaunched: isMeasured ? launched : unknown,
        timingFenced: isMeasured ? fenced : unknown,
      };
      return { status: ErrorStatus.NONE, syncFence: null, callback: { getExecutionInfo: async () => info } };
    },
    configureExecutionBurst: async () => ({ status: ErrorStatus.GENERAL_FAILURE, context: null }),
  }));
  return { asked, device };
}

async function ready(device: Device, options: ConstructorParameters<typeof Compilation>[2] = {}) {
  const compilation = new Compilation(addModel(), [device], options);
  await compilation.finish();
  const execution = new Execution(compilation);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, new Float32Array(2));
  return { compilation, execution };
}

const ways = {
  compute: (execution: Execution) => execution.compute(),
  startCompute: (execution: Execution) => execution.startCompute().wait(),
  burstCompute: async (execution: Execution, compilation: Compilation) =>
    execution.burstCompute(await Burst.create(compilation)),
  startComputeWithDependencies: async (execution: Execution) =>
    (await execution.startComputeWithDependencies([])).wait(),
} as const;
const wayNames = ["compute", "startCompute", "burstCompute", "startComputeWithDependencies"] as const;

describe.each(wayNames)("getDuration after %s", (way) => {
  const isFenced = way === "startComputeWithDependencies";

  it.each([
    ["both times", 3n, 5n, [3_000n, 5_000n]],
    ["the driver's alone", TIMING_NOT_MEASURED, 5n, [undefined, 5_000n]],
    ["the device's alone", 3n, TIMING_NOT_MEASURED, [3_000n, undefined]],
    ["neither", TIMING_NOT_MEASURED, TIMING_NOT_MEASURED, [undefined, undefined]],
  ] as const)("gives nanoseconds where the device tells %s", async (_, timeOnDevice, timeInDriver, expected) => {
    const fenced = { timeOnDevice: 1n, timeInDriver: 2n };
    const { device } = makeMeasuring({ timeOnDevice, timeInDriver }, isFenced ? fenced : undefined);
    const { compilation, execution } = await ready(device);
    execution.setMeasureTiming(true);
    await ways[way](execution, compilation);
    const expectedFenced = isFenced ? [1_000n, 2_000n] : expected;
    expect(codes.map((one) => execution.getDuration(one))).toEqual([...expected, ...expectedFenced]);
  });

  it("is refused if nothing was measured", async () => {
    const { asked, device } = makeMeasuring({ timeOnDevice: 3n, timeInDriver: 5n });
    const { compilation, execution } = await ready(device);
    execution.setMeasureTiming(true);
    execution.setMeasureTiming(false);
    await ways[way](execution, compilation);
    expect(asked.map(({ measure }) => measure)).toEqual([0]);
    for (const one of codes) expect(() => execution.getDuration(one)).toThrow(code("BAD_STATE"));
  });

  it("passes on the deadline, counted from the call, and the loop timeout", async () => {
    const { asked, device } = makeMeasuring(unknown);
    const { compilation, execution } = await ready(device, { now: () => 1_000n });
    execution.setTimeout(1_000_000_000_000_000_000n);
    execution.setLoopTimeout(7n);
    await ways[way](execution, compilation);
    expect(asked).toMatchObject([{ deadline: 1_000_000_000_000_001_000n, loopTimeoutDuration: 7n }]);
  });

  it("has neither deadline nor loop timeout if none is set", async () => {
    const { asked, device } = makeMeasuring(unknown);
    const { compilation, execution } = await ready(device);
    execution.setTimeout(9n);
    execution.setTimeout(0n);
    await ways[way](execution, compilation);
    expect(asked).toEqual([{ measure: 0 }]);
  });
});

describe("getDuration", () => {
  it("is refused for no code, before the end, and after a failure", async () => {
    const failing = withPrepared(reference, () => ({
      execute: async () => ({ status: ErrorStatus.GENERAL_FAILURE, outputShapes: [], timing: unknown }),
    }));
    const { execution } = await ready(failing);
    execution.setMeasureTiming(true);
    expect(() => execution.getDuration(JSON.parse("0"))).toThrow(code("BAD_DATA"));
    expect(() => execution.getDuration("inDriver")).toThrow(code("BAD_STATE"));
    await expect(execution.compute()).rejects.toThrow(code("OP_FAILED"));
    expect(() => execution.getDuration("inDriver")).toThrow(code("BAD_STATE"));
  });

  it("of the reference device has both", async () => {
    const { execution } = await ready(reference);
    execution.setMeasureTiming(true);
    await execution.compute();
    const [onHardware, inDriver] = codes.map((one) => execution.getDuration(one));
    expect(inDriver ?? -1n).toBeGreaterThanOrEqual(onHardware ?? 0n);
  });
});

describe("a setting for one explicit device", () => {
  it.each([
    ["several devices", () => [[reference, { ...reference, name: "other" }], {}] as const],
    ["fallback", () => [[], { cpu: reference }] as const],
  ])("is refused with %s", async (_, choose) => {
    const [devices, options] = choose();
    const compilation = new Compilation(addModel(), devices, options);
    await compilation.finish();
    const execution = new Execution(compilation);
    expect(() => execution.setMeasureTiming(true)).toThrow(code("BAD_DATA"));
    expect(() => execution.setTimeout(1n)).toThrow(code("BAD_DATA"));
    await expect(execution.startComputeWithDependencies([], 1n)).rejects.toThrow(code("BAD_DATA"));
  });
});

describe("timeouts", () => {
  it("are durations", async () => {
    const { execution } = await ready(reference);
    for (const wrong of [-1n, JSON.parse("1"), JSON.parse("null")]) {
      expect(() => execution.setTimeout(wrong)).toThrow(code("BAD_DATA"));
      expect(() => execution.setLoopTimeout(wrong)).toThrow(code("BAD_DATA"));
      await expect(execution.startComputeWithDependencies([], wrong)).rejects.toThrow(code("BAD_DATA"));
    }
    execution.setLoopTimeout(0n);
    await execution.compute();
  });

  it("of loops are at most 15 s, with a warning", async () => {
    expect([defaultLoopTimeout, maximumLoopTimeout]).toEqual([2_000_000_000n, 15_000_000_000n]);
    const { asked, device } = makeMeasuring(unknown);
    const warnings: string[] = [];
    const log = createLogger({ sink: ({ message }) => warnings.push(message), properties: () => "" });
    log.initVLogMask();
    const { execution } = await ready(device, { log });
    execution.setLoopTimeout(maximumLoopTimeout);
    expect(warnings).toEqual([]);
    execution.setLoopTimeout(maximumLoopTimeout + 1n);
    expect(warnings).toHaveLength(1);
    await execution.compute();
    expect(asked).toMatchObject([{ loopTimeoutDuration: maximumLoopTimeout }]);
  });

  it.each(wayNames)("that are over before %s end it with a missed deadline", async (way) => {
    const { compilation, execution } = await ready(reference, { now: () => 0n });
    execution.setTimeout(1n);
    const ended = ways[way](execution, compilation);
    await expect(ended).rejects.toThrow(code("MISSED_DEADLINE_PERSISTENT"));
  });
});

describe("setSignal", () => {
  /** A model of four operations, which two devices compute by turns, and the number of steps that have begun. */
  async function divide(onStep: (count: number) => void) {
    let steps = 0;
    const counting = withPrepared(reference, ({ execute }) => ({
      execute(request, options) {
        onStep(++steps);
        return execute(request, options);
      },
    }));
    const model = new Model();
    const first = model.addOperand(float32(2));
    let last = first;
    for (let index = 0; index < 4; index++) {
      const next = model.addOperand(float32(2));
      model.addOperation("NEG", [last], [next]);
      last = next;
    }
    model.identifyInputsAndOutputs([first], [last]);
    model.finish();
    const compilation = new Compilation(model, [half("even", counting, 0), half("odd", counting, 1)]);
    await compilation.finish();
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setOutput(0, new Float32Array(2));
    return { execution, stepsDone: () => steps };
  }

  it("ends an execution between the steps of several devices", async () => {
    const controller = new AbortController();
    const { execution, stepsDone } = await divide((count) => {
      if (count === 2) controller.abort();
    });
    execution.setSignal(controller.signal);
    await expect(execution.compute()).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    expect(stepsDone()).toBe(2);
  });

  it("changes nothing if it is not aborted, and ends an execution at once if it has been", async () => {
    const going = await divide(() => {});
    going.execution.setSignal(new AbortController().signal);
    await going.execution.compute();
    expect(going.stepsDone()).toBe(4);
    const { device, asked } = makeMeasuring(unknown);
    const { execution } = await ready(device);
    execution.setSignal(AbortSignal.abort());
    await expect(execution.compute()).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    expect(asked).toMatchObject([{ signal: { aborted: true } }]);
  });
});
