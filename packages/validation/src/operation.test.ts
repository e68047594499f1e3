import { bool, defineOperation, scalar, tensor } from "@nnhal/operations/authoring";
import {
  changePart,
  changeParts,
  constant,
  controlModel,
  describeExtension,
  floorModel,
  input,
  listRules,
  modelOf,
  omitted,
  operand,
  operation,
  output,
  subgraphOf,
  withExtensions,
} from "@nnhal/test-kit/models";
import { type Operand, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type ModelValidationOptions, modelIssues } from "./index.ts";

/** The model of FLOOR with another type of the second operation. */
const withOperation = (type: number) => withExtensions(changePart(floorModel(), "main.operations[1].type", type));

function issuesOf(changes: Readonly<Record<string, unknown>>, options?: ModelValidationOptions): string[] {
  return listRules(modelIssues(changeParts(controlModel, changes), options));
}

/** SQUEEZE, whose second operand is optional. */
function squeezeModel(input0: Partial<Operand>, axes: Partial<Operand>) {
  const operands = [
    operand({ dimensions: [1, 2], ...input, ...input0 }),
    operand({ type: OperandType.TENSOR_INT32, dimensions: [1], ...axes }),
    operand({ ...output }),
  ];
  return modelOf(subgraphOf(operands, [operation("SQUEEZE", [0, 1], [2])]));
}

describe("an operation's type", () => {
  it.each([-1, 106, 9999, 10001, 0.5, Number.NaN])("is not %d (rule 27)", (type) => {
    expect(issuesOf({ "main.operations[0].type": type })).toEqual(["operation-type main.operations[0].type"]);
  });

  it("exists from its version on (rule 27)", () => {
    const operands = [operand(input), operand(output)];
    const model = modelOf(subgraphOf(operands, [operation("ABS", [0], [1])]));
    expect(listRules(modelIssues(model, { version: "1.1" }))).toEqual(["operation-type main.operations[0].type"]);
    expect(modelIssues(model, { version: "1.2" })).toEqual([]);
  });

  it("may be OEM_OPERATION with any operands", () => {
    const model = changePart(floorModel(), "main.operations[1].type", OperationType.OEM_OPERATION);
    for (const version of ["1.0", "1.3"] as const) expect(modelIssues(model, { version })).toEqual([]);
  });

  it("may be an extension's with any operands, since HAL 1.2 (rule 28)", () => {
    for (const type of [0x1_0000, 0xffff_ffff]) {
      const model = withOperation(type);
      expect(modelIssues(model, { version: "1.2" })).toEqual([]);
      const issues = listRules(modelIssues(model, { version: "1.1" }));
      expect(issues).toEqual(["extension-operation-version main.operations[1].type"]);
    }
  });

  it("may be an extension's with a definition, which then counts", () => {
    const twice = defineOperation({
      name: "TWICE",
      code: 0x1_0002,
      summary: "Doubles.",
      params: [tensor("input")],
      outputs: [tensor("output")],
      types: [["1.2", "TENSOR_INT32", "TENSOR_INT32"]],
    });
    const model = withOperation(twice.code);
    expect(modelIssues(model)).toEqual([]);
    const issues = modelIssues(model, describeExtension(twice));
    expect(listRules(issues)).toEqual(["operation-signature main.operations[1]"]);
    expect(issues[0]?.message).toMatch(/^TWICE: input 0 \(input\): expected TENSOR_INT32, got TENSOR_FLOAT32/);
  });

  it("may be one that the known definition of its extension lacks: that of a later version may have it", () => {
    expect(modelIssues(withOperation(0x1_0003), describeExtension())).toEqual([]);
    expect(modelIssues(withOperation(0x2_0003), describeExtension())).toEqual([]);
  });

  it("has a prefix of an extension (rule 73)", () => {
    const model = { ...withOperation(0x1_0003), extensionNameToPrefix: [{ name: "com.example.other", prefix: 2 }] };
    expect(modelIssues(model)).toEqual([
      {
        code: "extension-prefix",
        path: "main.operations[1].type",
        message: "the prefix of 65539 is 1, which extensionNameToPrefix gives to no extension",
      },
    ]);
  });
});

describe("an operation's operands", () => {
  it.each(["inputs[1]", "outputs[0]"])("are operands of the subgraph: %s (rule 27)", (place) => {
    for (const index of [10, 0xffff_ffff, -1, 0.5, Number.NaN, "1", undefined]) {
      const issues = issuesOf({ [`main.operations[0].${place}`]: index });
      expect(issues).toEqual([`operation-operand-index main.operations[0].${place}`]);
    }
  });

  it("have the types of a signature (rule 27)", () => {
    const model = floorModel({ type: OperandType.TENSOR_INT32 });
    const issues = modelIssues(model);
    expect(listRules(issues)).toEqual([
      "operation-signature main.operations[0]",
      "operation-signature main.operations[1]",
    ]);
    expect(issues[0]?.message).toMatch(/^FLOOR: input 0 .*: expected TENSOR_FLOAT.*, got TENSOR_INT32/);
  });

  it("are as many as in a signature (rule 27)", () => {
    const inputs = [0, 2, 3, 4, 4, 4];
    const issues = modelIssues(changePart(controlModel, "main.operations[0].inputs", inputs));
    expect(listRules(issues)).toContain("operation-signature main.operations[0]");
    expect(issues[0]?.message).toMatch(/^CONV_2D: expected .*, got 6 inputs and 1 outputs/);
  });

  it("fit the version's signatures (rule 27)", () => {
    const half = floorModel({ type: OperandType.TENSOR_FLOAT16 });
    expect(modelIssues(half, { version: "1.2" })).toEqual([]);
    // At 1.1 the type itself is unknown, and nothing else is said.
    expect(new Set(modelIssues(half, { version: "1.1" }).map(({ code }) => code))).toEqual(new Set(["operand-type"]));
    const tanh = modelOf(
      subgraphOf(
        [
          operand({ type: OperandType.TENSOR_QUANT8_ASYMM, scale: 1, ...input }),
          operand({ type: OperandType.TENSOR_QUANT8_ASYMM, scale: 1 / 128, zeroPoint: 128, ...output }),
        ],
        [operation("TANH", [0], [1])],
      ),
    );
    expect(listRules(modelIssues(tanh, { version: "1.1" }))).toEqual(["operation-version main.operations[0]"]);
    expect(modelIssues(tanh, { version: "1.2" })).toEqual([]);
  });

  it("have values that the version allows (rule 27)", () => {
    const scales = { type: OperandType.TENSOR_QUANT8_ASYMM, dimensions: [1, 2] };
    const model = (scale: number) =>
      modelOf(
        subgraphOf(
          [
            operand({ ...scales, scale: 0.5, ...input }),
            operand({ ...scales, scale, ...input }),
            constant("INT32", 0, 4),
            operand({ ...scales, dimensions: [2, 2], scale: 0.5, ...output }),
          ],
          [operation("CONCATENATION", [0, 1, 2], [3])],
        ),
        { operandValues: new Uint8Array(4) },
      );
    expect(modelIssues(model(0.5), { version: "1.0" })).toEqual([]);
    expect(listRules(modelIssues(model(0.25), { version: "1.1" }))).toEqual(["operation-version main.operations[0]"]);
    expect(modelIssues(model(0.25), { version: "1.2" })).toEqual([]);
  });

  it("have ranks that the operation allows, if they are known (rule 27)", () => {
    const path = "main.operands[0].dimensions";
    for (const dimensions of [[], [0, 0, 0, 0], [1, 4, 4, 3]]) expect(issuesOf({ [path]: dimensions })).toEqual([]);
    for (const dimensions of [
      [1, 4, 4],
      [1, 4, 4, 3, 1],
    ]) {
      expect(issuesOf({ [path]: dimensions })).toEqual(["operation-rank main.operations[0].inputs[0]"]);
    }
  });

  it("keep the rules of the operation's own (rule 27)", () => {
    const issues = modelIssues(changePart(controlModel, "main.operands[2].extraParams.channelQuant.channelDim", 3));
    expect(listRules(issues)).toEqual(["operation-rule main.operations[0]"]);
    expect(issues[0]?.message).toBe("CONV_2D: the filter's scales: expected dimension 0, got 3");
  });
});

describe("the rules of a definition", () => {
  const picky = (rule: (seen: { k: number | undefined; flag: boolean | undefined; values: unknown }) => string) =>
    defineOperation({
      name: "PICKY",
      code: 0x1_0003,
      summary: "Looks at constants.",
      params: [tensor("values", "TENSOR_FLOAT16"), scalar("k"), bool("flag")],
      outputs: [tensor("output")],
      types: [
        ["1.2", "FLOAT32", "TENSOR_FLOAT32"],
        ["1.2", "FLOAT16", "TENSOR_FLOAT32"],
      ],
      check: ({ k, flag, values }) => rule({ k, flag, values: values.data && [...values.data] }),
    });
  const bytes = Uint8Array.of(0x00, 0x3c, 0x00, 0xc0, 0, 0, 0x20, 0x41, 1, 0x00, 0x35);
  const model = (k: Operand, flag: Operand) => {
    const values = constant("TENSOR_FLOAT16", 0, 4, { dimensions: [2] });
    const picks = { type: 0x1_0003, inputs: [0, 1, 2], outputs: [3] };
    return modelOf(subgraphOf([values, k, flag, operand(output)], [picks]), { operandValues: bytes });
  };
  const check = (k: Operand, flag: Operand, pool?: ArrayBuffer) => {
    const known = describeExtension(picky((seen) => JSON.stringify(seen)));
    const whole = model(k, flag);
    const handle = { kind: "buffer", buffer: pool ?? new ArrayBuffer(0), byteOffset: 1 } as const;
    const pools = pool === undefined ? [] : [{ name: "ashmem", size: pool.byteLength - 1, handle }];
    return modelIssues({ ...whole, pools }, known).map(({ message }) => message);
  };

  it("receive the elements of constants", () => {
    const flag = constant("BOOL", 8, 1);
    expect(check(constant("FLOAT32", 4, 4), flag)).toEqual(['PICKY: {"k":10,"flag":true,"values":[1,-2]}']);
    expect(check(constant("FLOAT16", 9, 2), flag)).toEqual(['PICKY: {"k":0.3125,"flag":true,"values":[1,-2]}']);
  });

  it("receive those in pools of this process, and none of other operands", () => {
    const pool = Uint8Array.of(9, 9, 0x20, 0x41, 0).buffer;
    const location = { poolIndex: 0, offset: 0, length: 4 };
    const k = constant("FLOAT32", 0, 4, { lifetime: OperandLifeTime.CONSTANT_REFERENCE, location });
    const flag = operand({ type: OperandType.BOOL, dimensions: [], ...input });
    const float = new DataView(pool).getFloat32(1, true);
    expect(check(k, flag, pool)).toEqual([`PICKY: ${JSON.stringify({ k: float, values: [1, -2] })}`]);
  });

  it("may throw, which is an issue", () => {
    const known = describeExtension(
      picky(() => {
        throw new RangeError("surprise");
      }),
    );
    const issues = modelIssues(model(constant("FLOAT32", 4, 4), constant("BOOL", 8, 1)), known);
    expect(listRules(issues)).toEqual(["operation-rule main.operations[0]"]);
    expect(issues[0]?.message).toBe("PICKY: its rules cannot be applied: surprise");
  });
});

describe("an output", () => {
  it("is a TEMPORARY_VARIABLE or SUBGRAPH_OUTPUT (rule 30)", () => {
    const issues = issuesOf({ "main.operations[1].outputs[0]": 3, "main.operands[3].numberOfConsumers": 1 });
    expect(issues).toContain("output-lifetime main.operations[1].outputs[0]");
    const twice = changePart(floorModel(), "main.operations[1].outputs[0]", 0);
    expect(listRules(modelIssues(twice))).toEqual([
      "output-lifetime main.operations[1].outputs[0]",
      "never-written main.operands[2]",
    ]);
  });
});

describe("NO_VALUE", () => {
  it("is for optional operands (rule 57)", () => {
    expect(modelIssues(squeezeModel({}, omitted))).toEqual([]);
    expect(listRules(modelIssues(squeezeModel(omitted, input)))).toEqual([
      "operand-no-value main.operations[0].inputs[0]",
    ]);
  });

  it("is for no operand of an IF (rule 57)", () => {
    const changes = { "main.operands[1].lifetime": OperandLifeTime.NO_VALUE, "main.inputIndexes": [0] };
    expect(issuesOf(changes)).toEqual(["operand-no-value main.operations[1].inputs[0]"]);
  });

  it("does not hide a wrong type", () => {
    const model = squeezeModel({}, { ...omitted, type: OperandType.TENSOR_FLOAT32 });
    expect(listRules(modelIssues(model))).toEqual(["operation-signature main.operations[0]"]);
  });
});
