/**
 * Trained models from elsewhere, with the outputs that another engine computed. The models are not part of this
 * repository: NNHAL_MODELS names their folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { decodePicture } from "./picture/decode.ts";
import { pictureToTensor } from "./picture/to-tensor.ts";
import { runCommandLine, useFolder } from "./program.test-helper.ts";

const folder = process.env.NNHAL_MODELS ?? fileURLToPath(new URL("../../../../shared/models", import.meta.url));
const absent = `there are no models at ${folder}; set NNHAL_MODELS to their folder`;

interface TensorEntry {
  readonly type: "UINT8" | "INT8" | "FLOAT32";
  readonly shape: readonly number[];
  readonly file: string;
}
interface Entry {
  readonly model: string;
  /** `cat` or a name of noise. */
  readonly input: string;
  readonly inputs: readonly TensorEntry[];
  readonly outputs: readonly TensorEntry[];
}

const entries: readonly Entry[] = existsSync(folder)
  ? JSON.parse(readFileSync(join(folder, "reference/manifest.json"), "utf8")).entries
  : [];

function elements({ type }: TensorEntry, bytes: Uint8Array): Float32Array | Uint8Array | Int8Array {
  const { buffer } = bytes.slice();
  if (type === "FLOAT32") return new Float32Array(buffer);
  return type === "INT8" ? new Int8Array(buffer) : new Uint8Array(buffer);
}

/** The greatest difference between elements, and where the greatest element of each is. */
function compare(tensor: TensorEntry, actual: Uint8Array, expected: Uint8Array) {
  expect(actual.length).toBe(expected.length);
  const [ours, theirs] = [elements(tensor, actual), elements(tensor, expected)];
  const difference = Array.from(ours).reduce(
    (most, value, index) => Math.max(most, Math.abs(value - theirs[index])),
    0,
  );
  return { difference, top: indexOfMost(ours), expectedTop: indexOfMost(theirs) };
}

function indexOfMost(values: ArrayLike<number>): number {
  return Array.from(values).reduce((best, value, index, all) => (value > all[best] ? index : best), 0);
}

const reference = (file: string) => new Uint8Array(readFileSync(join(folder, "reference", file)));
const { path, get } = useFolder();

/** Runs an entry through the command line and compares every output. */
async function check(entry: Entry, inputs: readonly string[]): Promise<void> {
  const args = inputs.flatMap((file) => ["--input", file]);
  const model = join(folder, `${entry.model}.tflite`);
  const { stderr, exitCode } = await runCommandLine(["run", model, ...args, "--output-dir", path("out"), "--json"], {});
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  for (const [place, output] of entry.outputs.entries()) {
    const { difference, top, expectedTop } = compare(
      output,
      await get(`out/output${place}.bin`),
      reference(output.file),
    );
    if (output.type === "FLOAT32") expect(difference).toBeLessThanOrEqual(1e-4);
    else {
      expect(difference).toBeLessThanOrEqual(3);
      expect(top).toBe(expectedTop);
    }
  }
}

describe("trained models", { timeout: 120_000 }, () => {
  it("are there", ({ skip }) => {
    skip(entries.length === 0, absent);
    expect(entries.length).toBeGreaterThanOrEqual(9);
  });

  it.each(entries.map((entry) => [`${entry.model} on ${entry.input}`, entry] as const))("%s", async (_, entry) => {
    await check(
      entry,
      entry.inputs.map(({ file }) => join(folder, "reference", file)),
    );
  });

  const cats = entries.filter(({ input }) => input === "cat");

  it.each(cats.map((entry) => [entry.model, entry] as const))("%s on the picture itself", async (_, entry) => {
    await check(entry, [join(folder, "cat.bmp")]);
  });

  it.each(cats.map((entry) => [entry.model, entry.inputs[0]] as const))(
    "the picture as %s wants it",
    async (_, input) => {
      const picture = decodePicture(new Uint8Array(readFileSync(join(folder, "cat.bmp"))));
      const types = {
        FLOAT32: "TENSOR_FLOAT32",
        UINT8: "TENSOR_QUANT8_ASYMM",
        INT8: "TENSOR_QUANT8_ASYMM_SIGNED",
      } as const;
      const tensor = { type: types[input.type], shape: input.shape, scale: 0, zeroPoint: 0 };
      expect(compare(input, pictureToTensor(picture, tensor), reference(input.file)).difference).toBe(0);
    },
  );

  it("sees an Egyptian cat", async ({ skip }) => {
    skip(entries.length === 0, absent);
    const files = ["mobilenet_v2_1.0_224_quant.tflite", "cat.bmp", "imagenet_labels.txt"];
    const [model, picture, labels] = files.map((file) => join(folder, file));
    const { stdout } = await runCommandLine(["run", model, "--input", picture, "--labels", labels, "--json"], {});
    expect(JSON.parse(stdout).top[0]).toMatchObject({ index: 286, label: "Egyptian cat" });
  });
});
