/**
 * Models on which nnhal once failed, with TensorFlow Lite's outputs, on each engine with the reference behind it. They are not part of
 * this repository: NNHAL_FOUND_FAULTS names their folder, in which each fault has a folder.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ElementArray, load } from "@nnhal/network";
import { elementAt } from "@nnhal/operations";
import { foundFaultsFolder } from "@nnhal/test-kit/folders";
import { describe, expect, it } from "vitest";
import { createDeviceFinder } from "./devices.ts";
import { knownEngines } from "./engines.ts";

/** The faults whose models run, and how many models with inputs each has. */
const faults = {
  "gpujs-few-rows-residual": 2,
  "no-stored-shape": 4,
  "ort-avx2-saturation": 4,
  "rank-output": 1,
  "small-refusals": 4,
  "stablehlo-composite": 3,
  "strided-slice-shrink": 8,
  "transpose-conv-valid-output": 3,
  "zero-size-input": 1,
} as const;

/** A file whose output is not the one that TensorFlow Lite defines: the number of dimensions of [2, 3, 4] is 3, not 12. */
const wrong = "rank-output/s-rank-FLOAT32.tflite";

const finder = createDeviceFinder(knownEngines);
const isThere = existsSync(foundFaultsFolder);
const engines = ["reference", "ort", "tfjs", "gpujs"];

const models = Object.keys(faults).flatMap((fault) =>
  (isThere ? readdirSync(join(foundFaultsFolder, fault)) : [])
    .filter((file) => file.endsWith(".tflite"))
    .map((file) => `${fault}/${file}`)
    // Others are public files, whose inputs are in the corpus.
    .filter((file) => file !== wrong && existsSync(join(foundFaultsFolder, `${file}.in0.bin`))),
);

const bytesOf = (file: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(foundFaultsFolder, file)));

const arrays = { float32: Float32Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array };

function elementsOf(type: string, { buffer }: Uint8Array<ArrayBuffer>): ElementArray {
  const found = Object.entries(arrays).find(([name]) => name === type);
  if (found === undefined) throw new Error(`a test file has elements of ${type}`);
  return new found[1](buffer);
}

/** Elements that differ by more than a step, or in floats by more than 1e-4 of the largest magnitude. */
function differences(actual: ElementArray, expected: ElementArray): readonly string[] {
  const [numbers, wanted] = [Array.from(actual, Number), Array.from(expected, Number)];
  const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  const allowed = expected instanceof Float32Array ? 1e-4 * largest : 1;
  return wanted.flatMap((value, place) => {
    const difference = Math.abs(elementAt(numbers, place) - value);
    return difference <= allowed ? [] : [`${place}: ${numbers[place]}, expected ${value}`];
  });
}

describe("models that once failed", { timeout: 60_000 }, () => {
  it("are available", ({ skip }) => {
    skip(!isThere, `there are none at ${foundFaultsFolder}; set NNHAL_FOUND_FAULTS to their folder`);
    const counts = Object.keys(faults).map((fault) => models.filter((model) => model.startsWith(fault)).length);
    expect(counts).toEqual(Object.values(faults));
  });

  describe.each(engines)("on %s", (engine) => {
    it.each(models)("%s", async (file) => {
      const names = engine === "reference" ? [engine] : [engine, "reference"];
      const model = await load(bytesOf(file), { devices: await Promise.all(names.map(finder.open)) });
      const give = (type: string, place: number) => elementsOf(type, bytesOf(`${file}.in${place}.bin`));
      const inputs = Object.fromEntries(model.inputs.map(({ name, type }, place) => [name, give(type, place)]));
      const { outputs } = model;
      const results = Object.values(await model.run(inputs, { raw: true }));
      await model.close();
      expect(results.length).toBe(outputs.length);
      for (const [place, { type }] of outputs.entries()) {
        const { data } = elementAt(results, place);
        const expected = elementsOf(type, bytesOf(`${file}.out${place}.bin`));
        expect(data.length).toBe(expected.length);
        expect(differences(data, expected)).toEqual([]);
      }
    });
  });
});
