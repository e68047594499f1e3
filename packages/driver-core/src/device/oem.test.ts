/**
 * OEM_OPERATION, the OEM scalar and TENSOR_OEM_BYTE: an engine that has the operation receives its operands, whatever they are, and an OEM
 * scalar with as many bytes as it has. All other engines refuse it.
 */
import { capabilitiesOf, type Kernel, kernelBackend } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import type { AnyTensorData } from "@nnhal/operations";
import { any, defineOperation, tensor, variadic } from "@nnhal/operations/authoring";
import { constant, input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import { DeviceType, ErrorStatus, type Model, type Operand, OperandType, OperationType } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { modelIssues } from "@nnhal/validation";
import { afterAll, describe, expect, it } from "vitest";
import { memoryOf } from "../memory/memory.ts";
import { asV1_0, liftDevice } from "../versions/index.ts";
import { type OpenedDevice, openDevice } from "./device.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

const oemOperation = defineOperation({
  name: "OEM_OPERATION",
  code: OperationType.OEM_OPERATION,
  summary: "Joins the bytes of its inputs.",
  params: [variadic(any("parts"))],
  outputs: [tensor("joined")],
  types: [
    ["1.0", "OEM"],
    ["1.0", "TENSOR_OEM_BYTE"],
  ],
  infer: () => ({ joined: { dimensions: [] } }),
});

/** Joins the bytes of its inputs. */
const joining: Kernel<AnyTensorData> = {
  prepare: (args) => (read) => {
    // The arguments have the names of the definition.
    const { parts } = args as { readonly parts: readonly Parameters<typeof read>[0][] };
    const bytes = parts.flatMap((part) => {
      const { buffer, byteOffset, byteLength } = read(part);
      return [...new Uint8Array(buffer, byteOffset, byteLength)];
    });
    return [Uint8Array.from(bytes)];
  },
};

const oemBackend = kernelBackend<AnyTensorData>({
  name: "oem",
  deviceType: DeviceType.OTHER,
  open: async () => ({
    version: "1",
    capabilities: capabilitiesOf({ float: 1, quantised: 1 }),
    isHost: true,
    kernels: {},
    oem: { operation: oemOperation, kernel: joining },
    upload: (_, data) => data,
    download: (handle) => handle,
    release() {},
    close() {},
  }),
});

const opened: OpenedDevice[] = [];
afterAll(async () => {
  for (const device of opened) await device.close();
});

async function open(backend: typeof oemBackend): Promise<OpenedDevice> {
  const device = await openDevice({ backend, log: silentLogger });
  if ("unavailable" in device) throw new Error(device.unavailable);
  opened.push(device);
  return device;
}

const device = await open(oemBackend);
const reference = await open(referenceBackend);

const scalar = { type: OperandType.OEM, dimensions: [] };

/** Joins an OEM scalar, one of five bytes that is a constant, a tensor of two bytes, and a float. `facts`: of the scalar. */
function oemModel(facts: Partial<Operand> = {}): Model {
  return modelOf(
    subgraphOf(
      [
        operand({ ...scalar, ...facts, ...input }),
        constant("OEM", 0, 5),
        operand({ type: OperandType.TENSOR_OEM_BYTE, dimensions: [2], ...input }),
        operand({ dimensions: [1], ...input }),
        operand({ ...scalar, ...output }),
      ],
      [{ type: OperationType.OEM_OPERATION, inputs: [0, 1, 2, 3], outputs: [4] }],
    ),
    { operandValues: Uint8Array.of(1, 2, 3, 4, 5) },
  );
}

/** Executes it with an OEM scalar of some bytes, and an output of some bytes. */
async function join(scalarBytes: number, outputBytes: number) {
  const { preparedModel, message } = await device.prepareModel(oemModel());
  if (preparedModel === null) throw new Error(message);
  const bytes = new Uint8Array(outputBytes);
  const arguments_ = [
    new Uint8Array(scalarBytes).fill(9),
    Uint8Array.of(7, 8),
    new Uint8Array(Float32Array.of(1).buffer),
    bytes,
  ];
  const all = arguments_.map((one, poolIndex) => ({
    hasNoValue: false,
    location: { poolIndex, offset: 0, length: one.length },
    dimensions: [],
  }));
  const pools = arguments_.map((one) => ({ kind: "memory", memory: memoryOf(one) }) as const);
  const result = await preparedModel.execute({ inputs: all.slice(0, 3), outputs: all.slice(3), pools });
  preparedModel.close();
  return { result, bytes: [...bytes] };
}

describe("a model with OEM_OPERATION", () => {
  it("is valid, whatever its operands are", () => {
    expect(modelIssues(oemModel())).toEqual([]);
    expect(modelIssues(oemModel(), { version: "1.0" })).toEqual([]);
    // Neither scale nor zero point of an OEM operand is checked.
    expect(modelIssues(oemModel({ scale: 3, zeroPoint: -7 }))).toEqual([]);
    const { main, ...model } = oemModel();
    const operations = [{ type: OperationType.OEM_OPERATION, inputs: [3, 0, 0, 1, 2], outputs: [4] }];
    const operands = main.operands.map((one, index) => ({ ...one, numberOfConsumers: [2, 1, 1, 1, 0][index] ?? 0 }));
    expect(modelIssues({ ...model, main: { ...main, operands, operations } })).toEqual([]);
  });

  it("still keeps the rules of graphs, and an OEM scalar has no dimensions", () => {
    const { main, ...model } = oemModel();
    const operations = [{ type: OperationType.OEM_OPERATION, inputs: [0, 1, 2, 99], outputs: [4] }];
    expect(modelIssues({ ...model, main: { ...main, operations } })).not.toEqual([]);
    expect(modelIssues(oemModel({ dimensions: [1] }))).toMatchObject([{ code: "scalar-rank" }]);
  });
});

describe("a device whose engine has OEM_OPERATION", () => {
  it("supports it", () => {
    expect(device.getSupportedOperations(oemModel())).toEqual({
      status: NONE,
      supported: [true],
      reasons: [undefined],
    });
  });

  it.each([0, 1, 3])("gives the kernel all bytes of OEM scalars: an input of %i, a constant of 5", async (count) => {
    const nines = new Array<number>(count).fill(9);
    const { result, bytes } = await join(count, 14);
    expect(result).toMatchObject({ status: NONE, outputShapes: [{ dimensions: [], isSufficient: true }] });
    expect(bytes.slice(0, count + 11)).toEqual([...nines, 1, 2, 3, 4, 5, 7, 8, 0, 0, 0x80, 0x3f]);
  });

  it("says if an OEM scalar does not fit its output, and writes nothing", async () => {
    expect((await join(3, 14)).result.status).toBe(NONE);
    const { result, bytes } = await join(3, 13);
    expect(result).toMatchObject({
      status: OUTPUT_INSUFFICIENT_SIZE,
      message: "output 0, an OEM scalar, has 14 bytes, not 13",
      outputShapes: [{ dimensions: [], isSufficient: false }],
    });
    expect(bytes).toEqual(new Array(13).fill(0));
  });

  it("has no device memory for an OEM scalar, whose size it does not know", async () => {
    const { preparedModel } = await device.prepareModel(oemModel());
    const roles = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
    expect(await device.allocate({ dimensions: [] }, [preparedModel], roles, [])).toMatchObject({
      status: GENERAL_FAILURE,
      message: "allocating a buffer: operands of type OEM have no known size",
    });
  });

  it("is served at every HAL version", async () => {
    const lifted = liftDevice("old", asV1_0(device));
    expect((await lifted.getSupportedOperations(oemModel())).supported).toEqual([true]);
    expect((await lifted.prepareModel(oemModel())).status).toBe(NONE);
  });

  it("refuses operands that its definition does not have, with a reason", () => {
    const { main, ...model } = oemModel();
    const operands = main.operands.map((one, index) =>
      index === 4 ? { ...one, type: OperandType.TENSOR_FLOAT32, dimensions: [1] } : one,
    );
    expect(device.getSupportedOperations({ ...model, main: { ...main, operands } })).toMatchObject({
      supported: [false],
      reasons: [expect.stringContaining("OEM_OPERATION: output 0 (joined): expected OEM, got TENSOR_FLOAT32")],
    });
  });
});

describe("a device whose engine lacks it", () => {
  it("refuses it with a reason: the reference never has it", async () => {
    const reason = "OEM_OPERATION: the engine has no definition of this operation";
    expect(reference.getSupportedOperations(oemModel())).toEqual({
      status: NONE,
      supported: [false],
      reasons: [reason],
    });
    expect(await reference.prepareModel(oemModel())).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining(reason),
    });
  });
});
