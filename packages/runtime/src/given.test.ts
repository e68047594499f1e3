/**
 * Wrong arguments of every function of the package: each is a NeuralNetworksError that names the expected and the actual value.
 */
import { type Device, ErrorStatus } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { Burst } from "./burst.ts";
import { Compilation } from "./compilation.ts";
import { registerDevices } from "./devices.ts";
import { Event } from "./event.ts";
import { Execution } from "./execution.ts";
import { code } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import { Model } from "./model.ts";
import { addModel, compile, openReference } from "./models.test-helper.ts";
import { NeuralNetworksError } from "./result-code.ts";
import { runtimeAsDevice } from "./runtime-as-device.ts";

let reference: Device;
let compilation: Compilation;
beforeAll(async () => {
  reference = await openReference();
  compilation = await compile(addModel(), [reference]);
});

/** Any value, as a caller without types can pass it. */
const untyped = (value: unknown): never => value as never;
const makeThrowing = () =>
  untyped({
    get cpu() {
      throw new Error("planted");
    },
    get log() {
      throw new Error("planted");
    },
    get offset() {
      throw new Error("planted");
    },
  });

/** Values that are not objects of a kind. */
const garbage = (): readonly unknown[] => [
  undefined,
  null,
  7,
  "text",
  true,
  () => {},
  Symbol("x"),
  {},
  [],
  new Float32Array(1),
  { unavailable: "no GPU" },
  Promise.resolve(reference),
  addModel().hal,
  addModel(),
  compilation,
  Memory.allocate(4),
  new MemoryDesc(),
  reference,
  silentLogger,
  new Proxy(
    {},
    {
      get() {
        throw new Error("planted");
      },
    },
  ),
];

/** Every argument that must be an object of a kind, and other values that it accepts. */
const takers: Readonly<Record<string, (value: never) => unknown>> = {
  "Compilation(model)": (value) => new Compilation(value, [reference]),
  "Compilation(devices)": (value) => new Compilation(addModel(), value),
  "Compilation(devices[0])": (value) => new Compilation(addModel(), [value]),
  "Compilation(cpu)": (value) => new Compilation(addModel(), [reference], { cpu: value }),
  "Compilation(options)": (value) => new Compilation(addModel(), [], value),
  "Compilation(log)": (value) => new Compilation(addModel(), [reference], { log: value }),
  "Compilation(policy)": (value) => new Compilation(addModel(), [reference], { policy: value }),
  "Compilation(partition)": (value) => new Compilation(addModel(), [reference], { partition: value }),
  "Compilation(watchdog)": (value) => new Compilation(addModel(), [reference], { watchdog: value }),
  "setCaching(directory)": (value) => new Compilation(addModel(), [reference]).setCaching(value, new Uint8Array(31)),
  "setCaching(token)": (value) => new Compilation(addModel(), [reference]).setCaching("/tmp", value),
  setPreference: (value) => new Compilation(addModel(), [reference]).setPreference(value),
  setPriority: (value) => new Compilation(addModel(), [reference]).setPriority(value),
  setTimeout: (value) => new Compilation(addModel(), [reference]).setTimeout(value),
  "Execution(compilation)": (value) => new Execution(value === compilation ? untyped({}) : value),
  "Burst.create": (value) => Burst.create(value === compilation ? untyped({}) : value),
  burstCompute: (value) => ready().burstCompute(value),
  setInput: (value) => new Execution(compilation).setInput(2, value),
  setOutput: (value) => new Execution(compilation).setOutput(1, value),
  "setInput(dimensions)": (value) => new Execution(compilation).setInput(3, new Float32Array(2), value),
  setInputFromMemory: (value) => new Execution(compilation).setInputFromMemory(2, value),
  "setInputFromMemory(region)": (value) => new Execution(compilation).setInputFromMemory(2, Memory.allocate(8), value),
  setSignal: (value) => new Execution(compilation).setSignal(value),
  setLoopTimeout: (value) => new Execution(compilation).setLoopTimeout(value),
  startComputeWithDependencies: (value) => new Execution(compilation).startComputeWithDependencies(value),
  "startComputeWithDependencies[0]": (value) => new Execution(compilation).startComputeWithDependencies([value]),
  getDuration: (value) => ready().getDuration(value),
  "Event.createFromSyncFence": (value) => Event.createFromSyncFence(value),
  "Memory.allocate": (value) => Memory.allocate(value === 7 ? untyped(0) : value),
  "Memory.from": (value) => Memory.from(value),
  "Memory.createFromFd": (value) => Memory.createFromFd(1, 1, value === 7 ? untyped(-1) : value),
  "Memory.createFromAHardwareBuffer": (value) => Memory.createFromAHardwareBuffer(value),
  "Memory.createFromDesc": (value) => Memory.createFromDesc(value),
  "Memory.copy(source)": (value) => Memory.copy(value, closeAll()),
  "Memory.copy(destination)": (value) => Memory.copy(closeAll(), value),
  addInputRole: (value) => new MemoryDesc().addInputRole(value, 9),
  setDimensions: (value) => new MemoryDesc().setDimensions(Array.isArray(value) ? untyped([-1]) : value),
  "Model(options)": (value) => new Model(value),
  "Model(extensions)": (value) => new Model({ extensions: Array.isArray(value) ? untyped([1]) : value }),
  "Model(log)": (value) => new Model({ log: value }),
  "Model.from": (value) => Model.from(isHal(value) ? untyped({}) : value),
  addOperand: (value) => new Model().addOperand(value),
  addOperation: (value) => new Model().addOperation("ADD", value, [0]),
  identifyInputsAndOutputs: (value) => new Model().identifyInputsAndOutputs(value, [9]),
  setOperandValueFromModel: (value) => new Model().setOperandValueFromModel(0, value),
  getSupportedOperationsForDevices: (value) => addModel().getSupportedOperationsForDevices(value),
  "registerDevices(devices)": (value) => registerDevices(Array.isArray(value) ? untyped([null]) : value),
  "registerDevices(devices[0])": (value) => registerDevices([value, untyped(null)]),
  "registerDevices(log)": (value) => registerDevices([], { log: value }),
  "runtimeAsDevice(devices)": (value) => runtimeAsDevice(value),
  "runtimeAsDevice(devices[0])": (value) => runtimeAsDevice([value, untyped(null)]),
  "runtimeAsDevice(name)": (value) => runtimeAsDevice([reference], { name: value === "text" ? untyped("") : value }),
};

function isHal(value: unknown): boolean {
  return typeof value === "object" && value !== null && !(value instanceof Model) && Object.hasOwn(value, "main");
}

function ready(): Execution {
  return new Execution(compilation);
}

function closeAll(): Memory {
  const memory = Memory.allocate(8);
  memory.close();
  return memory;
}

/** Accepted values of options with a default and of arguments. */
const allowed: Readonly<Record<string, (value: unknown) => boolean>> = {
  "Compilation(cpu)": (value) => value === undefined || value === reference,
  "Compilation(log)": (value) => value === undefined || value === silentLogger,
  "Compilation(policy)": (value) => value === undefined,
  "Compilation(partition)": (value) => value === undefined,
  "Compilation(watchdog)": (value) => value === undefined,
  "Compilation(devices[0])": (value) => value === reference,
  "Compilation(model)": (value) => value instanceof Model,
  "Model(options)": (value) => value === undefined || (typeof value === "object" && value !== null),
  "Model(extensions)": (value) => value === undefined,
  "Model(log)": (value) => value === undefined || value === silentLogger,
  "registerDevices(log)": (value) => value === undefined || value === silentLogger,
  "runtimeAsDevice(name)": (value) => value === undefined,
  setPreference: () => false,
};

describe.each(Object.entries(takers))("%s", (name, take) => {
  it("refuses a wrong value with a NeuralNetworksError", async () => {
    for (const value of garbage()) {
      if (allowed[name]?.(value)) continue;
      const attempt = async () => take(untyped(value));
      await expect(attempt(), String(typeof value)).rejects.toBeInstanceOf(NeuralNetworksError);
    }
  });
});

describe("messages", () => {
  it.each<[string, () => unknown, string]>([
    [
      "a HAL model",
      () => new Compilation(untyped(addModel().hal), [reference]),
      "model is a model in the HAL's form: Model.from",
    ],
    [
      "an unavailable device",
      () => new Compilation(addModel(), [untyped({ unavailable: "no GPU" })]),
      'devices[0] is a device that is unavailable: "no GPU"',
    ],
    ["a promise", () => runtimeAsDevice([untyped(Promise.resolve())]), "devices[0] is a promise: wait for it first"],
    ["a model for a device", () => registerDevices([untyped(addModel())]), "devices[0] is a Model, not a Device"],
    ["a device for a model", () => new Compilation(untyped(reference), [reference]), "model is a Device, not a Model"],
    ["a device for a list", () => new Compilation(addModel(), untyped(reference)), "devices is a Device, not an array"],
    ["a promise for a compilation", () => new Execution(untyped(Promise.resolve())), "compilation is a promise"],
    ["null options", () => new Compilation(addModel(), [reference], untyped(null)), "options is null"],
    [
      "throwing options",
      () => new Compilation(addModel(), [reference], makeThrowing()),
      "reading options threw: planted",
    ],
    ["throwing options", () => runtimeAsDevice([reference], makeThrowing()), "reading options threw: planted"],
    ["throwing options", () => registerDevices([reference], makeThrowing()), "reading options threw: planted"],
    ["throwing options", () => new Model(makeThrowing()), "reading options threw: planted"],
    [
      "a throwing region",
      () => ready().setInputFromMemory(0, Memory.allocate(8), makeThrowing()),
      "reading region threw: planted",
    ],
  ])("say what was expected and what was given: %s", (_, act, text) => {
    expect(act).toThrow(NeuralNetworksError);
    expect(act).toThrow(text);
  });
});

describe("two devices of one name", () => {
  const copy = () => ({ ...reference });
  it.each<[string, () => unknown]>([
    ["compilation", () => new Compilation(addModel(), [reference, copy()])],
    ["registry", () => registerDevices([reference, copy()])],
    ["device of several", () => runtimeAsDevice([reference, copy()])],
  ])("are refused in one %s, naming both places", (_, act) => {
    expect(act).toThrow(code("BAD_DATA"));
    expect(act).toThrow(`devices[0] and devices[1] are two devices of the name ${reference.name}`);
  });

  it("are refused as a device and the CPU, which may be the same device", () => {
    expect(() => new Compilation(addModel(), [reference], { cpu: copy() })).toThrow(
      "devices[0] and cpu are two devices",
    );
    expect(() => new Compilation(addModel(), [reference], { cpu: reference })).not.toThrow();
    expect(() => registerDevices([reference], { cpu: copy() })).toThrow("devices[0] and cpu are two devices");
  });

  it("are one device listed twice, if they are", () => {
    expect(() => new Compilation(addModel(), [reference, reference])).toThrow("as devices[0] and devices[1]");
  });
});

describe("a model in the HAL's form", () => {
  it("that changes afterwards does not matter", async () => {
    const hal = structuredClone({ ...addModel().hal, pools: [] });
    const model = Model.from(hal);
    const before = JSON.stringify(model.hal, (_, value) => (typeof value === "bigint" ? `${value}` : value));
    for (const list of [hal.main.operands, hal.main.operations, hal.main.inputIndexes, hal.main.outputIndexes]) {
      Object.assign(list, { length: 0 });
    }
    expect(JSON.stringify(model.hal, (_, value) => (typeof value === "bigint" ? `${value}` : value))).toBe(before);
    const execution = new Execution(await compile(model, [reference]));
    const output = new Float32Array(2);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(10, 20));
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual([11, 22]);
  });

  it("is read once, and refused if that throws", () => {
    const { hal } = addModel();
    let reads = 0;
    const counting = {
      ...hal,
      get main() {
        reads++;
        return hal.main;
      },
    };
    Model.from(counting);
    expect(reads).toBe(1);
    const broken = {
      ...hal,
      get main(): never {
        throw new Error("planted");
      },
    };
    expect(() => Model.from(broken)).toThrow("the model is not valid: model: reading it failed: planted");
  });
});

describe("the property debug.nn.partition", () => {
  const deviceOf = async (setting: string, cpu?: Device) => {
    vi.stubEnv("NNHAL_PARTITION", setting);
    try {
      const refusing: Device = {
        ...reference,
        name: "refusing",
        prepareModel: async () => ({ status: ErrorStatus.GENERAL_FAILURE, message: "broken", preparedModel: null }),
        getCapabilities() {
          const { capabilities, ...outcome } = reference.getCapabilities();
          const info = { execTime: 0.1, powerUsage: 0.1 };
          const operandPerformance = capabilities.operandPerformance.map(({ type }) => ({ type, info }));
          return { ...outcome, capabilities: { ...capabilities, operandPerformance } };
        },
      };
      const one = new Compilation(addModel(), [refusing], { ...(cpu && { cpu }), policy: undefined as never });
      await one.finish();
      return one.deviceNames;
    } finally {
      vi.unstubAllEnvs();
    }
  };

  it("decides about fallback if the caller does not, and only with a CPU", async () => {
    expect(await deviceOf("", reference)).toEqual([reference.name]);
    expect(await deviceOf("0", reference)).toEqual([reference.name]);
    await expect(deviceOf("2", reference)).rejects.toThrow("refusing: broken");
    await expect(deviceOf("0")).rejects.toThrow("refusing: broken");
    expect(await deviceOf("7", reference)).toEqual([reference.name]);
  });
});

describe("an option that does not exist is refused with the nearest one", () => {
  it.each<[string, () => unknown, string]>([
    ["Model", () => new Model(untyped({ logs: 1 })), 'unknown option "logs": did you mean "log"?'],
    [
      "Compilation",
      () => new Compilation(addModel(), [reference], untyped({ partitions: 1 })),
      'unknown option "partitions": did you mean "partition"?',
    ],
    ["registerDevices", () => registerDevices([], untyped({ allowlist: 1 })), 'did you mean "allowList"?'],
    [
      "setInputFromMemory",
      () => new Execution(compilation).setInputFromMemory(0, Memory.allocate(8), untyped({ size: 8 })),
      'unknown option "size"; there are: offset, length, dimensions',
    ],
  ])("%s", (_what, call, message) => {
    expect(call).toThrow(message);
    expect(call).toThrow(code("BAD_DATA"));
  });
});
