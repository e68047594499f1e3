/** RSQRT of 8 bits, against the reference. */
import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { Model } from "@nnhal/runtime";
import type { Device } from "@nnhal/types";
import { expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

it.each([
  ["TENSOR_QUANT8_ASYMM", 10],
  ["TENSOR_QUANT8_ASYMM_SIGNED", -100],
] as const)(
  "of %s has the greatest element for 0 and less, and no element is off by more than a step",
  async (type, zeroPoint) => {
    const model = new Model();
    const input = model.addOperand({ type, dimensions: [256], scale: 0.1, zeroPoint });
    const output = model.addOperand({ type, dimensions: [256], scale: 0.02, zeroPoint: 1 });
    model.addOperation("RSQRT", [input], [output]);
    model.identifyInputsAndOutputs([input], [output]);
    model.finish();
    const every = Uint8Array.from({ length: 256 }, (_, index) => index);
    const reference = await openDevice({ backend: referenceBackend });
    if ("unavailable" in reference) throw new Error(reference.unavailable);
    const run = async (device: Device) => {
      const [values = new Uint8Array(0)] = await (await modelRunner(model.hal, [device]))([every]);
      return values;
    };
    const [ours, theirs] = [await run(await deviceOf()), await run(reference)];
    const greatest = type === "TENSOR_QUANT8_ASYMM" ? 255 : 127;
    expect(theirs.filter((value) => value === greatest).length).toBeGreaterThan(10);
    expect(
      Math.max(...theirs.map((value, index) => Math.abs(value - (ours[index] ?? Number.POSITIVE_INFINITY)))),
    ).toBeLessThanOrEqual(1);
  },
);
