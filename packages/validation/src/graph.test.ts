import { elementAt } from "@nnhal/operations";
import {
  changePart,
  changeParts,
  controlModel,
  floorModel,
  listRules,
  modelOf,
  operand,
  operation,
  reference,
  subgraphOf,
} from "@nnhal/test-kit/models";
import { OperandLifeTime } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { modelIssues } from "./index.ts";

/** FLOOR of operand 0 to 1, of 1 to 2; input 0, output 2. */
function issuesOf(changes: Readonly<Record<string, unknown>>): string[] {
  return listRules(modelIssues(changeParts(floorModel(), changes)));
}

describe("inputs and outputs", () => {
  it("are operands of the subgraph (rule 31)", () => {
    for (const index of [3, 0xffff_ffff, -1, Number.NaN, "0", undefined]) {
      const issues = issuesOf({ "main.inputIndexes": [0, index] });
      expect(issues).toEqual(["boundary-index main.inputIndexes[1]"]);
      expect(issuesOf({ "main.outputIndexes": [2, index] })).toEqual(["boundary-index main.outputIndexes[1]"]);
    }
  });

  it("have the lifetime of inputs and outputs (rule 32)", () => {
    expect(issuesOf({ "main.inputIndexes": [0, 1] })).toEqual(["boundary-lifetime main.inputIndexes[1]"]);
    expect(issuesOf({ "main.outputIndexes": [2, 1] })).toEqual(["boundary-lifetime main.outputIndexes[1]"]);
    expect(issuesOf({ "main.inputIndexes": [0, 2] })).toEqual(["boundary-lifetime main.inputIndexes[1]"]);
    expect(issuesOf({ "main.outputIndexes": [2, 0] })).toEqual(["boundary-lifetime main.outputIndexes[1]"]);
  });

  it("are listed once (rule 33)", () => {
    expect(issuesOf({ "main.inputIndexes": [0, 0] })).toEqual(["boundary-duplicate main.inputIndexes[1]"]);
    expect(issuesOf({ "main.outputIndexes": [2, 2] })).toEqual(["boundary-duplicate main.outputIndexes[1]"]);
  });

  it("are all listed (rule 34)", () => {
    expect(issuesOf({ "main.inputIndexes": [] })).toEqual(["boundary-unlisted main.operands[0].lifetime"]);
    expect(issuesOf({ "main.outputIndexes": [] })).toEqual(["boundary-unlisted main.operands[2].lifetime"]);
  });

  it("change with the lifetime, not without (rules 32 and 34)", () => {
    const issues = issuesOf({ "main.operands[2].lifetime": OperandLifeTime.TEMPORARY_VARIABLE });
    expect(issues).toEqual(["boundary-lifetime main.outputIndexes[0]"]);
  });
});

describe("operations", () => {
  it("are in execution order (rule 36)", () => {
    const { operations } = floorModel().main;
    const issues = issuesOf({ "main.operations": [...operations].reverse() });
    expect(issues).toEqual(["read-before-write main.operations[0].inputs[0]"]);
  });

  it("make no cycle (rule 36)", () => {
    expect(
      issuesOf({
        "main.operations[0].inputs[0]": 2,
        "main.operands[0].numberOfConsumers": 0,
        "main.operands[2].numberOfConsumers": 1,
      }),
    ).toEqual(["read-before-write main.operations[0].inputs[0]"]);
    const self = {
      "main.operations[0].inputs[0]": 1,
      "main.operands[0].numberOfConsumers": 0,
      "main.operands[1].numberOfConsumers": 2,
    };
    expect(issuesOf(self)).toEqual(["read-before-write main.operations[0].inputs[0]"]);
  });

  it("write an operand once (rule 37)", () => {
    const twice = {
      "main.operations[2]": operation("FLOOR", [0], [1]),
      "main.operands[0].numberOfConsumers": 2,
    };
    expect(issuesOf(twice)).toEqual(["single-writer main.operations[2].outputs[0]"]);
    const within = { "main.operations[1]": { type: 0x1_0000, inputs: [1], outputs: [2, 2] } };
    const found = issuesOf({ ...within, extensionNameToPrefix: [{ name: "com.example.test", prefix: 1 }] });
    expect(found).toEqual(["single-writer main.operations[1].outputs[1]"]);
  });

  it("may leave an output unread", () => {
    const unread = {
      "main.operations[1]": operation("FLOOR", [0], [2]),
      "main.operands[0].numberOfConsumers": 2,
      "main.operands[1].numberOfConsumers": 0,
    };
    expect(issuesOf(unread)).toEqual([]);
  });

  it("may read an output of the model", () => {
    const read = {
      "main.operands[3]": operand({ lifetime: OperandLifeTime.SUBGRAPH_OUTPUT }),
      "main.operands[2].numberOfConsumers": 1,
      "main.operations[2]": operation("FLOOR", [2], [3]),
      "main.outputIndexes": [2, 3],
    };
    expect(issuesOf(read)).toEqual([]);
  });
});

describe("numberOfConsumers", () => {
  it("is exact (rule 38)", () => {
    for (const index of [0, 1, 2]) {
      const { numberOfConsumers } = elementAt(floorModel().main.operands, index);
      const path = `main.operands[${index}].numberOfConsumers`;
      for (const wrong of [numberOfConsumers - 1, numberOfConsumers + 1, 0xffff_ffff, 0.5, Number.NaN]) {
        expect(issuesOf({ [path]: wrong })).toEqual([`number-of-consumers ${path}`]);
      }
    }
  });

  it("counts an operand twice that an operation reads twice (rule 38)", () => {
    // The control model's operand 4 is read three times by one operation.
    expect(controlModel.main.operands[4]?.numberOfConsumers).toBe(3);
    const path = "main.operands[4].numberOfConsumers";
    expect(listRules(modelIssues(changePart(controlModel, path, 1)))).toEqual([`number-of-consumers ${path}`]);
  });
});

describe("operands", () => {
  it("that operations should write are written (rule 39)", () => {
    expect(issuesOf({ "main.operands[3]": operand() })).toEqual(["never-written main.operands[3]"]);
    const output = {
      "main.operands[3]": operand({ lifetime: OperandLifeTime.SUBGRAPH_OUTPUT }),
      "main.outputIndexes": [2, 3],
    };
    expect(issuesOf(output)).toEqual(["never-written main.operands[3]"]);
  });

  it("of other lifetimes need not be read", () => {
    expect(issuesOf({ "main.operands[3]": operand({ lifetime: OperandLifeTime.NO_VALUE }) })).toEqual([]);
    const input = {
      "main.operands[3]": operand({ lifetime: OperandLifeTime.SUBGRAPH_INPUT }),
      "main.inputIndexes": [0, 3],
    };
    expect(issuesOf(input)).toEqual([]);
  });
});

describe("referenced subgraphs", () => {
  it("need HAL 1.3 (rule 40)", () => {
    const model = changePart(floorModel(), "referenced", [floorModel().main]);
    expect(modelIssues(model)).toEqual([]);
    expect(listRules(modelIssues(model, { version: "1.2" }))).toEqual(["referenced-subgraphs referenced"]);
  });

  it("keep the rules too, even those that nothing refers to (rule 40)", () => {
    const wrong = changePart(floorModel().main, "operands[1].numberOfConsumers", 2);
    const model = changePart(floorModel(), "referenced", [floorModel().main, wrong]);
    expect(listRules(modelIssues(model))).toEqual(["number-of-consumers referenced[1].operands[1].numberOfConsumers"]);
  });

  it("may be empty, unlike main (rules 1 and 40)", () => {
    const empty = subgraphOf([], []);
    expect(modelIssues(changePart(floorModel(), "referenced", [empty]))).toEqual([]);
    expect(listRules(modelIssues(modelOf(empty)))).toEqual([
      "model-empty main.operands",
      "model-empty main.operations",
    ]);
    expect(listRules(modelIssues(modelOf(subgraphOf([operand({ lifetime: OperandLifeTime.NO_VALUE })], []))))).toEqual([
      "model-empty main.operations",
    ]);
  });

  it("that are listed twice are checked once", () => {
    const wrong = changePart(floorModel().main, "operands[1].numberOfConsumers", 2);
    const model = changePart(floorModel(), "referenced", [wrong, wrong, { ...wrong }]);
    expect(modelIssues(model).map(({ path }) => path.slice(0, 13))).toEqual(["referenced[0]", "referenced[2]"]);
  });

  const referring = (offset: number) => ({
    ...floorModel().main,
    operands: [...floorModel().main.operands, { ...reference(offset), numberOfConsumers: 0 }],
  });

  it.each([
    [[0], true],
    [[1, 0], true],
    [[1, 2, 1], true],
    [[1, 2], false],
    [[2, 2], false],
    [[1, 1], true],
  ])("that refer to %j: in a cycle is %s (rule 41)", (offsets, cyclic) => {
    const referenced = [...offsets.map(referring), ...(cyclic ? [] : [floorModel().main])];
    const issues = listRules(modelIssues(changePart(floorModel(), "referenced", referenced)));
    expect(issues.map((issue) => issue.split(" ")[0])).toEqual(cyclic ? ["subgraph-cycle"] : []);
  });
});
