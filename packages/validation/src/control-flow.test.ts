import { elementAt } from "@nnhal/operations";
import { changePart, changeParts, controlModel, listRules, loopModel, operand, output } from "@nnhal/test-kit/models";
import { OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type ModelValidationOptions, modelIssues } from "./index.ts";

function ifIssues(changes: Readonly<Record<string, unknown>>, options?: ModelValidationOptions): string[] {
  return listRules(modelIssues(changeParts(controlModel, changes), options));
}

function loopIssues(changes: Readonly<Record<string, unknown>>, options?: ModelValidationOptions): string[] {
  return listRules(modelIssues(changeParts(loopModel, changes), options));
}

function indexesFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

const ofIf = "main.operations[1]";
const ofLoop = "main.operations[0]";

describe("the control models", () => {
  it("are valid in both modes", () => {
    for (const mode of ["driver", "runtime"] as const) {
      expect(modelIssues(controlModel, { mode })).toEqual([]);
      expect(modelIssues(loopModel, { mode })).toEqual([]);
    }
  });
});

describe("IF (rule 29)", () => {
  it("has a condition of shape [1]", () => {
    for (const dimensions of [[], [0], [2], [1, 1]]) {
      expect(ifIssues({ "main.operands[1].dimensions": dimensions })).toEqual([`control-flow-condition ${ofIf}`]);
    }
  });

  it("has a condition of TENSOR_BOOL8", () => {
    const issues = ifIssues({ "main.operands[1].type": OperandType.TENSOR_FLOAT32 });
    expect(issues).toEqual([`operation-signature ${ofIf}`]);
  });

  it("has subgraphs", () => {
    const issues = ifIssues({
      [`${ofIf}.inputs[2]`]: 3,
      "main.operands[8].numberOfConsumers": 0,
      "main.operands[3].numberOfConsumers": 2,
    });
    expect(issues).toEqual([`operation-signature ${ofIf}`]);
  });

  it("passes as many inputs as the branches have", () => {
    const image = { ...controlModel.main.operands[0], numberOfConsumers: 0 };
    const more = {
      "referenced[1].operands[3]": image,
      "referenced[1].inputIndexes": [0, 3],
    };
    expect(ifIssues(more)).toEqual([`control-flow-counts ${ofIf}`]);
    const none = { [`${ofIf}.inputs`]: [1, 7, 8], "main.operands[6].numberOfConsumers": 0 };
    expect(ifIssues(none)).toEqual([`control-flow-counts ${ofIf}`, `control-flow-counts ${ofIf}`]);
  });

  it("gets as many outputs as the branches give", () => {
    const more = {
      "main.operands[10]": controlModel.main.operands[9],
      [`${ofIf}.outputs`]: [9, 10],
      "main.outputIndexes": [9, 10],
    };
    expect(ifIssues(more)).toEqual([`control-flow-counts ${ofIf}`, `control-flow-counts ${ofIf}`]);
  });

  it("has at least one output", () => {
    const none = changeParts(controlModel, {
      [`${ofIf}.outputs`]: [],
      "main.outputIndexes": [],
      "main.operands[9]": operand(),
    });
    expect(listRules(modelIssues(none))).toEqual(["never-written main.operands[9]", `control-flow-counts ${ofIf}`]);
  });

  it.each([
    ["type", OperandType.TENSOR_QUANT8_ASYMM_SIGNED, { zeroPoint: 0 }],
    ["scale", 0.25, {}],
    ["zeroPoint", 127, {}],
    ["dimensions", [1, 4, 4, 2], {}],
    ["dimensions", [1, 4, 4], {}],
  ])("hands over operands of the same %s", (field, value, more) => {
    const inner = { ...controlModel.referenced[1]?.operands[0], ...more, [field]: value };
    const issues = ifIssues({ "referenced[1].operands[0]": inner });
    expect(issues).toContain(`control-flow-compatibility ${ofIf}`);
  });

  it("gets back operands of the same kind", () => {
    const issues = ifIssues({ "main.operands[9].scale": 0.5 });
    expect(issues).toEqual([`control-flow-compatibility ${ofIf}`, `control-flow-compatibility ${ofIf}`]);
  });

  it("compares extraParams", () => {
    const type = 0x1_0005;
    const facts = (...bytes: number[]) =>
      ({ type, extraParams: { kind: "extension", extension: Uint8Array.from(bytes) } }) as const;
    const branch = (...bytes: number[]) => ({
      operands: [operand({ ...facts(...bytes), ...output })],
      operations: [{ type, inputs: [], outputs: [0] }],
      inputIndexes: [],
      outputIndexes: [0],
    });
    const base = changeParts(controlModel, {
      [`${ofIf}.inputs`]: [1, 7, 8],
      "main.operands[6].numberOfConsumers": 0,
      "main.operands[9]": operand({ ...facts(1, 2), ...output }),
    });
    const reference = (...bytes: number[]) => changePart(base, "referenced", [branch(1, 2), branch(...bytes)]);
    expect(modelIssues(reference(1, 2))).toEqual([]);
    expect(listRules(modelIssues(reference(1, 3)))).toEqual([`control-flow-compatibility ${ofIf}`]);
    expect(listRules(modelIssues(reference(1)))).toEqual([`control-flow-compatibility ${ofIf}`]);
  });

  it("accepts dimensions that are unknown on one side and known on the other, in both modes", () => {
    for (const dimensions of [[], [0, 4, 4, 3]]) {
      for (const mode of ["driver", "runtime"] as const) {
        expect(ifIssues({ "referenced[1].operands[0].dimensions": dimensions }, { mode })).toEqual([]);
      }
    }
  });
});

describe("WHILE (rule 29)", () => {
  const conditionOutput = "referenced[0].operands[3]";

  it("has a condition subgraph with one output, a TENSOR_BOOL8 of shape [1]", () => {
    expect(loopIssues({ [`${conditionOutput}.dimensions`]: [2] })).toEqual([`control-flow-condition ${ofLoop}`]);
    expect(loopIssues({ [`${conditionOutput}.dimensions`]: [] })).toEqual([`control-flow-condition ${ofLoop}`]);
    const float = { [`${conditionOutput}.type`]: OperandType.TENSOR_FLOAT32 };
    expect(loopIssues(float)).toEqual([`control-flow-condition ${ofLoop}`]);
    const two = {
      "referenced[0].operands[4]": operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...output }),
      "referenced[0].outputIndexes": [3, 4],
      "referenced[0].operations[0].outputs": [3, 4],
    };
    expect(loopIssues(two)).toEqual([`control-flow-counts ${ofLoop}`]);
  });

  it("passes all values to both subgraphs", () => {
    const fewer = { [`${ofLoop}.inputs`]: [3, 4, 0, 1], "main.operands[2].numberOfConsumers": 0 };
    expect(loopIssues(fewer)).toEqual([`control-flow-counts ${ofLoop}`, `control-flow-counts ${ofLoop}`]);
  });

  it("has a body with at least as many outputs as the operation, and at most as many as inputs", () => {
    const more = (count: number) => ({
      "main.operands": [...loopModel.main.operands, ...Array(count).fill(loopModel.main.operands[5])],
      "main.outputIndexes": [5, ...indexesFrom(6, count)],
      [`${ofLoop}.outputs`]: [5, ...indexesFrom(6, count)],
    });
    expect(loopIssues(more(1))).toEqual([]);
    expect(loopIssues(more(2))).toEqual([`control-flow-counts ${ofLoop}`]);
    const fromBody = (count: number) => ({
      "referenced[1].operands": [
        ...elementAt(loopModel.referenced, 1).operands,
        ...Array(count).fill(operand({ dimensions: [3], ...output })),
      ],
      "referenced[1].outputIndexes": [3, 4, ...indexesFrom(5, count)],
      "referenced[1].operations[2]": {
        type: 0x1_0001,
        inputs: [],
        outputs: [...indexesFrom(5, count)],
      },
    });
    expect(loopIssues(fromBody(1))).toEqual([]);
    expect(loopIssues(fromBody(2))).toEqual([`control-flow-counts ${ofLoop}`]);
  });

  it("has at least one output", () => {
    const none = { [`${ofLoop}.outputs`]: [], "main.outputIndexes": [], "main.operands[5]": operand() };
    expect(loopIssues(none)).toEqual(["never-written main.operands[5]", `control-flow-counts ${ofLoop}`]);
  });

  it.each([
    ["an input of the operation and the condition's", "referenced[0].operands[1]"],
    ["an input of the operation and the body's", "referenced[1].operands[2]"],
    ["an output of the body and of the operation", "main.operands[5]"],
    ["an output of the body that is handed to the next round", "referenced[1].operands[4]"],
  ])("agrees in the kinds of %s", (_, place) => {
    // An extension's operation, whose shapes are not inferred.
    const body = { "referenced[1].operations[1].type": 0x1_0001 };
    const issues = loopIssues({ ...body, [`${place}.dimensions`]: [7] });
    expect(issues).toEqual([`control-flow-compatibility ${ofLoop}`]);
  });

  it.each([
    "main.operands[0]",
    "main.operands[5]",
    "referenced[0].operands[1]",
    "referenced[1].operands[2]",
    "referenced[1].operands[4]",
  ])("is for a driver only where all sizes are known: %s", (place) => {
    for (const dimensions of [[], [0]]) {
      const changes = { [`${place}.dimensions`]: dimensions };
      expect(loopIssues(changes)).toEqual([`while-unknown-size ${ofLoop}`]);
      expect(loopIssues(changes, { mode: "runtime" })).toEqual([]);
    }
  });

  it("leaves the inside of its subgraphs alone", () => {
    const inner = {
      "referenced[1].operands[5]": operand({ dimensions: [] }),
      "referenced[1].operations[2]": { type: 0x1_0001, inputs: [], outputs: [5] },
    };
    expect(loopIssues(inner)).toEqual([]);
  });
});

describe("subgraphs that cannot be read", () => {
  it.each([
    ["referenced[0]", null],
    ["referenced[0].operands", 7],
    ["referenced[0].inputIndexes", undefined],
    ["referenced[0].inputIndexes[0]", 99],
    ["referenced[0].outputIndexes[0]", -1],
    ["referenced[0].operands[0]", null],
    ["referenced[0].operands[0].dimensions", "many"],
  ])("are issues of their own: %s is %s", (path, value) => {
    for (const model of [controlModel, loopModel]) {
      const issues = modelIssues(changePart(model, path, value));
      expect(issues.length).toBeGreaterThan(0);
      expect(issues[0]?.path).toMatch(/^referenced\[0\]/);
    }
  });
});
