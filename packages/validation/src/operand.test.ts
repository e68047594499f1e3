import {
  changePart,
  changeParts,
  constant,
  controlModel,
  floorModel,
  listRules,
  modelOf,
  operand,
  subgraphOf,
  withExtensions,
} from "@nnhal/test-kit/models";
import { type Operand, OperandLifeTime, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type ModelValidationOptions, modelIssues, operandTypeIssues } from "./index.ts";

/** The control model's issues after changes to it. */
function issuesOf(changes: Readonly<Record<string, unknown>>, options?: ModelValidationOptions): string[] {
  return listRules(modelIssues(changeParts(controlModel, changes), options));
}

/** Returns the issues of an operand that no operation reads, in an otherwise valid model. */
function issuesOfUnused(facts: Partial<Operand>, options?: ModelValidationOptions): string[] {
  const model = floorModel();
  const unused = operand({ lifetime: OperandLifeTime.NO_VALUE, ...facts });
  return listRules(modelIssues(withExtensions(changePart(model, "main.operands[3]", unused)), options));
}

const typeNames = Object.keys(OperandType).filter((name): name is keyof typeof OperandType => name in OperandType);

describe("the control model", () => {
  it("is valid", () => {
    expect(modelIssues(controlModel)).toEqual([]);
  });
});

describe("types", () => {
  it("exist from their version on (rule 2)", () => {
    const unused = { dimensions: [], type: OperandType.BOOL };
    expect(issuesOfUnused(unused, { version: "1.1" })).toEqual(["operand-type main.operands[3].type"]);
    expect(issuesOfUnused(unused, { version: "1.2" })).toEqual([]);
    const signed = { type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED, scale: 1 };
    expect(issuesOfUnused(signed, { version: "1.2" })).toEqual(["operand-type main.operands[3].type"]);
    expect(issuesOfUnused(signed, { version: "1.3" })).toEqual([]);
  });

  it.each([-1, 16, 9999, 10002, 0xffff, 0x1_0000_0000, 0.5, Number.NaN])("are not %d (rule 2)", (type) => {
    expect(issuesOfUnused({ type })).toEqual(["operand-type main.operands[3].type"]);
  });

  it.each([0x1_0000, 0xffff_ffff])("of extensions are %d, since HAL 1.2", (type) => {
    expect(issuesOfUnused({ type })).toEqual([]);
    expect(issuesOfUnused({ type }, { version: "1.2" })).toEqual([]);
    expect(issuesOfUnused({ type }, { version: "1.1" })).toEqual(["operand-type main.operands[3].type"]);
  });

  it("of extensions are refused if the HAL's own operations read them", () => {
    const model = withExtensions(changePart(controlModel, "main.operands[3].type", 0xffff_ffff));
    expect(listRules(modelIssues(model))).toEqual(["operation-signature main.operations[0]"]);
  });
});

describe("dimensions", () => {
  it.each(["FLOAT32", "INT32", "UINT32", "BOOL", "FLOAT16", "OEM"] as const)("of a %s are none (rule 3)", (name) => {
    expect(issuesOfUnused({ type: OperandType[name], dimensions: [] })).toEqual([]);
    expect(issuesOfUnused({ type: OperandType[name], dimensions: [0] })).toEqual([
      "scalar-rank main.operands[3].dimensions",
    ]);
  });

  it("of a SUBGRAPH are none (rule 3)", () => {
    expect(issuesOf({ "main.operands[7].dimensions": [1] })).toEqual(["scalar-rank main.operands[7].dimensions"]);
  });

  it("of a tensor may be unknown altogether since HAL 1.2 (rule 4)", () => {
    for (const type of [OperandType.TENSOR_FLOAT32, OperandType.TENSOR_OEM_BYTE]) {
      expect(issuesOfUnused({ type, dimensions: [] }, { version: "1.1" })).toEqual([
        "tensor-rank main.operands[3].dimensions",
      ]);
      expect(issuesOfUnused({ type, dimensions: [] }, { version: "1.2" })).toEqual([]);
      expect(issuesOfUnused({ type, dimensions: [0] }, { version: "1.0" })).toEqual([]);
    }
  });

  it("of a constant are all known (rule 5)", () => {
    for (const dimensions of [[], [0], [3, 0]]) {
      const changes = { "main.operands[3].dimensions": dimensions, "main.operands[3].location.length": 0 };
      expect(issuesOf(changes)).toEqual(["constant-dimensions main.operands[3].dimensions"]);
    }
  });

  it("give a size below 2^32 bytes (rule 59)", () => {
    expect(issuesOfUnused({ dimensions: [0x3fff_ffff] })).toEqual([]);
    expect(issuesOfUnused({ dimensions: [0x4000_0000] })).toEqual(["operand-size main.operands[3].dimensions"]);
    expect(issuesOfUnused({ dimensions: Array(40).fill(0xffff_ffff) })).toEqual([
      "operand-size main.operands[3].dimensions",
    ]);
    expect(issuesOfUnused({ dimensions: [0, ...Array(40).fill(0xffff_ffff)] })).toEqual([]);
  });
});

describe("scales", () => {
  const none = typeNames.filter((name) => !/INT32|QUANT|OEM|SUBGRAPH/.test(name)).concat("INT32", "UINT32");

  it.each(none)("of a %s are 0 (rule 6)", (name) => {
    const dimensions = name.startsWith("TENSOR") ? [1] : [];
    const type = OperandType[name];
    expect(issuesOfUnused({ type, dimensions, scale: 0 })).toEqual([]);
    for (const scale of [1, -1, Number.NaN]) {
      expect(issuesOfUnused({ type, dimensions, scale })).toEqual(["scale-none main.operands[3].scale"]);
    }
  });

  it("of filters per channel, subgraphs and extensions' types are 0 (rule 6)", () => {
    expect(issuesOf({ "main.operands[2].scale": 1 })).toEqual(["scale-none main.operands[2].scale"]);
    expect(issuesOf({ "main.operands[7].scale": 1 })).toEqual(["scale-none main.operands[7].scale"]);
    expect(issuesOfUnused({ type: 0x1_0000, scale: 1 })).toEqual(["scale-none main.operands[3].scale"]);
  });

  it("of a TENSOR_INT32 are 0 or positive (rule 7)", () => {
    const type = OperandType.TENSOR_INT32;
    for (const scale of [0, 1e-30, 1]) expect(issuesOfUnused({ type, scale })).toEqual([]);
    for (const scale of [-1e-30, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(issuesOfUnused({ type, scale })).toEqual(["scale-bias main.operands[3].scale"]);
    }
  });

  it.each([
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT8_SYMM",
    "TENSOR_QUANT16_ASYMM",
    "TENSOR_QUANT16_SYMM",
  ] as const)("of a %s are positive (rule 8)", (name) => {
    const type = OperandType[name];
    for (const scale of [1e-30, 1, 3e38]) expect(issuesOfUnused({ type, scale })).toEqual([]);
    for (const scale of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 4e38]) {
      expect(issuesOfUnused({ type, scale })).toEqual(["scale-positive main.operands[3].scale"]);
    }
  });

  it("of OEM types are the OEM's affair", () => {
    expect(issuesOfUnused({ type: OperandType.TENSOR_OEM_BYTE, scale: -7, zeroPoint: 9 })).toEqual([]);
    expect(issuesOfUnused({ type: OperandType.OEM, dimensions: [], scale: -7, zeroPoint: 9 })).toEqual([]);
  });
});

describe("zero points", () => {
  it.each(typeNames.filter((name) => !/ASYMM|OEM|SUBGRAPH|CHANNEL/.test(name)))("of a %s are 0 (rule 9)", (name) => {
    const dimensions = name.startsWith("TENSOR") ? [1] : [];
    const facts = { type: OperandType[name], dimensions, scale: name.includes("QUANT") ? 1 : 0 };
    expect(issuesOfUnused({ ...facts, zeroPoint: 0 })).toEqual([]);
    for (const zeroPoint of [1, -1]) {
      expect(issuesOfUnused({ ...facts, zeroPoint })).toEqual(["zero-point-none main.operands[3].zeroPoint"]);
    }
  });

  it("of filters per channel, subgraphs and extensions' types are 0 (rule 9)", () => {
    expect(issuesOf({ "main.operands[2].zeroPoint": 1 })).toEqual(["zero-point-none main.operands[2].zeroPoint"]);
    expect(issuesOf({ "main.operands[7].zeroPoint": 1 })).toEqual(["zero-point-none main.operands[7].zeroPoint"]);
    expect(issuesOfUnused({ type: 0x1_0000, zeroPoint: 1 })).toEqual(["zero-point-none main.operands[3].zeroPoint"]);
  });

  it.each([
    ["TENSOR_QUANT8_ASYMM", "zero-point-quant8", 0, 255],
    ["TENSOR_QUANT8_ASYMM_SIGNED", "zero-point-quant8-signed", -128, 127],
    ["TENSOR_QUANT16_ASYMM", "zero-point-quant16", 0, 65535],
  ] as const)("of a %s are within its range (rules 10 to 12)", (name, code, least, greatest) => {
    const facts = { type: OperandType[name], scale: 1 };
    for (const zeroPoint of [least, 1, greatest]) expect(issuesOfUnused({ ...facts, zeroPoint })).toEqual([]);
    for (const zeroPoint of [least - 1, greatest + 1, 0.5, Number.NaN]) {
      expect(issuesOfUnused({ ...facts, zeroPoint })).toEqual([`${code} main.operands[3].zeroPoint`]);
    }
  });
});

describe("extraParams", () => {
  const channelQuant = { kind: "channelQuant", channelQuant: { scales: [1], channelDim: 0 } } as const;
  const extension = { kind: "extension", extension: Uint8Array.of(1, 2) } as const;

  it.each(typeNames.filter((name) => !/OEM|SUBGRAPH|CHANNEL/.test(name)))("of a %s are none (rule 13)", (name) => {
    const dimensions = name.startsWith("TENSOR") ? [1] : [];
    const facts = { type: OperandType[name], dimensions, scale: name.includes("QUANT") ? 1 : 0 };
    for (const extraParams of [channelQuant, extension]) {
      expect(issuesOfUnused({ ...facts, extraParams })).toEqual(["extra-params-none main.operands[3].extraParams"]);
    }
  });

  it("of a SUBGRAPH are none (rule 13)", () => {
    const changes = { "main.operands[7].extraParams": extension };
    expect(issuesOf(changes)).toEqual(["extra-params-none main.operands[7].extraParams"]);
  });

  it("of a filter per channel give a channel dimension that it has (rule 14)", () => {
    const field = "main.operands[2].extraParams";
    expect(issuesOf({ [field]: { kind: "none" } })).toEqual([`channel-quant ${field}`]);
    expect(issuesOf({ [field]: extension })).toEqual([`channel-quant ${field}`]);
    const channelDim = `${field}.channelQuant.channelDim`;
    expect(issuesOf({ [channelDim]: 4 })).toEqual([`channel-quant ${channelDim}`]);
    // Dimension 3 has the same extent; that CONV_2D wants 0 is the operation's own rule.
    expect(issuesOf({ [channelDim]: 3 })).toEqual(["operation-rule main.operations[0]"]);
  });

  it("give one scale for each channel (rule 15)", () => {
    const field = "main.operands[2].extraParams.channelQuant.scales";
    for (const scales of [[], [1, 1], [1, 1, 1, 1]]) {
      expect(issuesOf({ [field]: scales })).toEqual([`channel-scales-count ${field}`]);
    }
  });

  it("belong to a dimension whose extent is known (rule 16)", () => {
    const facts = { type: OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, dimensions: [0, 2] };
    const unknown = { kind: "channelQuant", channelQuant: { scales: [], channelDim: 0 } } as const;
    expect(issuesOfUnused({ ...facts, extraParams: unknown })).toEqual(["channel-extent main.operands[3].dimensions"]);
    const known = { kind: "channelQuant", channelQuant: { scales: [1, 1], channelDim: 1 } } as const;
    expect(issuesOfUnused({ ...facts, extraParams: known })).toEqual([]);
  });

  it("give positive scales (rule 17)", () => {
    const field = "main.operands[2].extraParams.channelQuant.scales";
    expect(issuesOf({ [field]: [1e-30, 1, 2] })).toEqual([]);
    for (const scale of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(issuesOf({ [field]: [1, 1, scale] })).toEqual([`channel-scales-positive ${field}[2]`]);
    }
  });

  it("of extensions' types are none or the extension's (rule 18)", () => {
    expect(issuesOfUnused({ type: 0x1_0000 })).toEqual([]);
    expect(issuesOfUnused({ type: 0x1_0000, extraParams: extension })).toEqual([]);
    const wrong = issuesOfUnused({ type: 0x1_0000, extraParams: channelQuant });
    expect(wrong).toEqual(["extra-params-extension main.operands[3].extraParams"]);
  });
});

describe("constants of extensions and OEMs", () => {
  it("have any length", () => {
    const facts = { dimensions: [5] };
    const main = (type: number) =>
      modelOf(
        subgraphOf(
          [...floorModel().main.operands, constant("TENSOR_OEM_BYTE", 0, 3, { ...facts, type })],
          floorModel().main.operations,
        ),
        { operandValues: new Uint8Array(3) },
      );
    expect(modelIssues(main(OperandType.TENSOR_OEM_BYTE))).toEqual([]);
    expect(modelIssues(main(0x1_0000))).toEqual([]);
    expect(listRules(modelIssues(main(OperandType.TENSOR_INT32)))).toEqual([
      "constant-length main.operands[3].location.length",
    ]);
  });
});

describe("operandTypeIssues", () => {
  const issues = (changes: Partial<Operand>) => {
    const plain = { type: OperandType.TENSOR_FLOAT32, dimensions: [2, 0], scale: 0, zeroPoint: 0 };
    return operandTypeIssues({ ...plain, ...changes }).map(({ code }) => code);
  };

  it("finds nothing in an operand that may become right", () => {
    expect(issues({})).toEqual([]);
    expect(issues({ dimensions: [] })).toEqual([]);
    expect(issues({ type: OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL })).toEqual([]);
    expect(issues({ type: OperandType.SUBGRAPH, dimensions: [] })).toEqual([]);
    expect(issues({ type: 0x1_0000 })).toEqual([]);
  });

  it("finds operands that no value and no operation can make valid", () => {
    expect(issues({ type: 77 })).toEqual(["operand-type"]);
    expect(issues({ type: OperandType.INT32 })).toEqual(["scalar-rank"]);
    expect(issues({ dimensions: [2 ** 16, 2 ** 16] })).toEqual(["operand-size"]);
    expect(issues({ dimensions: [-1] })).toEqual(["structure"]);
    expect(issues({ scale: 1 })).toEqual(["scale-none"]);
    expect(issues({ zeroPoint: 1 })).toEqual(["zero-point-none"]);
    expect(issues({ type: OperandType.TENSOR_QUANT8_ASYMM })).toEqual(["scale-positive"]);
  });
});
