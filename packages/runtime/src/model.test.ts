import { type Device, ErrorStatus, OperandLifeTime, OperationType } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES } from "./constants.ts";
import { code } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { Model } from "./model.ts";
import { addModel, addOperands, float32, openReference } from "./models.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

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
    const [a, b, c] = addOperands(model, float32(1), float32(1), float32(1));
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
      return { lifetime: main.operands[constant]?.lifetime, pools, value };
    };
    const short = withConstant(MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES);
    expect(short).toMatchObject({ lifetime: OperandLifeTime.CONSTANT_COPY, pools: [] });
    const long = withConstant(MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES + 1);
    expect(long.lifetime).toBe(OperandLifeTime.CONSTANT_REFERENCE);
    expect(long.pools.map(({ handle }) => handle?.kind === "buffer" && handle.buffer)).toEqual([long.value.buffer]);
  });

  it("shares one pool among values from the same memory", () => {
    const memory = Memory.allocate(16);
    const model = new Model();
    const [a, b, sum] = addOperands(model, float32(2), float32(2), float32(2));
    const activation = model.addOperand({ type: "INT32" });
    model.setOperandValueFromMemory(a, memory, 0, 8);
    model.setOperandValueFromMemory(b, memory, 8, 8);
    model.setOperandValue(activation, 0);
    model.addOperation("ADD", [a, b, activation], [sum]);
    model.identifyInputsAndOutputs([], [sum]);
    model.finish();
    expect(model.hal.pools).toEqual([memory.content("test").plain]);
  });

  describe("getSupportedOperationsForDevices", () => {
    const ok = { status: ErrorStatus.NONE } as const;
    /** A device that supports some operations. */
    const take = (...types: readonly (keyof typeof OperationType)[]): Device => ({
      ...reference,
      name: types.join("+"),
      getSupportedOperations: ({ main }) => {
        const supported = main.operations.map(({ type }) => types.some((name) => OperationType[name] === type));
        return { ...ok, supported, reasons: supported.map((yes) => (yes ? undefined : "no")) };
      },
    });
    /** NEG, FLOOR and ABS, to be executed in the order 2, 0, 1. */
    function unsort(): Model {
      const model = new Model();
      const [a, b, c, d] = addOperands(model, float32(1), float32(1), float32(1), float32(1));
      model.addOperation("NEG", [b], [c]);
      model.addOperation("FLOOR", [c], [d]);
      model.addOperation("ABS", [a], [b]);
      model.identifyInputsAndOutputs([a], [d]);
      model.finish();
      return model;
    }

    it("answers in the order in which operations were added", async () => {
      expect(await unsort().getSupportedOperationsForDevices([take("ABS")])).toEqual([false, false, true]);
      expect(await unsort().getSupportedOperationsForDevices([take("NEG"), take("FLOOR")])).toEqual([
        true,
        true,
        false,
      ]);
      expect(await unsort().getSupportedOperationsForDevices([reference])).toEqual([true, true, true]);
      expect(await addModel().getSupportedOperationsForDevices([take("ADD")])).toEqual([true]);
    });

    it("counts a device that fails, or does not answer for every operation, as one that supports none", async () => {
      const failing = {
        ...take("ABS"),
        getSupportedOperations: () => ({ status: ErrorStatus.GENERAL_FAILURE, supported: [], reasons: [] }),
      };
      const short = { ...take("NEG"), getSupportedOperations: () => ({ ...ok, supported: [true], reasons: [] }) };
      expect(await unsort().getSupportedOperationsForDevices([failing, short])).toEqual([false, false, false]);
    });

    it("refuses no devices, missing ones and one twice, and a model that is not finished", async () => {
      const model = unsort();
      const missing = JSON.parse("null");
      await expect(model.getSupportedOperationsForDevices([])).rejects.toThrow(code("BAD_DATA"));
      await expect(model.getSupportedOperationsForDevices([reference, reference])).rejects.toThrow(code("BAD_DATA"));
      await expect(model.getSupportedOperationsForDevices(missing)).rejects.toThrow(code("UNEXPECTED_NULL"));
      await expect(model.getSupportedOperationsForDevices([reference, missing])).rejects.toThrow(
        code("UNEXPECTED_NULL"),
      );
      await expect(new Model().getSupportedOperationsForDevices([reference])).rejects.toThrow(code("BAD_STATE"));
    });
  });

  describe("refuses", () => {
    it("changes after finish, and a second finish, also after one that failed", () => {
      const invalid = new Model();
      invalid.addOperand(float32(1));
      invalid.addOperation("ABS", [0], [0]);
      expect(() => invalid.finish()).toThrow(code("BAD_DATA"));
      expect(() => invalid.addOperand(float32(1))).toThrow("addOperand: the model is invalid");
      expect(() => invalid.hal).toThrow(code("BAD_STATE"));
      expect(invalid.isFinished).toBe(false);
      expect(() => invalid.finish()).toThrow(code("BAD_STATE"));
      const model = addModel();
      expect(() => model.setOperandValueFromMemory(0, Memory.allocate(8), 0, 8)).toThrow(code("BAD_STATE"));
      expect(() => model.setOperandValueFromModel(0, addModel())).toThrow(code("BAD_STATE"));
      expect(() => model.setOperandSymmPerChannelQuantParams(0, { scales: [], channelDim: 0 })).toThrow(
        code("BAD_STATE"),
      );
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

    it("operands without a type, of impossible dimensions, and larger than 2^32 - 1 bytes", () => {
      const model = new Model();
      expect(() => model.addOperand({ type: JSON.parse('"TENSOR_FLOAT65"') })).toThrow(
        'addOperand: "TENSOR_FLOAT65" is not an operand type',
      );
      for (const dimensions of [[-1], [1.5], [2 ** 32], [Number.NaN]]) {
        expect(() => model.addOperand({ type: "TENSOR_FLOAT32", dimensions })).toThrow(code("BAD_DATA"));
      }
      expect(() => model.addOperand({ type: "INT32", dimensions: [1] })).toThrow("a INT32 has no dimensions");
      expect(() => model.addOperand({ type: "TENSOR_BOOL8", dimensions: [2 ** 16, 2 ** 16] })).toThrow(
        code("BAD_DATA"),
      );
      expect(model.addOperand({ type: "TENSOR_BOOL8", dimensions: [2 ** 16, 2 ** 16 - 1] })).toBe(0);
    });

    it.each([
      ["a scale without quantisation", { type: "TENSOR_FLOAT32", scale: 0.5 }, { type: "TENSOR_FLOAT32" }],
      ["no scale", { type: "TENSOR_QUANT8_ASYMM" }, { type: "TENSOR_QUANT8_ASYMM", scale: 0.5 }],
      ["a negative scale", { type: "TENSOR_INT32", scale: -1 }, { type: "TENSOR_INT32", scale: 1 }],
      ["a scale that is not a number", { type: "TENSOR_QUANT16_SYMM", scale: Number.NaN }, { type: "TENSOR_FLOAT16" }],
      [
        "a zeroPoint out of range",
        { type: "TENSOR_QUANT8_ASYMM", scale: 1, zeroPoint: 256 },
        { type: "TENSOR_QUANT8_ASYMM", scale: 1, zeroPoint: 255 },
      ],
      [
        "a zeroPoint without one",
        { type: "TENSOR_QUANT8_SYMM", scale: 1, zeroPoint: 1 },
        { type: "TENSOR_QUANT8_SYMM", scale: 1 },
      ],
      [
        "a scale beside those of channels",
        { type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions: [2], scale: 1 },
        { type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions: [2] },
      ],
    ] as const)("operands with %s", (_, wrong, right) => {
      const model = new Model();
      expect(() => model.addOperand(wrong)).toThrow(code("BAD_DATA"));
      expect(model.addOperand(right)).toBe(0);
    });

    it("operations that do not exist", () => {
      const model = new Model();
      model.addOperand(float32(1));
      expect(() => model.addOperation(JSON.parse('"ABZ"'), [0], [0])).toThrow(
        'addOperation(ABZ): expected an operation, got "ABZ"',
      );
    });

    it("what is missing", () => {
      const missing = JSON.parse("null");
      const model = new Model();
      const operand = model.addOperand(float32(1));
      expect(() => Model.from(missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.addOperand(missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.setOperandValue(operand, JSON.parse("{}").value)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.setOperandValueFromMemory(operand, missing, 0, 4)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.setOperandValueFromModel(operand, missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.setOperandSymmPerChannelQuantParams(operand, missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.addOperation("ABS", missing, [])).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.addOperation("ABS", [], missing)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.identifyInputsAndOutputs(missing, [])).toThrow(code("UNEXPECTED_NULL"));
      expect(() => model.identifyInputsAndOutputs([], missing)).toThrow(code("UNEXPECTED_NULL"));
    });

    it("values of tensors whose size is not known, and parts of memories that do not exist", () => {
      const model = new Model();
      const open = model.addOperand(float32(0));
      const rankless = model.addOperand(float32());
      const known = model.addOperand(float32(2));
      const memory = Memory.allocate(16);
      for (const operand of [open, rankless]) {
        expect(() => model.setOperandValue(operand, new Float32Array(2))).toThrow("where all must be known");
        expect(() => model.setOperandValueFromMemory(operand, memory, 0, 8)).toThrow(code("BAD_DATA"));
      }
      expect(() => model.setOperandValueFromMemory(known, memory, 0, 4)).toThrow(code("BAD_DATA"));
      for (const offset of [-1, 9, 0.5, Number.NaN]) {
        expect(() => model.setOperandValueFromMemory(known, memory, offset, 8)).toThrow(code("BAD_DATA"));
      }
      model.setOperandValueFromMemory(known, memory, 8, 8);
      memory.close();
      expect(() => model.setOperandValueFromMemory(known, memory, 8, 8)).toThrow(code("BAD_STATE"));
    });

    it("models as values if they are not finished, or if the operand is not a SUBGRAPH", () => {
      const model = new Model();
      const operand = model.addOperand(float32(1));
      const subgraph = model.addOperand({ type: "SUBGRAPH" });
      expect(() => model.setOperandValueFromModel(operand, addModel())).toThrow("the operand is a TENSOR_FLOAT32");
      expect(() => model.setOperandValueFromModel(subgraph, new Model())).toThrow(code("BAD_STATE"));
      expect(() => model.setOperandValueFromModel(9, addModel())).toThrow(code("BAD_DATA"));
      expect(() => model.setOperandValue(subgraph, new Uint8Array(4))).toThrow(code("BAD_DATA"));
    });

    it.each([
      ["a channelDim that is not an axis", 2, [1, 1]],
      ["a channelDim of unknown extent", 1, []],
      ["too few scales", 0, [1]],
      ["too many scales", 0, [1, 1, 1]],
      ["a scale of 0", 0, [1, 0]],
      ["a negative scale", 0, [-1, 1]],
      ["an infinite scale", 0, [1, Number.POSITIVE_INFINITY]],
    ])("per-channel parameters with %s", (_, channelDim, scales) => {
      const model = new Model();
      const operand = model.addOperand({ type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions: [2, 0] });
      expect(() => model.setOperandSymmPerChannelQuantParams(operand, { scales, channelDim })).toThrow(
        code("BAD_DATA"),
      );
      model.setOperandSymmPerChannelQuantParams(operand, { scales: [1, 2], channelDim: 0 });
      expect(() =>
        model.setOperandSymmPerChannelQuantParams(model.addOperand(float32(2)), { scales: [1, 2], channelDim: 0 }),
      ).toThrow("the operand is a TENSOR_FLOAT32");
    });

    it.each([7, 9])("a value of %i bytes instead of 8", (length) => {
      const model = new Model();
      const index = model.addOperand(float32(2));
      expect(() => model.setOperandValue(index, new Uint8Array(length))).toThrow(code("BAD_DATA"));
      expect(() => model.setOperandValue(index, new Uint8Array(8))).not.toThrow();
    });

    it("inputs and outputs that are constants, listed twice, or identified again", () => {
      const model = new Model();
      const [constant, input, output] = addOperands(model, float32(1), float32(1), float32(1));
      model.setOperandValue(constant, Float32Array.of(1));
      expect(() => model.identifyInputsAndOutputs([constant], [output])).toThrow("operand 0 is a constant");
      expect(() => model.identifyInputsAndOutputs([input, input], [output])).toThrow("operand 1 is listed twice");
      expect(() => model.identifyInputsAndOutputs([input], [input])).toThrow("operand 1 is listed twice");
      model.identifyInputsAndOutputs([input], [output]);
      expect(() => model.identifyInputsAndOutputs([input], [output])).toThrow(code("BAD_STATE"));
    });

    it("operations that wait for each other", () => {
      const model = new Model();
      const [a, b] = addOperands(model, float32(1), float32(1));
      model.addOperation("ABS", [a], [b]);
      model.addOperation("NEG", [b], [a]);
      expect(() => model.finish()).toThrow(code("BAD_DATA"));
    });

    it("models that validation refuses, with the rule and the operand", () => {
      const breakIt = () => addModel(float32(2), { type: "TENSOR_INT32", dimensions: [2] }, float32(2));
      expect(breakIt).toThrow(code("BAD_DATA"));
      expect(breakIt).toThrow("main.operations[0]");
    });

    it("a HAL model that is not valid", () => {
      const { hal } = addModel();
      expect(() => Model.from({ ...hal, main: { ...hal.main, inputIndexes: [0] } })).toThrow(code("BAD_DATA"));
      expect(Model.from(hal).hal).toEqual(hal);
    });
  });
});
