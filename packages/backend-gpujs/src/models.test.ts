/**
 * Trained models from elsewhere, with the outputs that another engine computed. The models are not part of this repository:
 * NNHAL_MODELS names their folder. What gpu.js has no kernels for is given to the reference.
 */
import { readFileSync } from "node:fs";
import { referenceBackend } from "@nnhal/backend-reference";
import { findTrainedExamples, modelRunner, trainedOutputProblem } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { modelsFolder as folder } from "@nnhal/test-kit/folders";
import { importTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";

const examples = findTrainedExamples(folder);
const fileOf = ({ path }: { readonly path: string }) => new Uint8Array(readFileSync(path));

async function reference() {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

describe.each(["webasm", "cpu"] as const)("trained models in mode %s", (mode) => {
  it("are available", ({ skip }) => {
    skip(examples.length === 0, `there are no models at ${folder}; set NNHAL_MODELS to their folder`);
    expect(examples.length).toBeGreaterThanOrEqual(9);
  });

  // The larger quantised network takes seconds, and is the same kernels again.
  const chosen = examples.filter(({ model }) => !model.startsWith("mobilenet_v2"));

  it.each(chosen.map((example) => [`${example.model} on ${example.input}`, example] as const))(
    "%s",
    async (_, example) => {
      const run = await modelRunner(importTflite(fileOf(example)).model, [await deviceOn(mode), await reference()]);
      const actual = await run(example.inputs.map(fileOf));
      const problems = example.outputs.map((output, place) => trainedOutputProblem(output, actual[place]));
      expect(problems).toEqual(example.outputs.map(() => undefined));
    },
  );
});
