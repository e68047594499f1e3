import { androidPolicy, costPolicy } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import {
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  ExecutionPreference,
  type Model as HalModel,
  OperandType,
  OperationType,
  type PrepareOptions,
  Priority,
} from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { code, faster, withPrepared } from "./fakes.test-helper.ts";
import { Model } from "./model.ts";
import { addOperands, float32, numbersAt, openReference } from "./models.test-helper.ts";
import { makeDoublingLoop, requestOf } from "./plan/divided.test-helper.ts";
import { planMemory } from "./plan/memory.ts";
import { makeTaking } from "./plan/memory-backend.test-helper.ts";
import type { StepTime } from "./plan/run-options.ts";
import { type RuntimeDeviceOptions, runtimeAsDevice } from "./runtime-as-device.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

/** The reference under another name, which supports every other operation. */
function half(name: string, share: number, execTime = 0.5): Device {
  const { capabilities, ...outcome } = reference.getCapabilities();
  const info = { execTime, powerUsage: 2 * execTime };
  const operandPerformance = [{ type: OperandType.TENSOR_FLOAT32, info }];
  return {
    ...reference,
    name,
    getCapabilities: () => ({ ...outcome, capabilities: { ...capabilities, operandPerformance } }),
    getSupportedOperations({ main }) {
      const supported = main.operations.map((_, index) => index % 2 === share);
      return { ...outcome, supported, reasons: supported.map((yes) => (yes ? undefined : "it is the other's")) };
    },
  };
}

/** `count` times NEG, of so many numbers. */
function chain(count: number, extent = 2): Model {
  const model = new Model();
  const first = model.addOperand(float32(extent));
  let last = first;
  for (let index = 0; index < count; index++) {
    const next = model.addOperand(float32(extent));
    model.addOperation("NEG", [last], [next]);
    last = next;
  }
  model.identifyInputsAndOutputs([first], [last]);
  model.finish();
  return model;
}

const options = { policy: androidPolicy };
const pair = () => [half("even", 0, 0.25), half("odd", 1)];

describe("runtimeAsDevice", () => {
  it("describes several devices as one", () => {
    const gpu: Device = { ...half("odd", 1), getType: () => ({ status: 0, type: DeviceType.GPU }) };
    const device = runtimeAsDevice([half("even", 0, 0.25), gpu]);
    expect(device.name).toBe("runtime-even+odd");
    expect(runtimeAsDevice(pair(), { name: "both" }).name).toBe("both");
    expect(device.getType().type).toBe(DeviceType.OTHER);
    expect(runtimeAsDevice(pair()).getType().type).toBe(DeviceType.CPU);
    expect(device.getVersionString().version).toBe("even nnhal-reference-1, odd nnhal-reference-1");
    expect(device.getStatus()).toBe(DeviceStatus.AVAILABLE);
    const busy: Device = { ...gpu, getStatus: () => DeviceStatus.BUSY };
    expect([device.halVersion, runtimeAsDevice([reference, { ...gpu, halVersion: "1.2" }]).halVersion]).toEqual([
      "aidl4",
      "1.2",
    ]);
    expect(runtimeAsDevice([reference, busy]).getStatus()).toBe(DeviceStatus.UNKNOWN);
    expect(device.getNumberOfCacheFilesNeeded()).toMatchObject({ numModelCache: 0, numDataCache: 0 });
    expect(device.getCapabilities().capabilities.operandPerformance).toEqual([
      { type: OperandType.TENSOR_FLOAT32, info: { execTime: 0.25, powerUsage: 0.5 } },
    ]);
    expect(() => runtimeAsDevice([])).toThrow(code("BAD_DATA"));
  });

  it("supports the operations that one of them supports, and reports why none does", async () => {
    const model = chain(3).hal;
    expect((await runtimeAsDevice(pair()).getSupportedOperations(model)).supported).toEqual([true, true, true]);
    expect(await runtimeAsDevice([half("even", 0)]).getSupportedOperations(model)).toEqual({
      status: ErrorStatus.NONE,
      supported: [true, false, true],
      reasons: [undefined, "even: it is the other's", undefined],
    });
  });

  it("prepares a model divided, and executes it", async () => {
    const steps: StepTime[] = [];
    const onStep = (time: StepTime) => steps.push(time);
    const { preparedModel } = await runtimeAsDevice(pair(), { ...options, onStep }).prepareModel(chain(3).hal);
    const memory = {
      name: "ashmem",
      size: 16,
      handle: { kind: "buffer", buffer: new ArrayBuffer(16), byteOffset: 0 },
    } as const;
    const values = new Float32Array(memory.handle.buffer);
    values.set([1, -2]);
    const argument = (offset: number) => ({
      hasNoValue: false,
      location: { poolIndex: 0, offset, length: 8 },
      dimensions: [],
    });
    const request = { inputs: [argument(0)], outputs: [argument(8)], pools: [{ kind: "memory", memory } as const] };
    expect(await preparedModel?.execute(request)).toMatchObject({
      status: ErrorStatus.NONE,
      outputShapes: [{ dimensions: [2], isSufficient: true }],
    });
    expect([...values]).toEqual([1, -2, -1, 2]);
    expect(steps.map(({ step }) => step.kind === "execution" && step.device)).toEqual([0, 1, 0]);
    expect(steps.every(({ nanoseconds }) => nanoseconds > 0n)).toBe(true);
    preparedModel?.close();
    expect(await preparedModel?.execute(request)).toMatchObject({ status: ErrorStatus.INVALID_ARGUMENT });
  });

  it("refuses a model that is not valid, and one that no device supports", async () => {
    const { hal } = chain(2);
    const invalid: HalModel = { ...hal, main: { ...hal.main, inputIndexes: [] } };
    const device = runtimeAsDevice(pair(), options);
    expect(await device.getSupportedOperations(invalid)).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      supported: [],
      message: expect.stringContaining("the model is not valid: "),
    });
    expect(await device.prepareModel(invalid)).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      preparedModel: null,
    });
    expect(await runtimeAsDevice([half("even", 0)]).prepareModel(hal)).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      message: expect.stringContaining("no device supports operation 2 of 2"),
      preparedModel: null,
    });
  });

  it("supports control flow that the runtime interprets if it has a CPU", async () => {
    const { hal } = makeDoublingLoop(100);
    const device = (name: string) => ({ ...makeTaking(reference, ["LESS", "ADD"]), name });
    const [npu, cpu] = [device("npu"), device("cpu")] as const;
    expect((await runtimeAsDevice([npu, cpu], { cpu }).getSupportedOperations(hal)).supported).toEqual([true]);
    expect((await runtimeAsDevice([npu, cpu]).getSupportedOperations(hal)).supported).toEqual([false]);
    expect((await runtimeAsDevice([npu, cpu], { cpu }).prepareModel(hal)).status).toBe(ErrorStatus.NONE);
    expect((await runtimeAsDevice([npu, cpu]).prepareModel(hal)).status).toBe(ErrorStatus.INVALID_ARGUMENT);
  });

  it("passes on all options of a preparation except for the cache", async () => {
    const seen: unknown[] = [];
    const noting: Device = {
      ...reference,
      prepareModel(model, given) {
        seen.push(given);
        return reference.prepareModel(model, given);
      },
    };
    const preferred = { preference: ExecutionPreference.LOW_POWER, priority: Priority.HIGH, deadline: 2n ** 62n };
    const cache = { modelCache: [], dataCache: [], token: new Uint8Array(32) };
    const device = runtimeAsDevice([noting]);
    expect((await device.prepareModel(chain(1).hal, { ...preferred, cache })).status).toBe(ErrorStatus.NONE);
    expect((await device.prepareModel(chain(1).hal)).status).toBe(ErrorStatus.NONE);
    expect(seen).toEqual([preferred, {}]);
  });

  it("prepares on the CPU what has failed, also after the deadline of the preparation", async () => {
    const options: (PrepareOptions | undefined)[] = [];
    const cpu: Device = {
      ...reference,
      name: "cpu",
      prepareModel(model, given) {
        options.push(given);
        return reference.prepareModel(model, given);
      },
    };
    const failing = withPrepared({ ...reference, name: "failing" }, () => ({
      execute: () => Promise.reject(new Error("planted")),
    }));
    const device = runtimeAsDevice([faster("failing", failing), cpu], { cpu, log: silentLogger });
    const preferred = { preference: ExecutionPreference.LOW_POWER, priority: Priority.HIGH };
    const model = await device.prepareModel(chain(1).hal, { ...preferred, deadline: 2n ** 62n });
    const request = requestOf([1, -2], { room: 2 });
    expect((await model.preparedModel?.execute(request))?.status).toBe(ErrorStatus.NONE);
    expect([...numbersAt(request, 1, 2)]).toEqual([-1, 2]);
    expect(options).toEqual([preferred]);
  });

  it("has reusable executions where one device has the whole model", async () => {
    const { preparedModel } = await runtimeAsDevice([reference]).prepareModel(chain(1).hal);
    const request = requestOf([1, -2], { room: 2 });
    const created = await preparedModel?.createReusableExecution?.(request);
    expect((await created?.execution?.execute())?.status).toBe(ErrorStatus.NONE);
    expect([...numbersAt(request, 1, 2)]).toEqual([-1, 2]);
    const tokens = { ...request, pools: request.pools.map((_, token) => ({ kind: "token", token }) as const) };
    const refused = await runtimeAsDevice(pair(), options).prepareModel(chain(3).hal);
    expect(refused.preparedModel?.createReusableExecution).toBeUndefined();
    expect(await preparedModel?.createReusableExecution?.(tokens)).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      execution: null,
    });
  });

  it("divides by its policy and its partition", async () => {
    const devicesOf = async (given: RuntimeDeviceOptions) => {
      const devices = new Set<string>();
      const noting = [half("even", 0), half("odd", 1), { ...reference, name: "cpu" }].map(
        (device): Device => ({
          ...device,
          prepareModel(model, prepareOptions) {
            devices.add(device.name);
            return reference.prepareModel(model, prepareOptions);
          },
        }),
      );
      const { status } = await runtimeAsDevice(noting, { ...given, cpu: elementAt(noting, 2) }).prepareModel(
        chain(4).hal,
      );
      expect(status).toBe(ErrorStatus.NONE);
      return [...devices].sort();
    };
    // By costs, four steps are dearer than one; Android's policy knows no costs of steps.
    expect(await devicesOf({ policy: costPolicy })).toEqual(["cpu"]);
    expect(await devicesOf({ policy: androidPolicy })).toEqual(["even", "odd"]);
    expect(await devicesOf({ policy: androidPolicy, partition: 0 })).toEqual(["cpu"]);
  });

  it("does not change with a model that its caller changes afterwards", async () => {
    const model = structuredClone(chain(2).hal) as { main: { operations: unknown[] } } & HalModel;
    const device = runtimeAsDevice(pair());
    expect((await device.getSupportedOperations(model)).supported).toEqual([true, true]);
    model.main.operations.pop();
    expect((await device.getSupportedOperations(model)).status).toBe(ErrorStatus.INVALID_ARGUMENT);
    expect((await device.prepareModel(model)).status).toBe(ErrorStatus.INVALID_ARGUMENT);
  });

  it("passes on the status with which a device refuses", async () => {
    const { RESOURCE_EXHAUSTED_TRANSIENT: status } = ErrorStatus;
    const full: Device = {
      ...half("odd", 1),
      prepareModel: async () => ({ status, message: "full", preparedModel: null }),
    };
    expect(await runtimeAsDevice([half("even", 0), full], options).prepareModel(chain(2).hal)).toEqual({
      status,
      message: "odd: full",
      preparedModel: null,
    });
  });

  it("does not run vendors' operations on the CPU", async () => {
    const { hal } = chain(1);
    const operations = [{ ...elementAt(hal.main.operations, 0), type: OperationType.OEM_OPERATION }];
    const model: HalModel = { ...hal, main: { ...hal.main, operations } };
    const vendor: Device = {
      ...half("vendor", 0),
      prepareModel: async () => ({ status: ErrorStatus.GENERAL_FAILURE, message: "broken", preparedModel: null }),
    };
    const told: string[] = [];
    const onFallback = (message: string) => told.push(message);
    const device = runtimeAsDevice([vendor], { ...options, cpu: reference, onFallback });
    expect(await device.prepareModel(model)).toMatchObject({ message: "vendor: broken", preparedModel: null });
    expect(told).toEqual([]);
    expect((await device.prepareModel(chain(1).hal)).status).toBe(ErrorStatus.NONE);
    expect(told).toHaveLength(1);
  });
});

describe("a compilation for measuring", () => {
  it("has a step for each operation, and the same results", async () => {
    const steps: StepTime[] = [];
    const compilation = new Compilation(chain(4), [reference], {
      separateOperations: true,
      onStep: (time) => steps.push(time),
    });
    await compilation.finish();
    expect(compilation.plan.steps).toHaveLength(4);
    const execution = new Execution(compilation);
    const output = new Float32Array(2);
    execution.setInput(0, Float32Array.of(3, -4));
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual([3, -4]);
    expect(steps.map(({ step }) => step)).toEqual(compilation.plan.steps);
    compilation.close();
  });
});

describe("planMemory", () => {
  async function memoryOf(model: Model) {
    const compilation = new Compilation(model, pair(), options);
    await compilation.finish();
    return planMemory(compilation.plan);
  }

  it("of one step is none", async () => {
    expect(await memoryOf(chain(1))).toEqual({ peak: 0, lowerBound: 0 });
  });

  it("of a long chain is that of two results", async () => {
    expect(await memoryOf(chain(1000, 16))).toEqual({ peak: 128, lowerBound: 128 });
  });

  it("counts a loop's state twice", async () => {
    const BOOL = { type: "TENSOR_BOOL8", dimensions: [1] } as const;
    const condition = new Model();
    const [state, bound, verdict] = addOperands(condition, float32(8), float32(1), BOOL);
    condition.setOperandValue(bound, Float32Array.of(1));
    const axes = condition.addOperand({ type: "TENSOR_INT32", dimensions: [1] });
    condition.setOperandValue(axes, Int32Array.of(0));
    const keep = condition.addOperand({ type: "BOOL" });
    condition.setOperandValue(keep, true);
    const most = condition.addOperand(float32(1));
    condition.addOperation("REDUCE_MAX", [state, axes, keep], [most]);
    condition.addOperation("LESS", [most, bound], [verdict]);
    condition.identifyInputsAndOutputs([state], [verdict]);
    condition.finish();
    const body = new Model();
    const [before, after] = addOperands(body, float32(8), float32(8));
    body.addOperation("EXP", [before], [after]);
    body.identifyInputsAndOutputs([before], [after]);
    body.finish();
    const model = new Model();
    const SUBGRAPH = { type: "SUBGRAPH" } as const;
    const [test, turn, start, end] = addOperands(model, SUBGRAPH, SUBGRAPH, float32(8), float32(8));
    model.setOperandValueFromModel(test, condition);
    model.setOperandValueFromModel(turn, body);
    model.addOperation("WHILE", [test, turn, start], [end]);
    model.identifyInputsAndOutputs([start], [end]);
    model.finish();
    const devices = pair().map(
      (device): Device => ({
        ...device,
        async getSupportedOperations(asked) {
          const answer = await device.getSupportedOperations(asked);
          const supported = answer.supported.map(
            (yes, index) => yes && asked.main.operations[index]?.type !== OperationType.WHILE,
          );
          return { ...answer, supported };
        },
      }),
    );
    const compilation = new Compilation(model, devices, { ...options, cpu: reference });
    await compilation.finish();
    // Two sets of 32 bytes, and the one number between the two operations of the condition in a place of 16.
    expect(planMemory(compilation.plan)).toEqual({ peak: 80, lowerBound: 80 });
  });
});
