/**
 * Trained models from elsewhere, with the outputs that another engine computed. The models are not part of this repository:
 * NNHAL_MODELS names their folder.
 */
import { readFileSync } from "node:fs";
import { referenceBackend } from "@nnhal/backend-reference";
import { findTrainedExamples, modelRunner, trainedOutputProblem } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { modelsFolder as folder } from "@nnhal/test-kit/folders";
import { importTflite } from "@nnhal/tflite";
import type { Device } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

/** It lacks operations of these, which the reference then computes. */
const divided = ["trained_lstm"];

async function devicesFor(model: string): Promise<Device[]> {
  const device = await deviceOf();
  if (!divided.includes(model)) return [device];
  const reference = await openDevice({ backend: referenceBackend });
  return "unavailable" in reference ? [device] : [device, reference];
}

const examples = findTrainedExamples(folder);
const fileOf = ({ path }: { readonly path: string }) => new Uint8Array(readFileSync(path));

describe("trained models", () => {
  it("are available", ({ skip }) => {
    skip(examples.length === 0, `there are no models at ${folder}; set NNHAL_MODELS to their folder`);
    expect(examples.length).toBeGreaterThanOrEqual(9);
  });

  it.each(examples.map((example) => [`${example.model} on ${example.input}`, example] as const))(
    "%s",
    async (_, example) => {
      const run = await modelRunner(importTflite(fileOf(example)).model, await devicesFor(example.model));
      const actual = await run(example.inputs.map(fileOf));
      const problems = example.outputs.map((output, place) => trainedOutputProblem(output, elementAt(actual, place)));
      expect(problems).toEqual(example.outputs.map(() => undefined));
    },
  );
});
