/**
 * Trained models from elsewhere, with the outputs that another engine computed. The models are not part of this
 * repository: NNHAL_MODELS names their folder.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findTrainedExamples, type TrainedExample, trainedOutputProblem } from "@nnhal/conformance";
import { decodePicture, pictureToTensor } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import { modelsFolder as folder } from "@nnhal/test-kit/folders";
import { describe, expect, it } from "vitest";
import { runCommandLine, useFolder } from "./program.test-helper.ts";

const absent = `there are no models at ${folder}; set NNHAL_MODELS to their folder`;

const examples = findTrainedExamples(folder);
const { path, get } = useFolder();

/** Runs an example through the command line and checks every output. */
async function check(example: TrainedExample, inputs: readonly string[]): Promise<void> {
  const args = inputs.flatMap((file) => ["--input", file]);
  const run = ["run", example.path, ...args, "--output-dir", path("out"), "--json"];
  const { stderr, exitCode } = await runCommandLine(run, {});
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  for (const [place, output] of example.outputs.entries()) {
    expect(trainedOutputProblem(output, await get(`out/output${place}.bin`))).toBeUndefined();
  }
}

describe("trained models", { timeout: 120_000 }, () => {
  it("are there", ({ skip }) => {
    skip(examples.length === 0, absent);
    expect(examples.length).toBeGreaterThanOrEqual(9);
  });

  it.each(examples.map((example) => [`${example.model} on ${example.input}`, example] as const))(
    "%s",
    async (_, example) => {
      await check(
        example,
        example.inputs.map((input) => input.path),
      );
    },
  );

  const cats = examples.filter(({ input }) => input === "cat");

  it.each(cats.map((example) => [example.model, example] as const))("%s on the picture itself", async (_, example) => {
    await check(example, [join(folder, "cat.bmp")]);
  });

  it.each(cats.map(({ model, inputs }) => [model, elementAt(inputs, 0)] as const))(
    "the picture as %s wants it",
    async (_, input) => {
      const picture = await decodePicture(new Uint8Array(readFileSync(join(folder, "cat.bmp"))));
      const types = {
        FLOAT32: "TENSOR_FLOAT32",
        UINT8: "TENSOR_QUANT8_ASYMM",
        INT8: "TENSOR_QUANT8_ASYMM_SIGNED",
      } as const;
      const tensor = { type: types[input.type], shape: input.shape, scale: 0, zeroPoint: 0 };
      expect(Buffer.compare(pictureToTensor(picture, tensor), readFileSync(input.path))).toBe(0);
    },
  );

  it("sees an Egyptian cat", async ({ skip }) => {
    skip(examples.length === 0, absent);
    const model = join(folder, "mobilenet_v2_1.0_224_quant.tflite");
    const [picture, labels] = [join(folder, "cat.bmp"), join(folder, "imagenet_labels.txt")];
    // The model has the labels packed, too.
    for (const args of [["--labels", labels], []]) {
      const { stdout } = await runCommandLine(["run", model, "--input", picture, ...args, "--json"], {});
      expect(JSON.parse(stdout).top[0]).toMatchObject({ index: 286, label: "Egyptian cat" });
    }
  });
});
