import { changePart, changeParts, controlModel, floorModel, listRules } from "@nnhal/test-kit/models";
import { type Model, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { defaultIssueLimit, modelIssues, validateModel } from "./index.ts";

function issuesOf(path: string, value: unknown): string[] {
  return listRules(modelIssues(changePart(controlModel, path, value)));
}

describe("structure (rule 56)", () => {
  it.each([undefined, null, 7, "model", [], () => 7])("of a model is not %s", (garbage) => {
    const whole: { readonly model: Model } = changePart({ model: controlModel }, "model", garbage);
    expect(modelIssues(whole.model)[0]?.code).toBe("structure");
  });

  it.each([
    ["main", null, "main"],
    ["main.operands", {}, "main.operands"],
    ["main.operations", undefined, "main.operations"],
    ["main.inputIndexes", 0, "main.inputIndexes"],
    ["main.outputIndexes", "0", "main.outputIndexes"],
    ["referenced[1]", undefined, "referenced[1]"],
    ["operandValues", [1, 2, 3], "operandValues"],
    ["pools", { length: 2 }, "pools"],
    ["relaxComputationFloat32toFloat16", 1, "relaxComputationFloat32toFloat16"],
    ["extensionNameToPrefix", null, "extensionNameToPrefix"],
    ["extensionNameToPrefix[0]", null, "extensionNameToPrefix[0]"],
    ["extensionNameToPrefix[0].name", 5, "extensionNameToPrefix[0]"],
    ["extensionNameToPrefix[0].prefix", "1", "extensionNameToPrefix[0]"],
    ["main.operands[0]", null, "main.operands[0]"],
    ["main.operands[0].type", "TENSOR_FLOAT32", "main.operands[0].type"],
    ["main.operands[0].dimensions", [1, 4, 4, -3], "main.operands[0].dimensions"],
    ["main.operands[0].dimensions", [1, 4, 4, 2 ** 32], "main.operands[0].dimensions"],
    ["main.operands[0].dimensions", [1, 4, 4, 0.5], "main.operands[0].dimensions"],
    ["main.operands[0].dimensions", new Array(4), "main.operands[0].dimensions"],
    ["main.operands[0].dimensions", Uint32Array.of(1, 4, 4, 3), "main.operands[0].dimensions"],
    ["main.operands[0].numberOfConsumers", "1", "main.operands[0].numberOfConsumers"],
    ["main.operands[0].scale", null, "main.operands[0].scale"],
    ["main.operands[0].zeroPoint", 0n, "main.operands[0].zeroPoint"],
    ["main.operands[0].lifetime", undefined, "main.operands[0].lifetime"],
    ["main.operands[0].location", null, "main.operands[0].location"],
    ["main.operands[0].location.offset", -1, "main.operands[0].location.offset"],
    ["main.operands[0].location.length", 2 ** 32, "main.operands[0].location.length"],
    ["main.operands[0].location.poolIndex", Number.NaN, "main.operands[0].location.poolIndex"],
    ["main.operands[0].extraParams", undefined, "main.operands[0].extraParams"],
    ["main.operands[0].extraParams", { kind: "other" }, "main.operands[0].extraParams"],
    ["main.operands[0].extraParams", { kind: "extension", extension: [1] }, "main.operands[0].extraParams"],
    ["main.operands[2].extraParams.channelQuant", null, "main.operands[2].extraParams"],
    ["main.operands[2].extraParams.channelQuant.scales", ["1", "1", "1"], "main.operands[2].extraParams"],
    ["main.operands[2].extraParams.channelQuant.channelDim", -1, "main.operands[2].extraParams"],
    ["main.operations[0]", undefined, "main.operations[0]"],
    ["main.operations[0].type", "CONV_2D", "main.operations[0]"],
    ["main.operations[0].inputs", null, "main.operations[0]"],
    ["main.operations[0].outputs", 6, "main.operations[0]"],
  ])("is as declared: %s is not %s", (path, value, where) => {
    expect(issuesOf(path, value)).toContain(`structure ${where}`);
  });
});

describe("pools (rule 35)", () => {
  it("are checked", () => {
    expect(issuesOf("pools[0].name", "cardboard")).toEqual(["model-pool pools[0].name"]);
    expect(issuesOf("pools[0].handle", null)).toEqual(["model-pool pools[0].handle"]);
    expect(issuesOf("pools[1]", undefined)).toEqual(["model-pool pools[1]"]);
    expect(issuesOf("pools[0].size", 5)).toEqual(["model-pool pools[0].handle"]);
  });

  it("have names of the model's version", () => {
    const pools = [{ ...controlModel.pools[0], name: "hardware_buffer_blob" }];
    const model = changePart(floorModel(), "pools", pools);
    expect(listRules(modelIssues(model, { version: "1.1" }))).toEqual(["model-pool pools[0]"]);
    expect(modelIssues(model, { version: "1.2" })).toEqual([]);
  });
});

describe("extensionNameToPrefix (rule 58)", () => {
  it("maps one to one", () => {
    expect(issuesOf("extensionNameToPrefix[1].name", "com.example.one")).toEqual([
      "extension-mapping extensionNameToPrefix[1].name",
    ]);
    expect(issuesOf("extensionNameToPrefix[1].prefix", 1)).toEqual([
      "extension-mapping extensionNameToPrefix[1].prefix",
    ]);
  });

  it("maps to prefixes of 16 bits, and not to 0", () => {
    const path = "extensionNameToPrefix[0].prefix";
    for (const prefix of [1, 3, 0xffff]) expect(issuesOf(path, prefix)).toEqual([]);
    for (const prefix of [0, 0x1_0000]) expect(issuesOf(path, prefix)).toEqual([`extension-mapping ${path}`]);
  });
});

describe("modelIssues", () => {
  it("looks for as many issues as are asked for", () => {
    const operands = Array.from({ length: 100 }, () => null);
    const model = changePart(floorModel(), "main.operands", operands);
    expect(modelIssues(model)).toHaveLength(defaultIssueLimit);
    expect(modelIssues(model, { limit: 3 })).toHaveLength(3);
    expect(modelIssues(model, { limit: 1000 }).length).toBeGreaterThan(99);
    for (const limit of [0, -1, Number.NaN]) expect(modelIssues(model, { limit })).toHaveLength(defaultIssueLimit);
  });

  it("finds several broken rules at once, in the order of the rules", () => {
    const model = changeParts(controlModel, {
      "main.operands[0].scale": -1,
      "main.operands[3].location.poolIndex": 1,
      "main.operands[6].numberOfConsumers": 9,
      "pools[0].handle": null,
    });
    expect(listRules(modelIssues(model))).toEqual([
      "scale-positive main.operands[0].scale",
      "constant-copy-pool main.operands[3].location.poolIndex",
      "number-of-consumers main.operands[6].numberOfConsumers",
      "model-pool pools[0].handle",
    ]);
  });

  it("names the rule and the actual value", () => {
    const [issue] = modelIssues(changePart(controlModel, "main.operands[0].zeroPoint", 256));
    expect(issue).toEqual({
      code: "zero-point-quant8",
      path: "main.operands[0].zeroPoint",
      message: "the zeroPoint of a TENSOR_QUANT8_ASYMM: expected an integer within [0, 255], got 256",
    });
  });

  it("applies HAL 1.3 and a driver's rules by default", () => {
    const signed = { type: OperandType.TENSOR_FLOAT16 };
    expect(modelIssues(floorModel(signed))).toEqual([]);
    expect(modelIssues(floorModel(signed), { version: "1.1" })).not.toEqual([]);
  });
});

describe("validateModel", () => {
  it("returns whether there is an issue", () => {
    expect(validateModel(controlModel)).toBe(true);
    expect(validateModel(controlModel, { version: "1.2" })).toBe(false);
    expect(validateModel(changePart(controlModel, "main.operands[0].scale", 0))).toBe(false);
  });
});
