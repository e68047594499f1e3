import { openDevice } from "@nnhal/driver-core/device";
import { constant, input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import {
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type Model,
  type Operand,
  OperandType,
  OperationType,
  type OperationTypeName,
} from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { afterAll, describe, expect, it } from "vitest";
import { type SampleOptions, sampleBackend } from "./sample-backend.ts";
import { type Sample, type SampleName, samples } from "./table.ts";

const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const device of opened) await device.close();
});

async function openSample(name: SampleName, options: SampleOptions = {}): Promise<Device> {
  const sample: Sample | undefined = samples.find((one) => one.name === name);
  if (sample === undefined) throw new Error(name);
  const backend = sampleBackend(sample, options);
  const device = await openDevice({ name: options.name ?? name, backend, caching: false, log: silentLogger });
  if ("unavailable" in device) throw new Error(device.unavailable);
  opened.push(device);
  return device;
}

/** A model of one operation with the same facts for its tensors. */
function oneOperation(type: OperationTypeName, facts: Partial<Operand>, inputs: "one" | "two" | "activated"): Model {
  const tensor = { ...facts, ...input };
  const operands = [
    ...(inputs === "one" ? [operand(tensor)] : [operand(tensor), operand(tensor)]),
    ...(inputs === "activated" ? [constant("INT32", 0, 4)] : []),
    operand({ ...facts, ...output }),
  ];
  const last = operands.length - 1;
  const read = operands.slice(0, last).map((_, index) => index);
  const main = subgraphOf(operands, [{ type: OperationType[type], inputs: read, outputs: [last] }]);
  return modelOf(main, { operandValues: new Uint8Array(4) });
}

const float = { type: OperandType.TENSOR_FLOAT32 };
const half = { type: OperandType.TENSOR_FLOAT16 };
const quant = { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 0.5, zeroPoint: 1 };
const signed = { type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED, scale: 0.5, zeroPoint: 1 };

const models = {
  add: oneOperation("ADD", float, "activated"),
  half: oneOperation("ADD", half, "activated"),
  quant: oneOperation("ADD", quant, "activated"),
  signed: oneOperation("ADD", signed, "activated"),
  relu: oneOperation("RELU", float, "one"),
  sin: oneOperation("SIN", float, "one"),
  pow: oneOperation("POW", float, "two"),
} as const;

/** SELECT: a mask, then two tensors. */
function select(facts: Partial<Operand>): Model {
  const mask = operand({ type: OperandType.TENSOR_BOOL8, ...input });
  const tensors = [mask, operand({ ...facts, ...input }), operand({ ...facts, ...input })];
  const operation = { type: OperationType.SELECT, inputs: [0, 1, 2], outputs: [3] };
  return modelOf(subgraphOf([...tensors, operand({ ...facts, ...output })], [operation]));
}

const oem = modelOf(
  subgraphOf(
    [operand({ ...float, ...input }), operand({ ...float, ...output })],
    [{ type: OperationType.OEM_OPERATION, inputs: [0], outputs: [1] }],
  ),
);

async function take(device: Device): Promise<string[]> {
  const names: string[] = [];
  for (const [name, model] of Object.entries(models)) {
    const answer = await device.getSupportedOperations(model);
    expect(answer.status).toBe(ErrorStatus.NONE);
    if (answer.supported[0]) names.push(name);
  }
  return names;
}

describe.each(samples.map(({ name }) => name))("%s", (name) => {
  it("is the CPU, an example, without extensions and caching", async () => {
    const device = await openSample(name);
    expect(device.name).toBe(name);
    expect(device.getType().type).toBe(DeviceType.CPU);
    expect(device.getVersionString().version).toBe("JUST_AN_EXAMPLE");
    expect(device.getSupportedExtensions().extensions).toEqual([]);
    expect(device.getNumberOfCacheFilesNeeded()).toMatchObject({ numModelCache: 0, numDataCache: 0 });
    expect(device.getStatus()).toBe(DeviceStatus.AVAILABLE);
    const token = new Uint8Array(32);
    const cached = await device.prepareModelFromCache?.({ modelCache: [], dataCache: [], token });
    expect(cached).toMatchObject({ status: ErrorStatus.GENERAL_FAILURE, preparedModel: null });
  });
});

describe("the figures", () => {
  const figures = async (name: SampleName) => {
    const { capabilities } = (await openSample(name)).getCapabilities();
    const { relaxedFloat32toFloat16PerformanceScalar: scalar, relaxedFloat32toFloat16PerformanceTensor: relaxed } =
      capabilities;
    const of = (type: number) => capabilities.operandPerformance.find((one) => one.type === type)?.info;
    const { FLOAT32, TENSOR_FLOAT32, TENSOR_FLOAT16, TENSOR_QUANT8_ASYMM } = OperandType;
    const all = [scalar, relaxed, of(FLOAT32), of(TENSOR_FLOAT32), of(TENSOR_FLOAT16), of(TENSOR_QUANT8_ASYMM)];
    return [...all, capabilities.ifPerformance, capabilities.whilePerformance].map((info) => [
      info?.execTime,
      info?.powerUsage,
    ]);
  };
  const rows = (relaxed: number[], float32: number[], rest: number[]) => [
    ...[relaxed, relaxed, float32, float32],
    ...[rest, rest, rest, rest],
  ];

  it.each<[SampleName, number[], number[], number[]]>([
    ["nnapi-sample_all", [1.1, 1.1], [1.1, 1.1], [1.1, 1.1]],
    ["nnapi-sample_float_fast", [0.7, 1.1], [0.8, 1.2], [1, 1]],
    ["nnapi-sample_float_slow", [1.2, 0.6], [1.3, 0.7], [1, 1]],
    ["nnapi-sample_quant", [50, 1], [50, 1], [50, 1]],
    ["nnapi-sample_minimal", [0.8, 0.8], [0.8, 0.8], [0.8, 0.8]],
    ["nnapi-sample_float_xnnpack", [0.7, 0.7], [0.7, 0.7], [1, 1]],
  ])("of %s", async (name, relaxed, float32, rest) => {
    const found = await figures(name);
    expect(found).toEqual(rows(relaxed, float32, rest).map((pair) => pair.map((value) => expect.closeTo(value, 6))));
  });
});

describe("the operations", () => {
  it.each<[SampleName, (keyof typeof models)[]]>([
    ["nnapi-sample_all", ["add", "half", "quant", "signed", "relu", "sin", "pow"]],
    ["nnapi-sample_float_fast", ["add", "relu", "sin", "pow"]],
    ["nnapi-sample_float_slow", ["add", "relu", "sin", "pow"]],
    ["nnapi-sample_quant", ["quant", "signed"]],
    ["nnapi-sample_minimal", ["add"]],
    ["nnapi-sample_float_xnnpack", ["add", "relu"]],
  ])("of %s", async (name, expected) => {
    expect(await take(await openSample(name))).toEqual(expected);
  });

  it("SELECT counts by its operand 1", async () => {
    const device = await openSample("nnapi-sample_quant");
    expect(await device.getSupportedOperations(select(quant))).toMatchObject({ supported: [true] });
    expect(await device.getSupportedOperations(select(float))).toMatchObject({
      supported: [false],
      reasons: [
        "nnapi-sample_quant: SELECT: input 1 is TENSOR_FLOAT32, and it takes TENSOR_QUANT8_ASYMM and TENSOR_QUANT8_ASYMM_SIGNED",
      ],
    });
  });

  it("a model with an operation that is not supported is not prepared", async () => {
    const device = await openSample("nnapi-sample_minimal");
    expect(await device.prepareModel(models.relu)).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      preparedModel: null,
      message: expect.stringContaining("nnapi-sample_minimal: RELU is not one of its operations"),
    });
  });
});

describe("OEM_OPERATION", () => {
  it("is listed by nnapi-sample_all and prepared, and its execution fails", async () => {
    const device = await openSample("nnapi-sample_all");
    expect(await device.getSupportedOperations(oem)).toMatchObject({ supported: [true] });
    const { preparedModel, message } = await device.prepareModel(oem);
    if (preparedModel === null) throw new Error(message);
    const { memoryOf } = await import("@nnhal/driver-core/memory");
    const pools = [new Uint8Array(16)].map((bytes) => ({ kind: "memory", memory: memoryOf(bytes) }) as const);
    const at = (offset: number) => ({
      hasNoValue: false,
      location: { poolIndex: 0, offset, length: 8 },
      dimensions: [],
    });
    expect(await preparedModel.execute({ inputs: [at(0)], outputs: [at(8)], pools })).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: expect.stringContaining("OEM_OPERATION cannot be executed"),
    });
  });

  it("is not listed by the others", async () => {
    const device = await openSample("nnapi-sample_float_fast");
    expect(await device.getSupportedOperations(oem)).toMatchObject({ supported: [false] });
  });
});

describe("debug.nn.sample.supported", () => {
  const wide = (extent: number) => oneOperation("RELU", { ...float, dimensions: [extent] }, "one");
  const deniedBy = async (name: string | undefined, setting: string) => {
    const device = await openSample("nnapi-sample_all", { name, properties: () => setting });
    const extents = Array.from({ length: 64 }, (_, index) => index + 1);
    const answers = await Promise.all(extents.map((extent) => device.getSupportedOperations(wide(extent))));
    return extents.filter((_, index) => !answers[index]?.supported[0]);
  };

  it("makes a device whose name starts with sample deny about half of the operations, always the same", async () => {
    const denied = await deniedBy("sample-a", "1");
    expect(denied.length).toBeGreaterThan(16);
    expect(denied.length).toBeLessThan(48);
    expect(await deniedBy("sample-a", "1")).toEqual(denied);
    expect(await deniedBy("sample-b", "1")).not.toEqual(denied);
  });

  it("does nothing for other values and names", async () => {
    expect(await deniedBy("sample-a", "0")).toEqual([]);
    expect(await deniedBy(undefined, "1")).toEqual([]);
  });
});
