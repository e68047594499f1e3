import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { Model } from "@nnhal/runtime";
import { expect, it } from "vitest";
import { modelRunner } from "./model-runner.ts";

/** input · vector, and the input's sign turned. */
function product() {
  const model = new Model();
  const tensor = { type: "TENSOR_FLOAT32", dimensions: [2], scale: 0, zeroPoint: 0 } as const;
  const add = () => model.addOperand(tensor);
  const [left, right, output, negated] = [add(), add(), add(), add()];
  const activation = model.addOperand({ ...tensor, type: "INT32", dimensions: [] });
  model.setOperandValue(activation, new Uint8Array(4));
  model.addOperation("MUL", [left, right, activation], [output]);
  model.addOperation("NEG", [left], [negated]);
  model.identifyInputsAndOutputs([left, right], [output, negated]);
  model.finish();
  return model.hal;
}

const bytes = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

it("runs a model on devices as often as asked, with zeros for inputs that are not given", async () => {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const run = await modelRunner(product(), [device]);
  expect(await run([bytes(1, 2), bytes(3, 4)])).toEqual([bytes(3, 8), bytes(-1, -2)]);
  expect(await run([bytes(5, 6)])).toEqual([bytes(0, 0), bytes(-5, -6)]);
});
