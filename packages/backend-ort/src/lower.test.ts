import { viewModel } from "@nnhal/backend";
import { Model } from "@nnhal/runtime";
import { expect, it } from "vitest";
import { portableForms } from "./forms.ts";
import { refusalOf } from "./lower.ts";

const state = { type: "TENSOR_FLOAT32", dimensions: [1] } as const;

/** A model of one operation that reads one value as often as it has inputs. */
function single(operation: "LESS" | "RELU", inputs: number): Model {
  const model = new Model();
  const input = model.addOperand(state);
  const output = model.addOperand(operation === "LESS" ? { type: "TENSOR_BOOL8", dimensions: [1] } : state);
  model.addOperation(
    operation,
    Array.from({ length: inputs }, () => input),
    [output],
  );
  model.identifyInputsAndOutputs([input], [output]);
  model.finish();
  return model;
}

function reasonsOf(model: Model): (string | undefined)[] {
  const { operations } = viewModel({ model: model.hal, pools: [] });
  return operations.map((view) => refusalOf(view, portableForms));
}

it("says why the engine cannot run a loop, and nothing of what it can run", () => {
  const model = new Model();
  const [condition, body] = [0, 1].map(() => model.addOperand({ type: "SUBGRAPH" }));
  const [start, end] = [0, 1].map(() => model.addOperand(state));
  model.setOperandValueFromModel(condition ?? 0, single("LESS", 2));
  model.setOperandValueFromModel(body ?? 0, single("RELU", 1));
  model.addOperation("WHILE", [condition ?? 0, body ?? 0, start ?? 0], [end ?? 0]);
  model.identifyInputsAndOutputs([start ?? 0], [end ?? 0]);
  model.finish();
  expect(reasonsOf(model)).toEqual([
    "WHILE: a run of onnxruntime cannot be interrupted, so a loop could not end in its time",
  ]);
  expect(reasonsOf(single("RELU", 1))).toEqual([undefined]);
});
