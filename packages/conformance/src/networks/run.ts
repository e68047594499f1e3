/**
 * The suite networks: whole networks of a folder, each operation on its own and as the network runs, held against the reference. The reason
 * of a failed network names the operation at fault.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DiffOptions, diffModel, judgeDiff, reportDiff } from "@nnhal/diff";
import { randomTensor } from "@nnhal/diff/noise";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { type ExtensionDefinition, loadOperations } from "@nnhal/operations";
import { createStates, type ImportedModel, importTflite, TfliteError } from "@nnhal/tflite";
import { canonicalHalVersion, type Device } from "@nnhal/types";
import { describeError } from "../attempt.ts";
import type { OnProgress } from "../isolated.ts";
import type { CaseResult } from "../result.ts";

/** Options of runNetworks. */
export interface NetworksOptions {
  /** The folder: its .tflite files are searched for in its folders, too. */
  readonly folder: string;
  /** Judges. It must take what the networks need of extensions. */
  readonly reference: Device;
  /** Extensions besides nnhal.tflite. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /** Runs on noise, from the seeds 1 and up. Default: 2. */
  readonly runs?: number | undefined;
  /** Selects networks whose names contain this text, in any case. Others are not counted. Default: all. */
  readonly filter?: string | undefined;
  /** Called with the number of networks that are done, of so many, and the name of the next. */
  readonly onProgress?: OnProgress | undefined;
}

/** The names of the networks in a folder, in order. Throws an Error if it cannot be read. */
export function listNetworks(folder: string, filter = ""): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(tflite|lite)$/i.test(file) && file.toLowerCase().includes(filter.toLowerCase()))
    .sort();
}

/** Yields a case for each network. Throws an Error if the folder cannot be read. */
export async function* runNetworks(device: Device, options: NetworksOptions): AsyncGenerator<CaseResult> {
  const { folder, filter, onProgress } = options;
  await loadOperations();
  for (const [index, file] of listNetworks(folder, filter).entries()) {
    const name = `networks/${file}`;
    onProgress?.(index, file);
    yield { name, subject: "network", ...(await runNetwork(device, join(folder, file), options)) };
  }
}

type Outcome = Pick<CaseResult, "verdict" | "reason">;

async function runNetwork(device: Device, path: string, options: NetworksOptions): Promise<Outcome> {
  const { reference, runs = 2 } = options;
  const extensions = [tfliteExtension, ...(options.extensions ?? [])];
  let imported: ImportedModel;
  try {
    imported = importTflite(readFileSync(path), {
      customOperators: options.extensions ?? [],
      halVersion: device.halVersion ?? canonicalHalVersion,
    });
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    return { verdict: "unsupported", reason: error.message };
  }
  const inputs = Array.from({ length: runs }, (_, run) => noiseFor(imported, run + 1));
  try {
    const suspect = { devices: [device] };
    const found = await diffModel(imported.model, { judge: { devices: [reference] }, suspect, inputs, extensions });
    const { isRight } = judgeDiff(found);
    const isCompared = found.operations.some(({ verdict }) => verdict === "right" || verdict === "wrong");
    if (isRight && isCompared) return { verdict: "passed" };
    const refused = found.operations.find(({ verdict }) => verdict === "refused");
    if (isRight) return { verdict: "unsupported", reason: refused?.failure ?? "no operation of it has a result" };
    const { verdict: reason } = reportDiff(found, {
      model: path,
      devices: [device.name],
      against: [reference.name],
      isMeasured: false,
      inputs: [],
      operators: imported.operators,
      operandNames: imported.operandNames,
      outputIndexes: imported.model.main.outputIndexes,
    });
    return { verdict: "failed", reason };
  } catch (error) {
    // The comparison has the faults of the device, so this is one of the judge.
    return { verdict: "skipped", reason: `the reference cannot judge it: ${describeError(error)}` };
  }
}

/** Noise for the inputs; what the network keeps has its first values. Extents that are open are 1. */
export function noiseFor(imported: ImportedModel, seed: number): DiffOptions["inputs"][number] {
  const values = imported.inputs.map(({ type, shape }, place) => {
    const dimensions = shape.map((extent) => Math.max(1, extent));
    return { bytes: randomTensor({ type, shape: dimensions }, seed, place), dimensions };
  });
  for (const { index, bytes, dimensions } of createStates(imported).inputs(imported))
    values[index] = { bytes: Uint8Array.from(bytes), dimensions: [...dimensions] };
  return values;
}
