import { viewModel } from "@nnhal/backend";
import { Model } from "@nnhal/runtime";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { formsOfThisProcessor, onnxModelOf } from "./onnx-model.ts";

function makeAdding(dimensions: readonly number[]): Model {
  const model = new Model();
  const [left, right, sum] = [1, 2, 3].map(() => model.addOperand({ type: "TENSOR_FLOAT32", dimensions }));
  const activation = model.addOperand({ type: "INT32" });
  model.setOperandValue(activation, 0);
  model.addOperation("ADD", [left ?? 0, right ?? 0, activation], [sum ?? 0]);
  model.identifyInputsAndOutputs([left ?? 0, right ?? 0], [sum ?? 0]);
  model.finish();
  return model;
}

const graphOf = (model: Model) => viewModel({ model: model.hal, pools: [] });

describe("onnxModelOf", () => {
  it("returns a model that onnxruntime runs by itself, with inputs and outputs in order", async () => {
    const session = await InferenceSession.create(onnxModelOf(graphOf(makeAdding([2]))));
    const [left = "", right = ""] = session.inputNames;
    const results = await session.run({
      [left]: new Tensor("float32", Float32Array.of(1, 2), [2]),
      [right]: new Tensor("float32", Float32Array.of(10, 20), [2]),
    });
    expect(session.outputNames.map((name) => results[name]?.data)).toEqual([Float32Array.of(11, 22)]);
    await session.release();
  });

  it.each(["forms that are right anywhere", "those of this processor"])(
    "has products that do not saturate, in %s",
    async (which) => {
      const model = new Model();
      const facts = { type: "TENSOR_QUANT8_ASYMM", scale: 1, zeroPoint: 128 } as const;
      const input = model.addOperand({ ...facts, dimensions: [1, 16] });
      const weights = model.addOperand({ ...facts, dimensions: [1, 16] });
      const bias = model.addOperand({ type: "TENSOR_INT32", dimensions: [1], scale: 1 });
      const activation = model.addOperand({ type: "INT32" });
      const output = model.addOperand({ ...facts, scale: 2048, dimensions: [1, 1] });
      model.setOperandValue(weights, new Uint8Array(16).fill(255));
      model.setOperandValue(bias, Int32Array.of(0));
      model.setOperandValue(activation, Int32Array.of(0));
      model.addOperation("FULLY_CONNECTED", [input, weights, bias, activation], [output]);
      model.identifyInputsAndOutputs([input], [output]);
      model.finish();
      const options = which.includes("anywhere") ? {} : { forms: await formsOfThisProcessor() };
      const session = await InferenceSession.create(onnxModelOf(graphOf(model), options));
      const [name = ""] = session.inputNames;
      const results = await session.run({ [name]: new Tensor("uint8", new Uint8Array(16).fill(255), [1, 16]) });
      // 16 products of 127 and 127, in steps of 2048, which is 126.
      expect(session.outputNames.map((each) => results[each]?.data)).toEqual([Uint8Array.of(128 + 126)]);
      await session.release();
    },
  );

  it("refuses a model with open extents", () => {
    expect(() => onnxModelOf(graphOf(makeAdding([0])))).toThrow("the model leaves extents of its inputs open");
  });
});
