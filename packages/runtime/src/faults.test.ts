/**
 * The runtime survives any behaviour of a device: a device that throws, rejects or answers nonsense has failed, like one that answers
 * GENERAL_FAILURE.
 */
import { androidPolicy } from "@nnhal/driver-core/partition";
import { type Device, ErrorStatus } from "@nnhal/types";
import { createLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { Burst } from "./burst.ts";
import { Compilation, type CompilationOptions } from "./compilation.ts";
import { registerDevices } from "./devices.ts";
import { Execution } from "./execution.ts";
import { code, faster, half } from "./fakes.test-helper.ts";
import { type Fault, failure, faulty, type Part, unknownStatus } from "./faults.test-helper.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import type { Model } from "./model.ts";
import { addModel, openReference } from "./models.test-helper.ts";
import { chain } from "./plan/divided.test-helper.ts";
import { NeuralNetworksError } from "./result-code.ts";

const { NONE, INVALID_ARGUMENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
let reference: Device;
let fast: Device;
beforeAll(async () => {
  reference = await openReference();
  fast = faster("fast", reference);
});

const answers = (answer: unknown): Fault => ({ answers: answer });
const ok = { status: NONE };
const timing = { timeOnDevice: 0n, timeInDriver: 0n };
const shape = { dimensions: [2], isSufficient: true };

/** Faults of a method with which the model is still planned for the device. */
const failing: readonly (readonly [name: string, part: Part, method: string, fault: Fault])[] = [
  ...(["throws", "rejects"] as const).flatMap((fault) => [
    [`prepareModel ${fault}`, "device", "prepareModel", fault] as const,
    [`execute ${fault}`, "model", "execute", fault] as const,
  ]),
  ["prepareModel fails", "device", "prepareModel", answers({ ...failure, preparedModel: null })],
  ["prepareModel refuses", "device", "prepareModel", answers({ status: INVALID_ARGUMENT, preparedModel: null })],
  ["prepareModel has no status", "device", "prepareModel", answers(unknownStatus)],
  ["prepareModel has no model", "device", "prepareModel", answers(ok)],
  ["execute fails", "model", "execute", answers({ ...failure, outputShapes: [], timing })],
  ["execute has no status", "model", "execute", answers(unknownStatus)],
  ["execute has no shapes", "model", "execute", answers({ ...ok, outputShapes: [], timing })],
  ["execute has no list of shapes", "model", "execute", answers({ ...ok, timing })],
  [
    "execute is not sufficient",
    "model",
    "execute",
    answers({ ...ok, outputShapes: [{ ...shape, isSufficient: false }] }),
  ],
  ["execute is too small", "model", "execute", answers({ status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [] })],
  [
    "execute has another rank",
    "model",
    "execute",
    answers({ ...ok, outputShapes: [{ ...shape, dimensions: [2, 1] }] }),
  ],
];

async function compile(model: Model, devices: readonly Device[], options: CompilationOptions = {}) {
  const compilation = new Compilation(model, devices, { policy: androidPolicy, ...options });
  await compilation.finish();
  return compilation;
}

/** An execution of the chain, and its output. */
function makeExecuting(compilation: Compilation) {
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(-1.5, 2.5));
  execution.setOutput(0, output);
  return { execution, output };
}

describe.each(failing)("a device whose %s", (_, part, method, fault) => {
  it("falls back to the CPU", async () => {
    const told: string[] = [];
    const device = faulty(fast, part, method, fault);
    const compilation = await compile(chain(), [device], { cpu: reference, onFallback: (one) => told.push(one) });
    const { execution, output } = makeExecuting(compilation);
    await execution.compute();
    expect([...output]).toEqual([-2, -2]);
    expect(told).toHaveLength(1);
  });

  it("falls back in each step of a plan", async () => {
    const told: string[] = [];
    const devices = [half("even", faulty(fast, part, method, fault), 0), half("odd", fast, 1)];
    const compilation = await compile(chain(), devices, { cpu: reference, onFallback: (one) => told.push(one) });
    const { execution, output } = makeExecuting(compilation);
    await execution.compute();
    expect([...output]).toEqual([-2, -2]);
    expect(told.length).toBeGreaterThan(0);
  });

  it("is an error of the project's own without one", async () => {
    const run = async () => {
      const { execution } = makeExecuting(await compile(chain(), [faulty(fast, part, method, fault)]));
      await execution.compute();
    };
    await expect(run()).rejects.toBeInstanceOf(NeuralNetworksError);
    await expect(run()).rejects.toThrow(/faulty|failed/);
  });
});

/** A logger, and its messages. */
function listen() {
  const lines: string[] = [];
  const log = createLogger({
    sink: ({ severity, message }) => lines.push(`${severity}: ${message}`),
    properties: () => "",
  });
  log.initVLogMask();
  return { lines, log };
}

describe("a device that does not report what it supports", () => {
  it.each<[string, Fault, string]>([
    ["throws", "throws", "getSupportedOperations threw: planted"],
    ["answers too few", answers({ ...ok, supported: [true], reasons: [] }), "booleans, got 1 entries"],
  ])("and %s supports nothing, and is named in the log and in the plan", async (_, fault, rule) => {
    const { lines, log } = listen();
    const device = faulty(fast, "device", "getSupportedOperations", fault);
    const compilation = await compile(chain(), [device, reference], { log });
    expect(compilation.deviceNames).toEqual([reference.name]);
    for (const { candidates } of compilation.plan.choices) {
      expect(candidates[0]).toMatchObject({ supported: false, reason: expect.stringContaining(rule) });
    }
    expect(lines).toEqual([expect.stringContaining("warning: device faulty supports no operation of the model")]);
    await expect(compile(chain(), [device], { log })).rejects.toThrow(rule);
    const model = chain();
    expect(await model.getSupportedOperationsForDevices([device, reference])).toEqual([true, true, true]);
    expect(await model.getSupportedOperationsForDevices([device])).toEqual([false, false, false]);
  });

  it("or how fast it is, comes after all others", async () => {
    const { lines, log } = listen();
    for (const fault of ["throws", answers(ok)] as const) {
      const device = faulty(fast, "device", "getCapabilities", fault);
      const compilation = await compile(chain(), [device, reference], { log });
      expect(compilation.deviceNames).toEqual([reference.name]);
      const { execution } = makeExecuting(await compile(chain(), [device], { log }));
      await execution.compute();
    }
    expect(lines).toHaveLength(4);
  });
});

describe("registerDevices", () => {
  it.each(["getCapabilities", "getType", "getVersionString", "getSupportedExtensions", "getNumberOfCacheFilesNeeded"])(
    "leaves a device out whose %s throws, and takes the others",
    (method) => {
      const { lines, log } = listen();
      const broken = [
        faulty(reference, "device", method, "throws", "a"),
        faulty(reference, "device", method, answers(7), "b"),
      ];
      const registry = registerDevices([...broken, reference], { log });
      expect(registry.devices.map(({ name }) => name)).toEqual([reference.name]);
      expect(registry.refused.map(({ name }) => name)).toEqual(["a", "b"]);
      expect(lines[0]).toContain(`device a is left out: ${method} threw: planted`);
    },
  );
});

describe("a burst", () => {
  it.each<[string, Part, string, Fault]>([
    ["does not start", "model", "configureExecutionBurst", "throws"],
    ["starts without a context", "model", "configureExecutionBurst", answers(ok)],
    ["throws when it is to forget memory", "context", "freeMemory", "throws"],
    ["does not forget memory", "context", "freeMemory", "rejects"],
    ["does not end", "context", "close", "throws"],
  ])("of a device that %s executes", async (_, part, method, fault) => {
    const compilation = await compile(chain(), [faulty(reference, part, method, fault)]);
    const burst = await Burst.create(compilation);
    for (let turn = 0; turn < 2; turn++) {
      const { execution, output } = makeExecuting(compilation);
      await execution.burstCompute(burst);
      expect([...output]).toEqual([-2, -2]);
    }
    burst.close();
  });
});

describe("a fenced execution", () => {
  it.each<[Fault]>([["throws"], ["rejects"], [answers(ok)], [answers(unknownStatus)]])(
    "of a device that %j falls back to the CPU",
    async (fault) => {
      const device = faulty(fast, "model", "executeFenced", fault);
      const { execution, output } = makeExecuting(await compile(chain(), [device], { cpu: reference }));
      await (await execution.startComputeWithDependencies([])).wait();
      expect([...output]).toEqual([-2, -2]);
      const alone = makeExecuting(await compile(chain(), [device]));
      await expect(alone.execution.startComputeWithDependencies([])).rejects.toThrow(code("OP_FAILED"));
    },
  );

  it.each<[Part, string, Fault]>([
    ["callback", "getExecutionInfo", "throws"],
    ["callback", "getExecutionInfo", "rejects"],
    ["callback", "getExecutionInfo", answers(undefined)],
    ["callback", "getExecutionInfo", answers(unknownStatus)],
  ])("of a device whose %s %s %j ends with an error", async (part, method, fault) => {
    const { execution } = makeExecuting(await compile(chain(), [faulty(fast, part, method, fault)]));
    const event = await execution.startComputeWithDependencies([]);
    await expect(event.wait()).rejects.toThrow("getExecutionInfo");
  });
});

describe("memory of a device", () => {
  const described = async (device: Device) => {
    const compilation = await compile(addModel(), [device]);
    const desc = new MemoryDesc();
    desc.addInputRole(compilation, 0);
    desc.finish();
    return Memory.createFromDesc(desc);
  };

  it.each<[Fault]>([["throws"], ["rejects"], [answers(ok)], [answers(unknownStatus)]])(
    "whose allocate %j is OP_FAILED",
    async (fault) => {
      await expect(described(faulty(reference, "device", "allocate", fault))).rejects.toThrow(code("OP_FAILED"));
    },
  );

  it.each<[Fault]>([["throws"], ["rejects"], [answers(undefined)], [answers(unknownStatus)]])(
    "whose copies %j is OP_FAILED to copy",
    async (fault) => {
      const memory = await described(faulty(reference, "buffer", "copyFrom", fault));
      const copying = Memory.copy(Memory.allocate(8), memory);
      await expect(copying).rejects.toThrow(code("OP_FAILED"));
      await expect(copying).rejects.toThrow("faulty: copyFrom ");
      memory.close();
    },
  );
});

describe("callbacks of the application that throw", () => {
  it("are in the log, and nowhere else", async () => {
    const { lines, log } = listen();
    const makeThrowing = () => {
      throw new Error("planted");
    };
    const device = faulty(fast, "model", "execute", "throws");
    const compilation = await compile(chain(), [device], {
      cpu: reference,
      onFallback: makeThrowing,
      onStep: makeThrowing,
      log,
    });
    const { execution, output } = makeExecuting(compilation);
    await execution.compute();
    expect([...output]).toEqual([-2, -2]);
    expect(lines).toEqual(expect.arrayContaining(["error: onFallback threw: planted", "error: onStep threw: planted"]));
  });
});
