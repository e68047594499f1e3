import { elementAt } from "@nnhal/operations";
import { changePart, changeParts, controlModel, floorModel, listRules, operand } from "@nnhal/test-kit/models";
import { type Operand, OperandLifeTime, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { modelIssues } from "./index.ts";

function issuesOf(changes: Readonly<Record<string, unknown>>): string[] {
  return listRules(modelIssues(changeParts(controlModel, changes)));
}

/** Issues about a fourth operand of a valid model, which no operation reads. */
function issuesOfUnused(facts: Partial<Operand>): string[] {
  return listRules(modelIssues(changePart(floorModel(), "main.operands[3]", operand(facts))));
}

const at = { poolIndex: 0, offset: 0, length: 0 };

describe("a CONSTANT_COPY", () => {
  it("has poolIndex 0 (rule 19)", () => {
    const path = "main.operands[3].location.poolIndex";
    expect(issuesOf({ [path]: 1 })).toEqual([`constant-copy-pool ${path}`]);
  });

  it("ends within operandValues, which are 48 bytes here (rule 20)", () => {
    expect(issuesOf({ "main.operands[3].location.offset": 36 })).toEqual([]);
    for (const offset of [37, 48, 0xffff_ffff]) {
      const issues = issuesOf({ "main.operands[3].location.offset": offset });
      expect(issues).toEqual(["constant-copy-range main.operands[3].location"]);
    }
  });

  it("is not short because offset and length together pass 2^32", () => {
    const changes = { "main.operands[3].location": { ...at, offset: 0xffff_fff4, length: 12 } };
    expect(issuesOf(changes)).toEqual(["constant-copy-range main.operands[3].location"]);
  });
});

describe("a CONSTANT_REFERENCE", () => {
  it("lies in a pool of the model (rule 21)", () => {
    const path = "main.operands[2].location.poolIndex";
    expect(issuesOf({ [path]: 2 })).toEqual([`constant-reference-range ${path}`]);
  });

  it("ends within its pool, which is 16 bytes here (rule 21)", () => {
    expect(issuesOf({ "main.operands[2].location.offset": 7 })).toEqual([]);
    for (const offset of [8, 0xffff_ffff]) {
      const issues = issuesOf({ "main.operands[2].location.offset": offset });
      expect(issues).toEqual(["constant-reference-range main.operands[2].location"]);
    }
  });

  it("does not lie in a hardware_buffer (rule 60)", () => {
    expect(issuesOf({ "pools[1].name": "hardware_buffer_blob" })).toEqual([]);
    const issues = issuesOf({ "pools[1].name": "hardware_buffer" });
    expect(issues).toEqual(["opaque-pool main.operands[2].location.poolIndex"]);
  });
});

describe("an operand without a value of its own", () => {
  it.each([
    ["TEMPORARY_VARIABLE", 6],
    ["SUBGRAPH_INPUT", 0],
    ["SUBGRAPH_OUTPUT", 9],
  ])("such as a %s has a location of all 0 (rule 22)", (_, index) => {
    for (const field of ["poolIndex", "offset", "length"]) {
      const issues = issuesOf({ [`main.operands[${index}].location.${field}`]: 1 });
      expect(issues).toEqual([`location-unused main.operands[${index}].location`]);
    }
  });

  it("such as a NO_VALUE has a location of all 0 (rule 22)", () => {
    const lifetime = OperandLifeTime.NO_VALUE;
    expect(issuesOfUnused({ lifetime })).toEqual([]);
    for (const field of ["poolIndex", "offset", "length"]) {
      const issues = issuesOfUnused({ lifetime, location: { ...at, [field]: 1 } });
      expect(issues).toEqual(["location-unused main.operands[3].location"]);
    }
  });
});

describe("a SUBGRAPH", () => {
  it("refers to one of the referenced subgraphs (rule 23)", () => {
    expect(issuesOf({ "main.operands[8].location.offset": 0 })).toEqual([]);
    expect(issuesOf({ "main.operands[8].location.offset": 2 })).toEqual([
      "subgraph-location main.operands[8].location",
    ]);
  });

  it.each(["poolIndex", "length"])("has %s 0 (rule 23)", (field) => {
    const issues = issuesOf({ [`main.operands[8].location.${field}`]: 1 });
    expect(issues).toEqual(["subgraph-location main.operands[8].location"]);
  });

  it("is the type of lifetime SUBGRAPH, and of no other (rule 25)", () => {
    const { SUBGRAPH, NO_VALUE } = OperandLifeTime;
    const withoutReference = { type: OperandType.SUBGRAPH, dimensions: [], lifetime: NO_VALUE };
    expect(issuesOfUnused(withoutReference)).toEqual(["subgraph-lifetime main.operands[3].lifetime"]);
    const referring = changePart(floorModel(), "referenced", controlModel.referenced);
    const withValues = changePart(referring, "operandValues", controlModel.operandValues);
    const wrong = changePart(withValues, "main.operands[3]", operand({ lifetime: SUBGRAPH }));
    expect(listRules(modelIssues(wrong))).toEqual(["subgraph-lifetime main.operands[3].lifetime"]);
    const right = changePart(withValues, "main.operands[3]", {
      ...wrong.main.operands[3],
      type: OperandType.SUBGRAPH,
      dimensions: [],
    });
    expect(modelIssues(right)).toEqual([]);
  });
});

describe("lifetimes", () => {
  it.each([-1, 7, 0.5, Number.NaN])("are not %d (rule 24)", (lifetime) => {
    expect(issuesOfUnused({ lifetime })).toEqual(["operand-lifetime main.operands[3].lifetime"]);
  });
});

describe("the length of a constant", () => {
  it("is the size of type and dimensions (rule 26)", () => {
    for (const [index, name] of [
      [2, "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
      [3, "TENSOR_INT32"],
      [4, "INT32"],
    ] as const) {
      const path = `main.operands[${index}].location.length`;
      const { type, location } = elementAt(controlModel.main.operands, index);
      const { length } = location;
      expect(type).toBe(OperandType[name]);
      for (const wrong of [length - 1, 0]) expect(issuesOf({ [path]: wrong })).toEqual([`constant-length ${path}`]);
    }
    const path = "main.operands[4].location.length";
    expect(issuesOf({ [path]: 5 })).toEqual([`constant-length ${path}`]);
  });
});
