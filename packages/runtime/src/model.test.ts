import { OperandLifeTime } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES, Model } from "./model.ts";
import { addModel, float32 } from "./models.test-helper.ts";
import { ResultCode } from "./result-code.ts";

const code = (name: keyof typeof ResultCode) => expect.objectContaining({ code: ResultCode[name] });

describe("Model", () => {
  it("becomes a HAL model", () => {
    const { main, operandValues } = addModel().hal;
    expect(main.operands.map(({ lifetime }) => lifetime)).toEqual([
      OperandLifeTime.SUBGRAPH_INPUT,
      OperandLifeTime.SUBGRAPH_INPUT,
      OperandLifeTime.CONSTANT_COPY,
      OperandLifeTime.SUBGRAPH_OUTPUT,
    ]);
    expect(main.operands.map(({ numberOfConsumers }) => numberOfConsumers)).toEqual([1, 1, 1, 0]);
    expect([...operandValues]).toEqual([0, 0, 0, 0]);
  });

  it("sorts operations", () => {
    const model = new Model();
    const [a, b, c] = [float32(1), float32(1), float32(1)].map((operand) => model.addOperand(operand));
    model.addOperation("ABS", [b], [c]);
    model.addOperation("NEG", [a], [b]);
    model.identifyInputsAndOutputs([a], [c]);
    model.finish();
    expect(model.hal.main.operations.map(({ outputs }) => outputs[0])).toEqual([b, c]);
  });

  it("copies values up to 128 bytes and refers to longer ones", () => {
    const withConstant = (length: number) => {
      const model = new Model();
      const value = new Uint8Array(length);
      const constant = model.addOperand({ type: "TENSOR_QUANT8_ASYMM", dimensions: [length], scale: 1 });
      const output = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [length] });
      model.setOperandValue(constant, value);
      model.addOperation("DEQUANTIZE", [constant], [output]);
      model.identifyInputsAndOutputs([], [output]);
      model.finish();
      const { main, pools } = model.hal;
      return { lifetime: main.operands[constant].lifetime, pools, value };
    };
    const short = withConstant(MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES);
    expect(short).toMatchObject({ lifetime: OperandLifeTime.CONSTANT_COPY, pools: [] });
    const long = withConstant(MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES + 1);
    expect(long.lifetime).toBe(OperandLifeTime.CONSTANT_REFERENCE);
    expect(long.pools.map(({ handle }) => handle?.kind === "buffer" && handle.buffer)).toEqual([long.value.buffer]);
  });

  it("shares one pool among values from the same memory", () => {
    const memory = {
      name: "ashmem",
      size: 16,
      handle: { kind: "buffer", buffer: new SharedArrayBuffer(16), byteOffset: 0 },
    } as const;
    const model = new Model();
    const [a, b, sum] = [float32(2), float32(2), float32(2)].map((operand) => model.addOperand(operand));
    const activation = model.addOperand({ type: "INT32" });
    model.setOperandValueFromMemory(a, memory, 0, 8);
    model.setOperandValueFromMemory(b, memory, 8, 8);
    model.setOperandValue(activation, 0);
    model.addOperation("ADD", [a, b, activation], [sum]);
    model.identifyInputsAndOutputs([], [sum]);
    model.finish();
    expect(model.hal.pools).toEqual([memory]);
  });

  describe("refuses", () => {
    it("changes after finish, and a second finish", () => {
      const model = addModel();
      expect(() => model.addOperand(float32(1))).toThrow(code("BAD_STATE"));
      expect(() => model.setOperandValue(0, null)).toThrow(code("BAD_STATE"));
      expect(() => model.addOperation("ABS", [0], [3])).toThrow(code("BAD_STATE"));
      expect(() => model.identifyInputsAndOutputs([0], [3])).toThrow(code("BAD_STATE"));
      expect(() => model.relaxComputationFloat32toFloat16(true)).toThrow(code("BAD_STATE"));
      expect(() => model.finish()).toThrow(code("BAD_STATE"));
    });

    it("to be compiled before finish", () => {
      expect(() => new Model().hal).toThrow(code("BAD_STATE"));
    });

    it("operands that do not exist", () => {
      const model = new Model();
      expect(() => model.setOperandValue(0, 1)).toThrow(code("BAD_DATA"));
      expect(() => model.addOperation("ABS", [0], [0])).toThrow("operand 0 does not exist, there are 0");
    });

    it.each([7, 9])("a value of %i bytes where 8 are needed", (length) => {
      const model = new Model();
      const index = model.addOperand(float32(2));
      expect(() => model.setOperandValue(index, new Uint8Array(length))).toThrow(code("BAD_DATA"));
      expect(() => model.setOperandValue(index, new Uint8Array(8))).not.toThrow();
    });

    it("inputs and outputs that are constants, listed twice, or identified again", () => {
      const model = new Model();
      const [constant, input, output] = [float32(1), float32(1), float32(1)].map((operand) =>
        model.addOperand(operand),
      );
      model.setOperandValue(constant, Float32Array.of(1));
      expect(() => model.identifyInputsAndOutputs([constant], [output])).toThrow("operand 0 is a constant");
      expect(() => model.identifyInputsAndOutputs([input, input], [output])).toThrow("operand 1 is listed twice");
      expect(() => model.identifyInputsAndOutputs([input], [input])).toThrow("operand 1 is listed twice");
      model.identifyInputsAndOutputs([input], [output]);
      expect(() => model.identifyInputsAndOutputs([input], [output])).toThrow(code("BAD_STATE"));
    });

    it("operations that wait for each other", () => {
      const model = new Model();
      const [a, b] = [float32(1), float32(1)].map((operand) => model.addOperand(operand));
      model.addOperation("ABS", [a], [b]);
      model.addOperation("NEG", [b], [a]);
      expect(() => model.finish()).toThrow(code("BAD_DATA"));
    });

    it("what validation refuses, with the rule and the operand", () => {
      const broken = () => addModel(float32(2), { type: "TENSOR_INT32", dimensions: [2] }, float32(2));
      expect(broken).toThrow(code("BAD_DATA"));
      expect(broken).toThrow("main.operations[0]");
    });

    it("a HAL model that is not valid", () => {
      const { hal } = addModel();
      expect(() => Model.from({ ...hal, main: { ...hal.main, inputIndexes: [0] } })).toThrow(code("BAD_DATA"));
      expect(Model.from(hal).hal).toBe(hal);
    });
  });
});
