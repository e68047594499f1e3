/**
 * Trained models from elsewhere, with the outputs that another engine computed. The models are not part of this repository:
 * NNHAL_MODELS names their folder. What gpu.js has no kernels for is given to the reference.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
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

async function reference() {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

describe.each(["webasm", "cpu"] as const)("trained models in mode %s", (mode) => {
  it("are there", ({ skip }) => {
    skip(entries.length === 0, absent);
    expect(entries.length).toBeGreaterThanOrEqual(9);
  });

  // The larger quantised network takes seconds, and is the same kernels again; so are other inputs in another mode.
  const isChosen = ({ model, input }: Entry) =>
    !model.startsWith("mobilenet_v2") && (mode === "webasm" || input === "cat");
  const chosen = entries.filter(isChosen);

  it.each(chosen.map((entry) => [`${entry.model} on ${entry.input}`, entry] as const))("%s", async (_, entry) => {
    const expected = entry.outputs.map(({ file }) => fileOf(`reference/${file}`));
    const devices = [await deviceOn(mode), await reference()];
    const run = await tfliteRunner(fileOf(`${entry.model}.tflite`), devices);
    const actual = await run(entry.inputs.map(({ file }) => fileOf(`reference/${file}`)));
    for (const [place, output] of entry.outputs.entries()) {
      const [ours, theirs] = [elements(output, actual[place]), elements(output, expected[place])];
      const difference = Math.max(...ours.map((value, index) => Math.abs(value - theirs[index])));
      expect(difference).toBeLessThanOrEqual(output.type === "FLOAT32" ? 1e-4 : 3);
    }
  });
});
