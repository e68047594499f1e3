import { viewModel } from "@nnhal/backend";
import { Model } from "@nnhal/runtime";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { onnxModelOf } from "./onnx-model.ts";

function adding(dimensions: readonly number[]): Model {
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
    const session = await InferenceSession.create(onnxModelOf(graphOf(adding([2]))));
    const [left = "", right = ""] = session.inputNames;
    const results = await session.run({
      [left]: new Tensor("float32", Float32Array.of(1, 2), [2]),
      [right]: new Tensor("float32", Float32Array.of(10, 20), [2]),
    });
    expect(session.outputNames.map((name) => results[name]?.data)).toEqual([Float32Array.of(11, 22)]);
    await session.release();
  });

  it("refuses a model with open extents", () => {
    expect(() => onnxModelOf(graphOf(adding([0])))).toThrow("the model leaves extents of its inputs open");
  });
});
