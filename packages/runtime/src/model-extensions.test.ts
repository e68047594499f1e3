/**
 * Extensions in models: types, operations and data of vendors, also in models that others refer to.
 */
import { type Extension, OperandType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { code } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { Model } from "./model.ts";
import { addOperands, float32 } from "./models.test-helper.ts";

const fibonacci: Extension = {
  name: "com.example.fibonacci",
  operandTypes: [
    { type: 0, isTensor: false, byteSize: 8 },
    { type: 1, isTensor: true, byteSize: 8 },
  ],
};
const other: Extension = { name: "com.example.other", operandTypes: [{ type: 3, isTensor: true, byteSize: 2 }] };
const options = { extensions: [fibonacci, other] };
const { name } = fibonacci;

/** n → FIBONACCI → sequence of 5. */
function sequence(prefixesBefore: readonly string[] = []): Model {
  const model = new Model(options);
  for (const before of prefixesBefore) model.getExtensionOperandType(before, 0);
  const n = model.addOperand({ type: model.getExtensionOperandType(name, 0) });
  const result = model.addOperand({ type: model.getExtensionOperandType(name, 1), dimensions: [5] });
  model.addOperation(model.getExtensionOperationType(name, 0), [n], [result]);
  model.identifyInputsAndOutputs([n], [result]);
  model.finish();
  return model;
}

describe("a model with an extension", () => {
  it("names it with the prefix of its codes", () => {
    const { main, extensionNameToPrefix } = sequence().hal;
    expect(extensionNameToPrefix).toEqual([{ name, prefix: 1 }]);
    expect(main.operands.map(({ type }) => type)).toEqual([0x1_0000, 0x1_0001]);
    expect(main.operations.map(({ type }) => type)).toEqual([0x1_0000]);
  });

  it("names no extension that it does not use", () => {
    expect(sequence(["com.example.other"]).hal.extensionNameToPrefix).toEqual([{ name, prefix: 2 }]);
  });

  it("has constants and data of the extension's types", () => {
    const model = new Model(options);
    const n = model.addOperand({ type: model.getExtensionOperandType(name, 0) });
    const result = model.addOperand({ type: model.getExtensionOperandType(name, 1), dimensions: [5] });
    model.setOperandValue(n, BigInt64Array.of(5n));
    const data = Uint8Array.of(1, 2, 3);
    model.setOperandExtensionData(result, data);
    data.fill(9);
    model.addOperation(model.getExtensionOperationType(name, 0), [n], [result]);
    model.identifyInputsAndOutputs([], [result]);
    model.finish();
    const [first, second] = model.hal.main.operands;
    expect(first?.location.length).toBe(8);
    expect(second?.extraParams).toEqual({ kind: "extension", extension: Uint8Array.of(1, 2, 3) });
  });

  it("has no data after it was removed", () => {
    const model = new Model(options);
    const operand = model.addOperand({ type: model.getExtensionOperandType(name, 0) });
    model.setOperandExtensionData(operand, Uint8Array.of(1));
    model.setOperandExtensionData(operand, null);
    const result = model.addOperand({ type: model.getExtensionOperandType(name, 1), dimensions: [5] });
    model.addOperation(model.getExtensionOperationType(name, 0), [operand], [result]);
    model.identifyInputsAndOutputs([operand], [result]);
    model.finish();
    expect(model.hal.main.operands[0]?.extraParams).toEqual({ kind: "none" });
  });

  it("has its prefixes in models that it refers to, too", () => {
    // Inside, fibonacci has prefix 2; outside, 1 is other's and 2 is not used yet.
    const inside = sequence(["com.example.other"]);
    const model = new Model(options);
    const otherType = model.getExtensionOperandType("com.example.other", 3);
    const condition = model.addOperand({ type: "TENSOR_BOOL8", dimensions: [1] });
    const [thenModel, elseModel] = addOperands(model, { type: "SUBGRAPH" }, { type: "SUBGRAPH" });
    const n = model.addOperand({ type: model.getExtensionOperandType("com.example.third", 0) - 0x1_0000 + 3 });
    expect(model.factsOf(otherType)).toMatchObject({ elementSize: 2 });
    expect(n).toBe(3);
    model.setOperandValueFromModel(thenModel, inside);
    model.setOperandValueFromModel(elseModel, inside);
    const input = model.addOperand({ type: model.getExtensionOperandType(name, 0) });
    const output = model.addOperand({ type: model.getExtensionOperandType(name, 1), dimensions: [5] });
    model.addOperation("IF", [condition, thenModel, elseModel, input], [output]);
    model.identifyInputsAndOutputs([condition, input, n], [output]);
    model.finish();
    const { main, referenced, extensionNameToPrefix } = model.hal;
    const prefix = extensionNameToPrefix.find((one) => one.name === name)?.prefix ?? 0;
    expect(new Set(extensionNameToPrefix.map((one) => one.prefix)).size).toBe(extensionNameToPrefix.length);
    expect(main.operands[input]?.type).toBe(prefix * 0x1_0000);
    for (const subgraph of referenced) {
      expect(subgraph.operands.map(({ type }) => type)).toEqual([prefix * 0x1_0000, prefix * 0x1_0000 + 1]);
      expect(subgraph.operations.map(({ type }) => type)).toEqual([prefix * 0x1_0000]);
    }
  });

  it("comes from the HAL's form with its prefixes", () => {
    const { hal } = sequence(["com.example.other"]);
    expect(Model.from(hal, options).factsOf(0x2_0001)).toMatchObject({ kind: "tensor", elementSize: 8 });
  });
});

describe("refuses", () => {
  it.each([-1, 0x1_0000, 0.5])("%s as a code within an extension", (type) => {
    const model = new Model(options);
    expect(() => model.getExtensionOperandType(name, type)).toThrow(code("BAD_DATA"));
    expect(() => model.getExtensionOperationType(name, type)).toThrow(code("BAD_DATA"));
    expect(model.getExtensionOperandType(name, 0xffff)).toBe(0x1_ffff);
  });

  it("no name, and a finished model", () => {
    const model = new Model(options);
    expect(() => model.getExtensionOperandType(JSON.parse("null"), 0)).toThrow(code("UNEXPECTED_NULL"));
    expect(() => model.getExtensionOperationType(JSON.parse("null"), 0)).toThrow(code("UNEXPECTED_NULL"));
    expect(() => sequence().getExtensionOperandType(name, 0)).toThrow(code("BAD_STATE"));
    expect(() => sequence().getExtensionOperationType(name, 0)).toThrow(code("BAD_STATE"));
    expect(() => sequence().setOperandExtensionData(0, null)).toThrow(code("BAD_STATE"));
  });

  it("operand types without a description, and operations without an extension", () => {
    const model = new Model(options);
    expect(() => model.addOperand({ type: 0x1_0000 })).toThrow("no extension has the prefix 1");
    const undescribed = model.getExtensionOperandType(name, 9);
    expect(() => model.addOperand({ type: undescribed })).toThrow(
      "no extension that the model was given describes operand type 9 of com.example.fibonacci",
    );
    expect(() => model.addOperand({ type: 777 })).toThrow(code("BAD_DATA"));
    expect(() => model.addOperation(0x2_0000, [], [])).toThrow(code("BAD_DATA"));
    expect(() => model.addOperation(0, [], [])).toThrow(code("BAD_DATA"));
  });

  it("values, data and dimensions that are not the type's", () => {
    const model = new Model(options);
    const n = model.addOperand({ type: model.getExtensionOperandType(name, 0) });
    const base = model.addOperand(float32(2));
    expect(() => model.addOperand({ type: model.getExtensionOperandType(name, 0), dimensions: [1] })).toThrow(
      "a com.example.fibonacci type 0 has no dimensions, given [1]",
    );
    expect(() => model.setOperandValue(n, Int32Array.of(5))).toThrow("expected 8 bytes, got 4");
    expect(() => model.setOperandValue(n, 5)).toThrow(code("BAD_DATA"));
    expect(() => model.setOperandValueFromMemory(n, Memory.allocate(16), 0, 4)).toThrow(code("BAD_DATA"));
    expect(() => model.setOperandExtensionData(base, Uint8Array.of(1))).toThrow(code("BAD_DATA"));
    expect(() => model.setOperandExtensionData(n, new Uint8Array(0))).toThrow(code("BAD_DATA"));
    expect(() => model.setOperandExtensionData(n, JSON.parse("{}").data)).toThrow(code("UNEXPECTED_NULL"));
    expect(() => model.setOperandExtensionData(7, null)).toThrow(code("BAD_DATA"));
    expect(model.factsOf(OperandType.INT32)).toMatchObject({ name: "INT32" });
  });
});
