import { defineOperation, tensor } from "@nnhal/operations/authoring";
import {
  changePart,
  controlModel,
  describeExtension,
  floorModel,
  input,
  listRules,
  loopModel,
  modelOf,
  operand,
  operation,
  output,
  subgraphOf,
  withExtensions,
} from "@nnhal/test-kit/models";
import {
  halVersions,
  isAidl,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { minimumVersion, modelIssues, validateModel, versionRequirements } from "./index.ts";

const findUnused = (facts: Partial<Operand>) =>
  changePart(floorModel(), "main.operands[3]", operand({ lifetime: OperandLifeTime.NO_VALUE, ...facts }));

const unary = (name: Parameters<typeof operation>[0], facts: Partial<Operand> = {}) =>
  modelOf(subgraphOf([operand({ ...facts, ...input }), operand({ ...facts, ...output })], [operation(name, [0], [1])]));

const memory = { size: 1, handle: { kind: "fileDescriptor", fd: 0, protection: 1, offset: 0 } } as const;

const models: readonly (readonly [what: string, version: (typeof halVersions)[number], model: Model])[] = [
  ["operations of 1.0", "1.0", floorModel()],
  [
    "ashmem and mmap_fd",
    "1.0",
    changePart(floorModel(), "pools", [
      { name: "ashmem", ...memory },
      { name: "mmap_fd", ...memory },
    ]),
  ],
  ["the relaxed flag", "1.0", changePart(floorModel(), "relaxComputationFloat32toFloat16", true)],
  ["unknown extents", "1.0", floorModel({ dimensions: [0, 2] })],
  ["an operation of 1.2", "1.2", unary("ABS")],
  ["an operation of 1.3", "1.3", unary("HARD_SWISH")],
  [
    "types that an operation takes since 1.2",
    "1.2",
    unary("TANH", { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 1 / 128, zeroPoint: 128 }),
  ],
  ["types that an operation takes since 1.3", "1.3", unary("ABS", { type: OperandType.TENSOR_INT32 })],
  ["a type of 1.2", "1.2", findUnused({ type: OperandType.BOOL, dimensions: [] })],
  ["a type of 1.3", "1.3", findUnused({ type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED, scale: 1 })],
  ["an extension's type", "1.2", withExtensions(findUnused({ type: 0x1_0000 }))],
  ["an extension's operation", "1.2", withExtensions(changePart(floorModel(), "main.operations[1].type", 0x1_0000))],
  ["an unknown rank", "1.2", floorModel({ dimensions: [] })],
  ["a rank that an operation takes since 1.2", "1.2", unary("L2_NORMALIZATION", { dimensions: [2, 2] })],
  ["a hardware_buffer_blob", "1.2", changePart(floorModel(), "pools", [{ name: "hardware_buffer_blob", ...memory }])],
  ["a referenced subgraph", "1.3", changePart(floorModel(), "referenced", [floorModel().main])],
  ["control flow", "1.3", controlModel],
  ["a loop", "1.3", loopModel],
];

/** An operation that the FLOOR of the model does not fit. */
const twoInputs = defineOperation({
  name: "TWO_INPUTS",
  code: 0x1_0003,
  summary: "Reads two tensors.",
  params: [tensor("left"), tensor("right")],
  outputs: [tensor("output")],
  types: [["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
});

describe("minimumVersion", () => {
  it.each(models)("of %s is %s", (_, version, model) => {
    expect(minimumVersion(model)).toBe(version);
  });

  it.each(models)("of %s: at it and later the model is valid, before it is not", (_, version, model) => {
    for (const other of halVersions) expect(validateModel(model, { version: other })).toBe(other >= version);
  });

  it("of a model that is valid at no version is undefined", () => {
    expect(minimumVersion(changePart(floorModel(), "main.operands[1].numberOfConsumers", 2))).toBeUndefined();
    expect(minimumVersion(floorModel({ type: OperandType.TENSOR_INT32 }))).toBeUndefined();
    expect(minimumVersion(changePart(floorModel(), "main", null))).toBeUndefined();
  });

  it("accepts the mode and the extensions of validation", () => {
    const loop = changePart(loopModel, "main.operands[0].dimensions", []);
    expect(minimumVersion(loop)).toBeUndefined();
    expect(minimumVersion(loop, { mode: "runtime" })).toBe("1.3");
    const model = withExtensions(changePart(floorModel(), "main.operations[1].type", 0x1_0003));
    expect(minimumVersion(model)).toBe("1.2");
    expect(minimumVersion(model, describeExtension(twoInputs))).toBeUndefined();
  });
});

describe("versionRequirements", () => {
  it("lists the parts with the versions that they need", () => {
    expect(versionRequirements(floorModel())).toEqual([]);
    expect(versionRequirements(unary("HARD_SWISH", { dimensions: [] }))).toEqual([
      {
        version: "1.2",
        path: "main.operands[0].dimensions",
        message: "a TENSOR_FLOAT32 of unknown rank needs HAL 1.2",
      },
      {
        version: "1.2",
        path: "main.operands[1].dimensions",
        message: "a TENSOR_FLOAT32 of unknown rank needs HAL 1.2",
      },
      { version: "1.3", path: "main.operations[0].type", message: "HARD_SWISH needs HAL 1.3" },
      { version: "1.3", path: "main.operations[0]", message: "HARD_SWISH with these operands needs HAL 1.3" },
    ]);
  });

  it("are not known of a model that is not valid", () => {
    expect(versionRequirements(changePart(floorModel(), "main.operands[0].scale", 1))).toBeUndefined();
  });
});

describe("what HIDL alone has", () => {
  const hidl = halVersions.filter((version) => !isAidl(version));
  const validIn = (model: Model) => halVersions.filter((version) => validateModel(model, { version }));
  const oemOperation = changePart(floorModel(), "main.operations[0].type", OperationType.OEM_OPERATION);
  const withPrefix = (prefix: number) => ({
    ...changePart(floorModel(), "main.operations[1].type", prefix * 0x1_0000),
    extensionNameToPrefix: [{ name: "com.example", prefix }],
  });

  it("is not valid in a version of AIDL that is asked for", () => {
    expect(validIn(floorModel())).toEqual(halVersions);
    expect(validIn(oemOperation)).toEqual(hidl);
    expect(listRules(modelIssues(oemOperation, { version: "aidl1" }))).toEqual([
      "operation-type main.operations[0].type",
    ]);
    const type = findUnused({ type: OperandType.TENSOR_OEM_BYTE });
    expect(validIn(type)).toEqual(hidl);
    for (const model of [type, oemOperation]) expect(minimumVersion(model)).toBe("1.0");
    expect(listRules(modelIssues(type, { version: "aidl4" }))).toEqual([
      expect.stringMatching(/^operand-type main\.operands\[\d\]\.type$/),
    ]);
  });

  it("has prefixes of 16 bits, where AIDL has 15", () => {
    expect(validIn(withPrefix(0x7fff))).toEqual(halVersions.filter((version) => version >= "1.2"));
    expect(validIn(withPrefix(0x8000))).toEqual(["1.2", "1.3"]);
    expect(listRules(modelIssues(withPrefix(0x8000), { version: "aidl2" }))).toEqual([
      "extension-operation-version main.operations[1].type",
      "extension-mapping extensionNameToPrefix[0].prefix",
    ]);
  });

  it("is valid where no version is asked for", () => {
    for (const model of [oemOperation, withPrefix(0x8000)]) expect(validateModel(model)).toBe(true);
  });
});

describe("what AIDL alone refuses", () => {
  const aidl = halVersions.filter(isAidl);
  const valid = changePart(floorModel(), "referenced", [floorModel().main]);

  it("is padding of an operand (rule 76)", () => {
    const padded = changePart(floorModel(), "main.operands[0].location.padding", 1);
    for (const version of aidl) {
      expect(listRules(modelIssues(padded, { version }))).toEqual(["model-padding main.operands[0].location.padding"]);
      expect(validateModel(changePart(floorModel(), "main.operands[0].location.padding", 0), { version })).toBe(true);
    }
    for (const version of ["1.0", "1.3", undefined] as const)
      expect(validateModel(padded, { ...(version && { version }) })).toBe(true);
  });

  it.each(["operands", "operations"])("is a referenced subgraph without %s (rule 77)", (list) => {
    const empty = changePart(valid, `referenced[0].${list}`, []);
    for (const version of aidl) {
      expect(validateModel(valid, { version })).toBe(true);
      expect(listRules(modelIssues(empty, { version }))).toContain(`referenced-empty referenced[0].${list}`);
    }
    expect(listRules(modelIssues(empty, { version: "1.3" }))).not.toContain(`referenced-empty referenced[0].${list}`);
  });
});
