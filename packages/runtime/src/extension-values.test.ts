/**
 * Values of extension types wherever the runtime has to know their size: between devices, in loops, in device memory, bursts and fenced
 * executions, and in fallback.
 */
import { createReferenceBackend } from "@nnhal/backend-reference";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import type { ExtensionDefinition } from "@nnhal/operations";
import { describeExtension } from "@nnhal/operations";
import {
  ADD_LONG,
  GREATEST,
  LONG,
  NARROW,
  TENSOR_LONG,
  WIDEN,
  wideExtension,
  wideName,
} from "@nnhal/test-kit/wide-extension";
import { type Device, ErrorStatus, type Extension, OperationType } from "@nnhal/types";
import { isExtensionOperationType, silentLogger } from "@nnhal/utils";
import { afterAll, describe, expect, it } from "vitest";
import { Burst } from "./burst.ts";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { withPrepared } from "./fakes.test-helper.ts";
import { Model } from "./model.ts";
import { addOperands, float32 } from "./models.test-helper.ts";
import { planMemory } from "./plan/memory.ts";
import { ResultCode } from "./result-code.ts";
import { runtimeAsDevice } from "./runtime-as-device.ts";

const opened: OpenedDevice[] = [];
afterAll(async () => {
  for (const device of opened) await device.close();
});

/** A reference device with some extensions. */
async function deviceWith(name: string, ...extensions: ExtensionDefinition[]): Promise<OpenedDevice> {
  const device = await openDevice({ backend: createReferenceBackend({ extensions }), name, log: silentLogger });
  if ("unavailable" in device) throw new Error(device.unavailable);
  opened.push(device);
  return device;
}

/** The device, which supports neither control flow nor operations of the extension except some. */
function only(device: Device, ...operations: ExtensionDefinition["operations"]): Device {
  return {
    ...device,
    async getSupportedOperations(model) {
      const { supported, reasons, ...outcome } = await device.getSupportedOperations(model);
      const isTaken = model.main.operations.map(
        ({ type }) =>
          (!isExtensionOperationType(type) && type !== OperationType.IF && type !== OperationType.WHILE) ||
          operations.some(({ code }) => type % 0x1_0000 === code),
      );
      return {
        ...outcome,
        supported: supported.map((yes, index) => yes && isTaken[index] === true),
        reasons: reasons.map((reason, index) => reason ?? (isTaken[index] ? undefined : `not for ${device.name}`)),
      };
    },
  };
}

const plain = await deviceWith("plain");
const widening = only(await deviceWith("widening", wideExtension), WIDEN, GREATEST);
const narrowing = only(await deviceWith("narrowing", wideExtension), NARROW, ADD_LONG);
const all = await deviceWith("all", wideExtension);

const described = describeExtension(wideExtension);
const options = { extensions: [described], log: silentLogger };
const long = (...dimensions: number[]) => ({ type: TENSOR_LONG, dimensions }) as const;

/** input → WIDEN → ADD_LONG its own greatest → NARROW → output, with `extent` numbers. The long tensors have a factor of 0.5. */
function chain(extent: number, declared = extent): Model {
  const model = new Model(options);
  const [input, wide, greatest, sum, output] = addOperands(
    model,
    float32(extent),
    long(declared),
    { type: LONG },
    long(declared),
    float32(extent),
  );
  for (const operand of [wide, sum]) model.setOperandExtensionData(operand, TENSOR_LONG, { factor: 0.5 });
  model.addOperation(model.getExtensionOperationType(wideExtension, "WIDEN"), [input], [wide]);
  model.addOperation(model.getExtensionOperationType(wideExtension, "GREATEST"), [wide], [greatest]);
  model.addOperation(model.getExtensionOperationType(wideExtension, "ADD_LONG"), [wide, greatest], [sum]);
  model.addOperation(model.getExtensionOperationType(wideExtension, "NARROW"), [sum], [output]);
  model.identifyInputsAndOutputs([input], [output]);
  model.finish();
  return model;
}

const coded = (name: keyof typeof ResultCode, part: string) =>
  expect.objectContaining({ code: ResultCode[name], message: expect.stringContaining(part) });

async function run(compilation: Compilation, input: readonly number[]): Promise<number[]> {
  await compilation.finish();
  const execution = new Execution(compilation);
  const output = new Float32Array(input.length);
  execution.setInput(0, Float32Array.from(input));
  execution.setOutput(0, output);
  await execution.compute();
  return [...output];
}

describe("temporaries of extension types", () => {
  it("go from one device to another with all their bytes", async () => {
    const compilation = new Compilation(chain(3), [widening, narrowing]);
    expect(await run(compilation, [1, -4, 2.5])).toEqual([3.5, -1.5, 5]);
    expect(compilation.deviceNames).toEqual(["widening", "narrowing"]);
    // Three elements of 8 bytes and a scalar of 8 bytes, each aligned.
    const { plan } = compilation;
    expect(planMemory(plan).lowerBound).toBeGreaterThanOrEqual(3 * 8 + 8);
  });

  it("go between devices in a device that is made of several", async () => {
    const both = runtimeAsDevice([widening, narrowing], { log: silentLogger });
    expect(both.getSupportedExtensions().extensions).toEqual([described]);
    expect(await run(new Compilation(chain(3), [both]), [1, -4, 2.5])).toEqual([3.5, -1.5, 5]);
    const disagreeing: Device = {
      ...narrowing,
      getSupportedExtensions: () => ({ status: ErrorStatus.NONE, extensions: [{ ...described, operandTypes: [] }] }),
    };
    expect(runtimeAsDevice([widening, disagreeing]).getSupportedExtensions().extensions).toEqual([]);
  });

  it("of unknown extents do not cross", async () => {
    await expect(run(new Compilation(chain(2, 0), [widening, narrowing]), [1, 2])).rejects.toThrow(
      coded("OP_FAILED", "has no known size"),
    );
    expect(await run(new Compilation(chain(2, 0), [all]), [1, 2])).toEqual([3, 4]);
  });

  it.each<[string, readonly Extension[], readonly Extension[]]>([
    ["that no device describes", [], []],
    ["that devices describe differently", [described], [{ ...described, operandTypes: [] }]],
  ])("%s do not cross", async (_, first, second) => {
    const makeDescribing = (device: Device, extensions: readonly Extension[]): Device => ({
      ...device,
      getSupportedExtensions: () => ({ status: ErrorStatus.NONE, extensions }),
    });
    const devices = [makeDescribing(widening, first), makeDescribing(narrowing, second)];
    await expect(run(new Compilation(chain(2), devices), [1, 2])).rejects.toThrow(
      coded("OP_FAILED", "has no known size"),
    );
  });

  it("are in a burst as in an execution", async () => {
    for (const devices of [[all], [widening, narrowing]]) {
      const compilation = new Compilation(chain(2), devices);
      await compilation.finish();
      const burst = await Burst.create(compilation);
      const execution = new Execution(compilation);
      const output = new Float32Array(2);
      execution.setInput(0, Float32Array.of(1, 2));
      execution.setOutput(0, output);
      await execution.burstCompute(burst);
      expect([...output]).toEqual([3, 4]);
      burst.close();
    }
  });
});

/** LONG and TENSOR_LONG as inputs and outputs: sum = left + right, and the greatest of left. */
function longModel(extent = 2): Model {
  const model = new Model(options);
  const [left, right, sum, greatest] = addOperands(model, long(extent), { type: LONG }, long(extent), { type: LONG });
  for (const operand of [left, sum]) model.setOperandExtensionData(operand, TENSOR_LONG, { factor: 1 });
  model.addOperation(model.getExtensionOperationType(wideExtension, "ADD_LONG"), [left, right], [sum]);
  model.addOperation(model.getExtensionOperationType(wideExtension, "GREATEST"), [left], [greatest]);
  model.identifyInputsAndOutputs([left, right], [sum, greatest]);
  model.finish();
  return model;
}

describe("inputs and outputs of extension types", () => {
  const big = 2n ** 60n;

  async function startDevice(devices: readonly Device[]) {
    const compilation = new Compilation(longModel(), devices);
    await compilation.finish();
    const execution = new Execution(compilation);
    const [sum, greatest] = [new BigInt64Array(2), new BigInt64Array(1)];
    execution.setInput(0, BigInt64Array.of(big, 5n));
    execution.setInput(1, BigInt64Array.of(7n));
    execution.setOutput(0, sum);
    execution.setOutput(1, greatest);
    const expectRight = () => {
      expect(sum).toEqual(BigInt64Array.of(big + 7n, 12n));
      expect(greatest).toEqual(BigInt64Array.of(big));
    };
    return { compilation, execution, expectRight };
  }

  it.each([[[all]], [[widening, narrowing]]])(
    "keep 64 bits in an execution, a burst and behind fences",
    async (devices) => {
      const plainly = await startDevice(devices);
      await plainly.execution.compute();
      plainly.expectRight();
      expect(plainly.execution.getOutputOperandRank(1)).toBe(0);

      const inBurst = await startDevice(devices);
      const burst = await Burst.create(inBurst.compilation);
      await inBurst.execution.burstCompute(burst);
      inBurst.expectRight();
      burst.close();

      const fenced = await startDevice(devices);
      const event = await fenced.execution.startComputeWithDependencies([]);
      await event.wait();
      fenced.expectRight();
    },
  );

  it("of any rank are known by the device, whether or not the application describes the extension", async () => {
    for (const given of [options, { log: silentLogger }]) {
      const { hal } = longModel();
      const operands = hal.main.operands.map((operand) => ({ ...operand, dimensions: [] }));
      const model = Model.from({ ...hal, main: { ...hal.main, operands } }, given);
      const compilation = new Compilation(model, [all]);
      await compilation.finish();
      const execution = new Execution(compilation);
      const sum = new BigInt64Array(2);
      execution.setInput(0, BigInt64Array.of(big, 5n), [2]);
      execution.setInput(1, BigInt64Array.of(7n));
      execution.setOutput(0, sum);
      execution.setOutput(1, new BigInt64Array(1));
      await execution.compute();
      expect([...sum]).toEqual([big + 7n, 12n]);
      expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
      expect(() => execution.getOutputOperandDimensions(1)).toThrow(coded("BAD_DATA", "which has none"));
    }
  });

  it("are refused if they have too few bytes", async () => {
    const { compilation } = await startDevice([all]);
    const execution = new Execution(compilation);
    expect(() => execution.setInput(0, BigInt64Array.of(1n))).toThrow(coded("BAD_DATA", ""));
    expect(() => execution.setInput(1, Int32Array.of(1))).toThrow(coded("BAD_DATA", ""));
  });

  it("must have the shapes that the device's description of their types allows", async () => {
    const makeAnswering = (dimensions: readonly number[]): Device =>
      withPrepared(all, () => ({
        execute: async () => ({
          status: ErrorStatus.NONE,
          outputShapes: [
            { dimensions: [2], isSufficient: true },
            { dimensions, isSufficient: true },
          ],
          timing: { timeOnDevice: 0n, timeInDriver: 0n },
        }),
      }));
    const good = await startDevice([makeAnswering([])]);
    await good.execution.compute();
    const bad = await startDevice([makeAnswering([1])]);
    await expect(bad.execution.compute()).rejects.toThrow(/output 1 has dimensions \[1\] where a .* \[\] is declared/);
  });
});

describe("control flow", () => {
  const BOOL = { type: "TENSOR_BOOL8", dimensions: [1] } as const;

  /** state (long) → state + step */
  function body(): Model {
    const model = new Model(options);
    const [state, step, next] = addOperands(model, long(1), { type: LONG }, long(1));
    for (const operand of [state, next]) model.setOperandExtensionData(operand, TENSOR_LONG, { factor: 1 });
    model.setOperandValue(step, BigInt64Array.of(5n));
    model.addOperation(model.getExtensionOperationType(wideExtension, "ADD_LONG"), [state, step], [next]);
    model.identifyInputsAndOutputs([state], [next]);
    model.finish();
    return model;
  }

  /** state (long) < 12 */
  function condition(): Model {
    const model = new Model(options);
    const [state, real, bound, verdict] = addOperands(model, long(1), float32(1), float32(1), BOOL);
    model.setOperandExtensionData(state, TENSOR_LONG, { factor: 1 });
    model.setOperandValue(bound, Float32Array.of(12));
    model.addOperation(model.getExtensionOperationType(wideExtension, "NARROW"), [state], [real]);
    model.addOperation("LESS", [real, bound], [verdict]);
    model.identifyInputsAndOutputs([state], [verdict]);
    model.finish();
    return model;
  }

  function loop(): Model {
    const model = new Model(options);
    const SUBGRAPH = { type: "SUBGRAPH" } as const;
    const [input, start, test, step, end, output] = addOperands(
      model,
      float32(1),
      long(1),
      SUBGRAPH,
      SUBGRAPH,
      long(1),
      float32(1),
    );
    for (const operand of [start, end]) model.setOperandExtensionData(operand, TENSOR_LONG, { factor: 1 });
    model.setOperandValueFromModel(test, condition());
    model.setOperandValueFromModel(step, body());
    model.addOperation(model.getExtensionOperationType(wideExtension, "WIDEN"), [input], [start]);
    model.addOperation("WHILE", [test, step, start], [end]);
    model.addOperation(model.getExtensionOperationType(wideExtension, "NARROW"), [end], [output]);
    model.identifyInputsAndOutputs([input], [output]);
    model.finish();
    return model;
  }

  /** output = input + 5, in either branch. */
  function branches(): Model {
    const model = new Model(options);
    const SUBGRAPH = { type: "SUBGRAPH" } as const;
    const [flag, input, start, yes, no, end, output] = addOperands(
      model,
      BOOL,
      float32(1),
      long(1),
      SUBGRAPH,
      SUBGRAPH,
      long(1),
      float32(1),
    );
    for (const operand of [start, end]) model.setOperandExtensionData(operand, TENSOR_LONG, { factor: 1 });
    model.setOperandValue(flag, Uint8Array.of(1));
    model.setOperandValueFromModel(yes, body());
    model.setOperandValueFromModel(no, body());
    model.addOperation(model.getExtensionOperationType(wideExtension, "WIDEN"), [input], [start]);
    model.addOperation("IF", [flag, yes, no, start], [end]);
    model.addOperation(model.getExtensionOperationType(wideExtension, "NARROW"), [end], [output]);
    model.identifyInputsAndOutputs([input], [output]);
    model.finish();
    return model;
  }

  it("around operations of extensions runs on one device", async () => {
    expect(await run(new Compilation(loop(), [all]), [1])).toEqual([16]);
    expect(await run(new Compilation(branches(), [all]), [1])).toEqual([6]);
  });

  it("with a value of an extension that the device lacks is not supported, even if nothing inside reads it", async () => {
    const inner = new Model(options);
    const [unread, read, floor] = addOperands(inner, { type: LONG }, float32(1), float32(1));
    inner.addOperation("FLOOR", [read], [floor]);
    inner.identifyInputsAndOutputs([unread, read], [floor]);
    inner.finish();
    const model = new Model(options);
    const SUBGRAPH = { type: "SUBGRAPH" } as const;
    const [flag, yes, no, left, right, end] = addOperands(
      model,
      BOOL,
      SUBGRAPH,
      SUBGRAPH,
      { type: LONG },
      float32(1),
      float32(1),
    );
    model.setOperandValueFromModel(yes, inner);
    model.setOperandValueFromModel(no, inner);
    model.addOperation("IF", [flag, yes, no, left, right], [end]);
    model.identifyInputsAndOutputs([flag, left, right], [end]);
    model.finish();
    expect((await all.getSupportedOperations(model.hal)).supported).toEqual([true]);
    expect(await plain.getSupportedOperations(model.hal)).toMatchObject({
      supported: [false],
      reasons: ["IF: input 3 is of an extension type that the engine does not know"],
    });
  });

  it("is interpreted if its operations are on several devices", async () => {
    const devices = [widening, narrowing, plain];
    for (const [model, expected, kind] of [
      [loop(), 16, "while"],
      [branches(), 6, "if"],
    ] as const) {
      const compilation = new Compilation(model, devices, { cpu: plain });
      expect(await run(compilation, [1])).toEqual([expected]);
      expect(compilation.plan.steps.map(({ kind }) => kind)).toEqual(["execution", kind, "execution"]);
    }
  });
});

describe("fallback to the CPU", () => {
  /** Fails each execution. */
  const makeFailing = (): Device =>
    withPrepared(all, () => ({
      execute: async () => ({
        status: ErrorStatus.GENERAL_FAILURE,
        message: "worn out",
        outputShapes: [],
        timing: { timeOnDevice: 0n, timeInDriver: 0n },
      }),
    }));

  it("runs operations of extensions if the CPU was given the extension", async () => {
    const cpu = await deviceWith("cpu", wideExtension);
    const told: string[] = [];
    const compilation = new Compilation(chain(2), [{ ...makeFailing(), name: "failing" }, cpu], {
      cpu,
      onFallback: (text) => told.push(text),
    });
    expect(await run(compilation, [1, 2])).toEqual([3, 4]);
  });

  it.each([
    ["the extension", plain],
    ["one of them", only(all, WIDEN)],
  ])("is not tried if the CPU lacks %s", async (_, cpu) => {
    const told: string[] = [];
    const compilation = new Compilation(chain(2), [{ ...makeFailing(), name: "failing" }, cpu], {
      cpu,
      onFallback: (text) => told.push(text),
    });
    await expect(run(compilation, [1, 2])).rejects.toThrow("worn out");
    expect(told).toEqual([]);
  });
});

it("names the extension in messages as models do", () => {
  const model = new Model(options);
  expect(() => model.addOperand({ type: TENSOR_LONG, dimensions: [2], scale: 1 })).toThrow(`${wideName} type 5`);
});
