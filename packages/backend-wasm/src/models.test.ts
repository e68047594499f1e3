/**
 * Trained models from elsewhere, with the outputs that another engine computed. The models are not part of this repository:
 * NNHAL_MODELS names their folder.
 */
import { readFileSync } from "node:fs";
import { findTrainedExamples, modelRunner, trainedOutputProblem } from "@nnhal/conformance";
import { elementAt } from "@nnhal/operations";
import { modelsFolder as folder } from "@nnhal/test-kit/folders";
import { importTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

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
      const run = await modelRunner(importTflite(fileOf(example)).model, [await deviceOf()]);
      const actual = await run(example.inputs.map(fileOf));
      const problems = example.outputs.map((output, place) => trainedOutputProblem(output, elementAt(actual, place)));
      expect(problems).toEqual(example.outputs.map(() => undefined));
    },
  );
});
