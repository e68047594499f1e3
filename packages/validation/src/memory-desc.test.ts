import {
  changePart,
  changeParts,
  controlModel,
  input,
  listRules,
  modelOf,
  operand,
  output,
  subgraphOf,
} from "@nnhal/test-kit/models";
import { type Operand, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type AllocationRequest, describeBuffer, memoryDescIssues, validateMemoryDesc } from "./index.ts";

/** A prepared model with two inputs and two outputs. */
function prepare(facts: Partial<Operand> = {}, second: Partial<Operand> = {}) {
  const operands = [
    operand({ ...facts, ...input }),
    operand({ ...facts, ...second, ...input }),
    operand({ ...facts, ...output }),
    operand({ ...facts, ...second, ...output }),
  ];
  return { model: modelOf(subgraphOf(operands, [{ type: 0x1_0000, inputs: [0, 1], outputs: [2, 3] }])) };
}

function role(modelIndex: number, ioIndex: number, frequency = 1) {
  return { modelIndex, ioIndex, frequency };
}

/** Two models, one role of each. */
const control: AllocationRequest = {
  desc: { dimensions: [] },
  preparedModels: [prepare(), prepare()],
  inputRoles: [role(0, 1)],
  outputRoles: [role(1, 0, 0.5)],
};

function issuesOf(changes: Readonly<Record<string, unknown>>): string[] {
  return listRules(memoryDescIssues(changeParts(control, changes)));
}

describe("a buffer", () => {
  it("of the control request is valid", () => {
    expect(issuesOf({})).toEqual([]);
    expect(validateMemoryDesc(control)).toBe(true);
  });

  it("belongs to a prepared model (rule 53)", () => {
    expect(issuesOf({ preparedModels: [], inputRoles: [], outputRoles: [] })).toEqual([
      "buffer-models preparedModels",
      "buffer-roles inputRoles",
    ]);
  });

  it("has a role (rule 53)", () => {
    expect(issuesOf({ inputRoles: [], outputRoles: [] })).toEqual(["buffer-roles inputRoles"]);
    expect(issuesOf({ inputRoles: [] })).toEqual([]);
    expect(issuesOf({ outputRoles: [] })).toEqual([]);
  });
});

describe.each(["inputRoles", "outputRoles"] as const)("%s", (list) => {
  it("name a prepared model (rule 53)", () => {
    for (const modelIndex of [2, -1, 0.5, Number.NaN, undefined]) {
      expect(issuesOf({ [list]: [{ ...role(0, 0), modelIndex }] })).toEqual([
        `buffer-role-model-index ${list}[0].modelIndex`,
      ]);
    }
  });

  it("name a prepared model of this device (rule 53)", () => {
    const other = list === "inputRoles" ? "outputRoles" : "inputRoles";
    for (const record of [null, undefined, {}, { model: null }]) {
      const changes = { preparedModels: [record, prepare()], [list]: [role(0, 0)], [other]: [role(1, 0)] };
      expect(issuesOf(changes)).toEqual(["buffer-role-model preparedModels[0]"]);
    }
  });

  it("name an input or output of it (rule 53)", () => {
    expect(issuesOf({ [list]: [role(0, 1)] })).toEqual([]);
    for (const ioIndex of [2, -1, Number.NaN, "0"]) {
      expect(issuesOf({ [list]: [{ ...role(0, 0), ioIndex }] })).toEqual([`buffer-role-index ${list}[0].ioIndex`]);
    }
  });

  it("have a frequency within (0, 1] (rule 53)", () => {
    for (const frequency of [1e-9, 1]) expect(issuesOf({ [list]: [role(0, 0, frequency)] })).toEqual([]);
    for (const frequency of [0, -0.5, 1.0001, 10, Number.NaN, "1"]) {
      expect(issuesOf({ [list]: [{ ...role(0, 0), frequency }] })).toEqual([
        `buffer-role-frequency ${list}[0].frequency`,
      ]);
    }
  });

  it("occur once (rule 53)", () => {
    expect(issuesOf({ [list]: [role(0, 0), role(0, 1), role(1, 0)] })).toEqual([]);
    expect(issuesOf({ [list]: [role(0, 0), role(0, 0)] })).toEqual([`buffer-role-duplicate ${list}[1]`]);
    const [model] = control.preparedModels;
    const sameTwice = { preparedModels: [model, model], [list]: [role(0, 0), role(1, 0)] };
    expect(issuesOf(sameTwice)).toEqual([`buffer-role-duplicate ${list}[1]`]);
  });

  it("may be input and output of the same index", () => {
    expect(issuesOf({ inputRoles: [role(0, 0)], outputRoles: [role(0, 0)] })).toEqual([]);
  });

  it("are objects", () => {
    expect(issuesOf({ [list]: [null] })).toEqual([`structure ${list}[0]`]);
    expect(issuesOf({ [list]: 5 })).toEqual([`structure ${list}`]);
  });
});

describe("the operands of all roles", () => {
  const quantised = { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 0.5, zeroPoint: 3 };
  const twoKinds = (facts: Partial<Operand>, second: Partial<Operand>, description: readonly number[] = []) =>
    listRules(
      memoryDescIssues({
        ...control,
        desc: { dimensions: description },
        preparedModels: [prepare(facts, second)],
        inputRoles: [role(0, 0)],
        outputRoles: [role(0, 1)],
      }),
    );

  it("have the same type (rule 54)", () => {
    expect(twoKinds({}, { type: OperandType.TENSOR_FLOAT16 })).toEqual(["buffer-type outputRoles[0]"]);
    const signed = { type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED };
    expect(twoKinds(quantised, signed)).toEqual(["buffer-type outputRoles[0]"]);
  });

  it("have the same scale (rule 54)", () => {
    expect(twoKinds(quantised, {})).toEqual([]);
    expect(twoKinds(quantised, { scale: 0.25 })).toEqual(["buffer-scale outputRoles[0]"]);
  });

  it("have the same zeroPoint (rule 54)", () => {
    expect(twoKinds(quantised, { zeroPoint: 4 })).toEqual(["buffer-zero-point outputRoles[0]"]);
  });

  it("have the same extraParams, except those of extensions (rule 54)", () => {
    const perChannel = (...scales: number[]) =>
      ({ dimensions: [2], extraParams: { kind: "channelQuant", channelQuant: { scales, channelDim: 0 } } }) as const;
    const type = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL;
    expect(twoKinds({ type, ...perChannel(1, 2) }, perChannel(1, 2))).toEqual([]);
    expect(twoKinds({ type, ...perChannel(1, 2) }, perChannel(1, 3))).toEqual(["buffer-extra-params outputRoles[0]"]);
    const extension = (byte: number) =>
      ({ extraParams: { kind: "extension", extension: Uint8Array.of(byte) } }) as const;
    expect(twoKinds({ type: 0x1_0000, ...extension(1) }, extension(2))).toEqual([]);
  });

  it("have dimensions that do not contradict each other or the descriptor (rule 54)", () => {
    expect(twoKinds({ dimensions: [2, 0] }, { dimensions: [0, 3] })).toEqual([]);
    expect(twoKinds({ dimensions: [2, 0] }, { dimensions: [] })).toEqual([]);
    expect(twoKinds({ dimensions: [2, 3] }, { dimensions: [2, 4] })).toEqual(["buffer-dimensions outputRoles[0]"]);
    expect(twoKinds({ dimensions: [2, 3] }, { dimensions: [2] })).toEqual(["buffer-dimensions outputRoles[0]"]);
    expect(twoKinds({ dimensions: [2, 0] }, {}, [2, 5])).toEqual([]);
    expect(twoKinds({ dimensions: [2, 3] }, { dimensions: [] }, [2, 5])).toEqual(["buffer-dimensions inputRoles[0]"]);
    // Neither contradicts the descriptor, but the one the other.
    expect(twoKinds({ dimensions: [2, 0] }, { dimensions: [3, 0] }, [0, 5])).toEqual([
      "buffer-dimensions outputRoles[0]",
    ]);
  });

  it("have no dimensions if they are scalars (rule 54)", () => {
    const scalar = { type: OperandType.INT32, dimensions: [] };
    expect(twoKinds(scalar, {})).toEqual([]);
    expect(twoKinds(scalar, {}, [1])).toEqual(["buffer-scalar-dimensions desc.dimensions"]);
    expect(twoKinds({ type: 0x1_0000, dimensions: [] }, {}, [1])).toEqual([]);
  });
});

describe("describeBuffer", () => {
  it("combines the dimensions of descriptor and roles", () => {
    const facts = { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 0.5, zeroPoint: 3 };
    const { issues, operand: combined } = describeBuffer({
      ...control,
      desc: { dimensions: [0, 0, 4] },
      preparedModels: [prepare({ ...facts, dimensions: [0, 3, 0] }, { dimensions: [2, 0, 0] })],
      inputRoles: [role(0, 0)],
      outputRoles: [role(0, 1)],
    });
    expect(issues).toEqual([]);
    expect(combined).toEqual({ ...facts, extraParams: { kind: "none" }, dimensions: [2, 3, 4] });
  });

  it("returns no operand if a rule is broken", () => {
    const { issues, operand: combined } = describeBuffer(changePart(control, "inputRoles[0].frequency", 2));
    expect(issues).toHaveLength(1);
    expect(combined).toBeUndefined();
  });

  it.each([
    ["desc", null],
    ["desc.dimensions", [-1]],
    ["preparedModels", undefined],
    ["preparedModels[0].model.main", {}],
    ["preparedModels[0].model.main.operands", null],
    ["preparedModels[0].model.main.operands[1]", 5],
  ])("does not throw on garbage: %s is %s", (path, value) => {
    const { issues, operand: combined } = describeBuffer(changePart(control, path, value));
    expect(issues.length).toBeGreaterThan(0);
    expect(combined).toBeUndefined();
  });

  it("accepts any prepared model that validation accepts", () => {
    const request = {
      ...control,
      preparedModels: [{ model: controlModel }],
      inputRoles: [role(0, 0)],
      outputRoles: [],
    };
    expect(describeBuffer(request).operand?.dimensions).toEqual([1, 4, 4, 3]);
  });
});
