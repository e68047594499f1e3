import type { Backend } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { allowEveryApplication, Compilation, Execution, Model, registerDevices } from "@nnhal/runtime";
import { describe, expect, it } from "vitest";
import { backend, extension, TENSOR_FIXED16 } from "./index.ts";

/** The result of TO_FIXED16 on a device. */
async function run(backend: Backend, values: Float32Array, fractionBits: number): Promise<Int16Array> {
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const { extensions } = registerDevices([device], { allowList: allowEveryApplication });
  const model = new Model({ extensions });
  const x = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [values.length] });
  const y = model.addOperand({ type: TENSOR_FIXED16, dimensions: [values.length] });
  model.setOperandExtensionData(y, TENSOR_FIXED16, { fractionBits });
  model.addOperation(model.getExtensionOperationType(extension, "TO_FIXED16"), [x], [y]);
  model.identifyInputsAndOutputs([x], [y]);
  model.finish();
  const compilation = new Compilation(model, [device]);
  await compilation.finish();
  const execution = new Execution(compilation);
  const output = new Int16Array(values.length);
  execution.setInput(0, values);
  execution.setOutput(0, output);
  await execution.compute();
  return output;
}

describe.each([
  ["the backend", backend],
  ["the reference with the extension", createReferenceBackend({ extensions: [extension] })],
])("%s", (_, backend) => {
  it("converts to the nearest fixed-point numbers, within 16 bits", async () => {
    const values = Float32Array.of(0, 1.5, -0.25, 1000, -1000);
    expect(await run(backend, values, 8)).toEqual(Int16Array.of(0, 384, -64, 32_767, -32_768));
  });

  it("refuses extension data that breaks a rule", async () => {
    await expect(run(backend, Float32Array.of(1), 16)).rejects.toThrow("fractionBits: expected 0 to 15, got 16");
  });
});
