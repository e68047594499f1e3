/**
 * Planted faults in whole networks: the comparison of @nnhal/diff names the operation. With NNHAL_FAULTS=all each fault is put into each
 * network that has the operation, else into a small one.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { type DiffOptions, diffModel, judgeDiff } from "@nnhal/diff";
import { openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { loadOperations } from "@nnhal/operations";
import { corpusFolder, modelsFolder } from "@nnhal/test-kit/folders";
import { everyFault } from "@nnhal/test-kit/samples";
import { type ImportedModel, importTflite, readTflite } from "@nnhal/tflite";
import type { Device } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { noiseFor } from "../networks/run.ts";
import type { KernelFault } from "./kernel-fault.test-helper.ts";
import { kernelFaults } from "./kernel-faults.test-helper.ts";

const extensions = [tfliteExtension];

async function deviceWith(plant?: ReturnType<KernelFault["plant"]>): Promise<Device> {
  const device = await openDevice({
    backend: createReferenceBackend({ extensions, ...(plant && { definitionFor: plant }) }),
  });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const small = ["trained_lstm.tflite"];
const large = [
  "person_detect.tflite",
  "mobilenet_v1_0.25_128_quant.tflite",
  "mobilenet_v1_0.25_128_quant.float.tflite",
  "mobilenet_v2_1.0_224_quant.tflite",
];
const files = [
  ...[...small, ...(everyFault ? large : [])].map((name) => join(modelsFolder, name)),
  ...(everyFault && existsSync(corpusFolder) ? findFiles(corpusFolder, /deeplab.*\.tflite$/i) : []),
].filter((file) => existsSync(file));

function findFiles(folder: string, name: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => name.test(file))
    .map((file) => join(folder, file));
}

/** Two runs on noise, from the first values of what the network keeps. */
function inputsOf(imported: ImportedModel): DiffOptions["inputs"] {
  return [1, 2].map((seed) => noiseFor(imported, seed));
}

describe.skipIf(files.length === 0)("a fault of one operation in a network", { timeout: 3_600_000 }, () => {
  it.each(files)("is named in %s", async (file) => {
    await loadOperations();
    const imported = importTflite(readTflite(readFileSync(file)));
    const judge = { devices: [await deviceWith()] };
    const used = new Set((await compare(await deviceWith())).operations.map(({ operation }) => operation));
    const planted = kernelFaults.filter(({ operation }) => used.has(operation));
    let named = 0;
    const wrong: string[] = [];
    for (const fault of planted) {
      const found = await compare(await deviceWith(fault.plant()));
      const { first, isRight, oneSided } = judgeDiff(found);
      // Many faults show only with other types, or at limits that no element of the network reaches.
      if (found.operations.every(({ outputs }) => outputs.every(({ alone }) => !alone?.differing))) continue;
      // Results that are rounded in one direction are within a step, and are named for that.
      const names = [first, ...oneSided].map((each) => each?.operation);
      if (names.includes(fault.operation)) named++;
      else wrong.push(`${fault.operation}: ${fault.what}: ${isRight ? "nothing is wrong" : first?.operation}`);
    }
    // A fault that moves a few elements of a small tensor by one step cannot be told from another rounding.
    expect({ wrong, isNamed: named >= 0.95 * (named + wrong.length) && named > 0 }).toMatchObject({ isNamed: true });
    if (!everyFault) expect(wrong).toEqual([]);

    function compare(suspect: Device) {
      return diffModel(imported.model, {
        judge,
        suspect: { devices: [suspect] },
        inputs: inputsOf(imported),
        extensions,
      });
    }
  });
});
