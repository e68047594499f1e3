/**
 * Trained models from elsewhere, with the outputs that another engine computed. The models are not part of this repository:
 * NNHAL_MODELS names their folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { deviceOn, tfliteRunner } from "./_devices.test-helper.ts";

const folder = process.env.NNHAL_MODELS ?? fileURLToPath(new URL("../../../../shared/models", import.meta.url));
const absent = `there are no models at ${folder}; set NNHAL_MODELS to their folder`;

interface TensorEntry {
  readonly type: "UINT8" | "INT8" | "FLOAT32";
  readonly file: string;
}
interface Entry {
  readonly model: string;
  readonly input: string;
  readonly inputs: readonly TensorEntry[];
  readonly outputs: readonly TensorEntry[];
}

const entries: readonly Entry[] = existsSync(folder)
  ? JSON.parse(readFileSync(join(folder, "reference/manifest.json"), "utf8")).entries
  : [];

function elements({ type }: TensorEntry, bytes: Uint8Array): number[] {
  const { buffer } = bytes.slice();
  if (type === "FLOAT32") return Array.from(new Float32Array(buffer));
  return Array.from(type === "INT8" ? new Int8Array(buffer) : new Uint8Array(buffer));
}

const fileOf = (name: string) => new Uint8Array(readFileSync(join(folder, name)));

describe.each(["wasm", "cpu"] as const)("trained models on %s", (engine) => {
  it("are there", ({ skip }) => {
    skip(entries.length === 0, absent);
    expect(entries.length).toBeGreaterThanOrEqual(9);
  });

  // Plain JavaScript takes seconds for the larger quantised network, and one engine is enough to show that it is right.
  const chosen = entries.filter(({ model }) => engine === "wasm" || !model.startsWith("mobilenet_v2"));

  it.each(chosen.map((entry) => [`${entry.model} on ${entry.input}`, entry] as const))("%s", async (_, entry) => {
    const expected = entry.outputs.map(({ file }) => fileOf(`reference/${file}`));
    const run = await tfliteRunner(fileOf(`${entry.model}.tflite`), await deviceOn(engine));
    const actual = await run(entry.inputs.map(({ file }) => fileOf(`reference/${file}`)));
    for (const [place, output] of entry.outputs.entries()) {
      const [ours, theirs] = [elements(output, actual[place]), elements(output, expected[place])];
      const difference = Math.max(...ours.map((value, index) => Math.abs(value - theirs[index])));
      expect(difference).toBeLessThanOrEqual(output.type === "FLOAT32" ? 1e-4 : 3);
      if (output.type !== "FLOAT32") {
        const top = ours.indexOf(Math.max(...ours));
        expect(theirs[top]).toBe(Math.max(...theirs));
      }
    }
  });
});
