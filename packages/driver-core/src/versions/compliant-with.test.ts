import {
  constant,
  controlModel,
  floorModel,
  input,
  loopModel,
  modelOf,
  operand,
  operation,
  output,
  subgraphOf,
} from "@nnhal/test-kit/models";
import {
  ErrorStatus,
  type HalVersion,
  halVersions,
  hidlVersions,
  type Memory,
  type Model,
  OperandLifeTime,
  OperandType,
  OperationType,
  type Request,
} from "@nnhal/types";
import { lookup, nonExtensionOperandPerformance, update } from "@nnhal/utils";
import { minimumVersion, validateModel } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { allocateHardwareBuffer } from "../memory/hardware-buffer.ts";
import { noncompliantOperations } from "./compliance/needs.ts";
import {
  complianceWith,
  compliantWithV1_0,
  compliantWithV1_1,
  compliantWithV1_2,
  compliantWithV1_3,
} from "./compliant-with.ts";

/** Expects a value to fit exactly the versions from `least` on; undefined: none. */
function expectSince(fits: (version: HalVersion) => boolean, least: HalVersion | undefined): void {
  const expected = halVersions.filter((version) => least !== undefined && version >= least);
  expect(halVersions.filter(fits)).toEqual(expected);
}

/** A memory of 8 bytes, with the kind of handle that its name asks for. */
function memory(name: string): Memory {
  const content = { kind: "buffer", buffer: new ArrayBuffer(8), byteOffset: 0 } as const;
  switch (name) {
    case "mmap_fd":
      return { name, size: 8, handle: { kind: "fileDescriptor", fd: 3, protection: 1, offset: 0 } };
    case "hardware_buffer":
      return allocateHardwareBuffer({ width: 2, height: 1, layers: 1, format: 1, usage: 0x33n, stride: 2 });
    default:
      return { name, size: 8, handle: content };
  }
}

/** A quantised PAD, whose zero point decides its version. */
function padModel(zeroPoint: number): Model {
  const tensor = { type: OperandType.TENSOR_QUANT8_ASYMM, dimensions: [1, 1, 2, 1], scale: 1, zeroPoint };
  const pads = constant("TENSOR_INT32", 0, 32, { dimensions: [4, 2] });
  return modelOf(
    subgraphOf(
      [operand({ ...tensor, ...input }), pads, operand({ ...tensor, ...output })],
      [operation("PAD", [0, 1], [2])],
    ),
    { operandValues: new Uint8Array(32) },
  );
}

/** A sparse or dense LSH_PROJECTION: the value of a constant decides its version. */
function projectionModel(kind: number): Model {
  const operands = [
    operand({ dimensions: [2, 2], ...input }),
    operand({ type: OperandType.TENSOR_INT32, dimensions: [2], ...input }),
    operand({ dimensions: [2], ...input }),
    constant("INT32", 0, 4),
    operand({ type: OperandType.TENSOR_INT32, dimensions: [2], ...output }),
  ];
  const operandValues = new Uint8Array(Int32Array.of(kind).buffer);
  return modelOf(subgraphOf(operands, [operation("LSH_PROJECTION", [0, 1, 2, 3], [4])]), { operandValues });
}

const withExtension: Model = {
  ...floorModel(),
  main: subgraphOf(
    [operand({ type: 0x1_0001, dimensions: [], ...input }), operand(output)],
    [{ type: 0x1_0002, inputs: [0], outputs: [1] }],
  ),
  extensionNameToPrefix: [{ name: "com.example", prefix: 1 }],
};

describe("compliance of models", () => {
  it.each<[string, Model, HalVersion]>([
    ["FLOOR", floorModel(), "1.0"],
    ["FLOOR of float16", floorModel({ type: OperandType.TENSOR_FLOAT16 }), "1.2"],
    ["an unknown rank", floorModel({ dimensions: [] }), "1.2"],
    ["unknown extents", floorModel({ dimensions: [0] }), "1.0"],
    ["permission to relax", { ...floorModel(), relaxComputationFloat32toFloat16: true }, "1.0"],
    ["an unused pool of hardware_buffer_blob", { ...floorModel(), pools: [memory("hardware_buffer_blob")] }, "1.2"],
    ["a pool of mmap_fd", { ...floorModel(), pools: [memory("mmap_fd")] }, "1.0"],
    ["an unused BOOL", withUnused("BOOL"), "1.2"],
    ["PAD at zero point 0", padModel(0), "1.1"],
    ["PAD at zero point 1", padModel(1), "1.2"],
    ["a dense LSH_PROJECTION", projectionModel(2), "1.0"],
    ["a sparse LSH_PROJECTION", projectionModel(3), "1.2"],
    ["an extension", withExtension, "1.2"],
    ["a referenced subgraph that nothing uses", { ...floorModel(), referenced: [floorModel().main] }, "1.3"],
    ["IF", controlModel, "1.3"],
    ["WHILE", loopModel, "1.3"],
  ])("%s", (_name, model, least) => {
    expect(minimumVersion(model)).toBe(least);
    expectSince((version) => complianceWith(version).model(model), least);
  });

  function withUnused(type: keyof typeof OperandType): Model {
    const model = floorModel();
    return {
      ...model,
      main: { ...model.main, operands: [...model.main.operands, constant(type, 0, 1)] },
      operandValues: new Uint8Array(1),
    };
  }

  it("tells versions from models of older shapes too", () => {
    const { main, operandValues, pools } = padModel(1);
    const operands = main.operands.map(({ extraParams: _none, ...old }) => old);
    const old = { ...main, operands, operandValues, pools };
    expectSince((version) => complianceWith(version).model(old), "1.2");
  });

  it("is with no version where no version documents an operation", () => {
    const model = modelOf(subgraphOf([operand(input), operand(output)], [operation("ADD", [0], [1])]));
    expectSince((version) => complianceWith(version).model(model), undefined);
    const unknown = modelOf(subgraphOf([operand(input), operand(output)], [{ type: 102, inputs: [0], outputs: [1] }]));
    expectSince((version) => complianceWith(version).model(unknown), undefined);
  });

  it("asks nothing of OEM operations", () => {
    const model = modelOf(subgraphOf([operand(input), operand(output)], [operation("OEM_OPERATION", [0], [1])]));
    expect(halVersions.filter((version) => complianceWith(version).model(model))).toEqual(hidlVersions);
  });
});

describe("noncompliantOperations", () => {
  it("are those that are too new, have an operand that is, or read a constant from a pool that is", () => {
    const inPool = (index: number) =>
      operand({
        lifetime: OperandLifeTime.CONSTANT_REFERENCE,
        location: { poolIndex: index, offset: 0, length: 8 },
      });
    const model: Model = {
      ...modelOf(
        subgraphOf(
          [
            operand(input),
            inPool(0),
            inPool(1),
            operand({ type: OperandType.TENSOR_FLOAT16 }),
            operand(output),
            operand(output),
            operand(output),
            operand(output),
          ],
          [
            operation("FLOOR", [0], [4]),
            operation("FLOOR", [1], [5]),
            operation("FLOOR", [2], [6]),
            operation("CAST", [0], [3]),
            operation("ABS", [0], [7]),
          ],
        ),
      ),
      pools: [memory("ashmem"), memory("hardware_buffer_blob")],
    };
    expect(noncompliantOperations(model, "1.0")).toEqual([2, 3, 4]);
    expect(noncompliantOperations(model, "1.2")).toEqual([]);
  });
});

describe("compliance of operands and codes", () => {
  it.each<[string, Parameters<typeof operand>[0], HalVersion | undefined]>([
    ["a tensor", {}, "1.0"],
    ["a scalar", { type: OperandType.INT32, dimensions: [] }, "1.0"],
    ["a tensor of unknown rank", { dimensions: [] }, "1.2"],
    ["a BOOL", { type: OperandType.BOOL, dimensions: [] }, "1.2"],
    ["a signed tensor", { type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED }, "1.3"],
    ["a subgraph", { type: OperandType.SUBGRAPH, lifetime: OperandLifeTime.SUBGRAPH, dimensions: [] }, "1.3"],
    ["an extension's", { type: 0x1_0000, extraParams: { kind: "extension", extension: Uint8Array.of(1) } }, "1.2"],
    ["an unknown type", { type: 16 }, undefined],
    ["an unknown lifetime", { lifetime: 7 }, undefined],
  ])("%s", (_name, facts, least) => {
    expectSince((version) => complianceWith(version).operand(operand(facts)), least);
  });

  it("knows lifetimes, operations and statuses", () => {
    expectSince((v) => complianceWith(v).operandLifeTime(OperandLifeTime.NO_VALUE), "1.0");
    expectSince((v) => complianceWith(v).operandLifeTime(OperandLifeTime.SUBGRAPH), "1.3");
    expectSince((v) => complianceWith(v).operationType(OperationType.DIV), "1.1");
    expectSince((v) => complianceWith(v).operationType(OperationType.RANK), "1.3");
    expectSince((v) => complianceWith(v).operationType(0x1_0000), "1.2");
    expectSince((v) => complianceWith(v).operationType(-1), undefined);
    expectSince((v) => complianceWith(v).errorStatus(ErrorStatus.INVALID_ARGUMENT), "1.0");
    expectSince((v) => complianceWith(v).errorStatus(ErrorStatus.MISSED_DEADLINE_TRANSIENT), "1.3");
  });
});

describe("compliance of requests", () => {
  const requestOf = (pool: Request["pools"][number]): Request => ({ inputs: [], outputs: [], pools: [pool] });

  it.each<[string, Request["pools"][number], HalVersion | undefined]>([
    ["ashmem", { kind: "memory", memory: memory("ashmem") }, "1.0"],
    ["mmap_fd", { kind: "memory", memory: memory("mmap_fd") }, "1.0"],
    ["hardware_buffer_blob", { kind: "memory", memory: memory("hardware_buffer_blob") }, "1.2"],
    ["hardware_buffer", { kind: "memory", memory: memory("hardware_buffer") }, "1.2"],
    ["a token", { kind: "token", token: 1 }, "1.3"],
    ["another name", { kind: "memory", memory: memory("other") }, undefined],
  ])("%s", (_name, pool, least) => {
    expectSince((version) => complianceWith(version).request(requestOf(pool)), least);
  });

  it("takes requests of older shapes", () => {
    const request = { inputs: [], outputs: [], pools: [memory("hardware_buffer")] };
    expect(compliantWithV1_1.request(request)).toBe(false);
    expect(compliantWithV1_2.request(request)).toBe(true);
  });
});

describe("compliance of capabilities", () => {
  const one = { execTime: 1, powerUsage: 1 };
  const fast = { execTime: 0.5, powerUsage: 1 };
  const even = {
    relaxedFloat32toFloat16PerformanceScalar: one,
    relaxedFloat32toFloat16PerformanceTensor: one,
    operandPerformance: nonExtensionOperandPerformance(one),
    ifPerformance: one,
    whilePerformance: fast,
  };
  const but = (type: keyof typeof OperandType) => ({
    ...even,
    operandPerformance: update(even.operandPerformance, OperandType[type], fast),
  });

  it.each([
    ["one performance for all", even, "1.0"],
    ["a faster type that is newer", but("TENSOR_FLOAT16"), "1.0"],
    ["a faster FLOAT32", but("FLOAT32"), "1.2"],
    ["a faster TENSOR_FLOAT32", but("TENSOR_FLOAT32"), "1.2"],
    ["a faster INT32", but("INT32"), "1.2"],
    ["a faster TENSOR_QUANT8_ASYMM", but("TENSOR_QUANT8_ASYMM"), "1.2"],
    ["a faster OEM", but("OEM"), "1.2"],
    ["faster relaxed scalars", { ...even, relaxedFloat32toFloat16PerformanceScalar: fast }, "1.2"],
    ["faster relaxed tensors", { ...even, relaxedFloat32toFloat16PerformanceTensor: fast }, "1.2"],
    [
      "faster relaxed values",
      {
        ...even,
        relaxedFloat32toFloat16PerformanceScalar: fast,
        relaxedFloat32toFloat16PerformanceTensor: fast,
      },
      "1.1",
    ],
    [
      "a missing entry where its neighbours have one",
      { ...even, operandPerformance: even.operandPerformance.filter(({ type }) => type !== OperandType.UINT32) },
      "1.2",
    ],
  ] as const)("%s", (_name, capabilities, least) => {
    expectSince((version) => complianceWith(version).capabilities(capabilities), least);
  });

  it("takes capabilities of older shapes", () => {
    const old = { float32Performance: one, quantized8Performance: fast };
    expect(compliantWithV1_0.capabilities(old)).toBe(true);
    const relaxed = { ...old, relaxedFloat32toFloat16Performance: fast };
    expect(compliantWithV1_0.capabilities(relaxed)).toBe(false);
    expect(compliantWithV1_1.capabilities(relaxed)).toBe(true);
    expect(compliantWithV1_0.capabilities({ ...relaxed, relaxedFloat32toFloat16Performance: one })).toBe(true);
    expect(compliantWithV1_3.capabilities(even)).toBe(true);
    expect(lookup(even.operandPerformance, OperandType.INT32)).toBe(one);
  });
});

describe("compliance and validation", () => {
  const oem = (type: number): Model => {
    const { main, ...rest } = floorModel();
    return { ...rest, main: { ...main, operations: main.operations.map((each) => ({ ...each, type })) } };
  };
  const prefixed = (prefix: number): Model => ({
    ...oem(prefix * 0x1_0000 + 1),
    extensionNameToPrefix: [{ name: "com.example", prefix }],
  });

  it.each<[string, Model]>([
    ["FLOOR", floorModel()],
    ["OEM_OPERATION", oem(OperationType.OEM_OPERATION)],
    ["a prefix of 15 bits", prefixed(0x7fff)],
    ["a prefix of 16 bits", prefixed(0x8000)],
    ["control flow", controlModel],
    ["an extension", withExtension],
  ])("agree on %s in every version", (_name, model) => {
    for (const version of halVersions) {
      expect([version, validateModel(model, { version })]).toEqual([version, complianceWith(version).model(model)]);
    }
  });
});
