/**
 * Numbers of operations for Google's Model Explorer, which colours the nodes of a .tflite graph by them: "node data", one JSON file for each
 * kind of number. A node is found by the name of its output tensor.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DiffReport } from "@nnhal/diff";
import { elementAt } from "@nnhal/operations";
import { pathFrom, writeUserFile } from "./files.ts";
import type { LoadedModel } from "./model/load.ts";
import type { Profile } from "./profile.ts";

/** Node data of one graph, as Model Explorer reads them. */
export interface NodeData {
  /** By the name of an output tensor. */
  readonly results: Readonly<Record<string, { readonly value: number | string; readonly bgColor?: string }>>;
  /** Colours from the least value, 0, to the greatest, 1. */
  readonly gradient?: readonly { readonly stop: number; readonly bgColor: string }[];
}

/** From nothing to much. */
const gradient = [
  { stop: 0, bgColor: "#e8f5e9" },
  { stop: 0.5, bgColor: "#fff59d" },
  { stop: 1, bgColor: "#ef5350" },
];
/** An operation without a number that is wrong nevertheless. */
const wrongColor = "#b71c1c";

/** The files of a comparison, by name: noise that each operation adds, noise as the network runs, in percent of the signal, and devices. */
export function diffNodeData({ operations }: Pick<DiffReport, "operations">): Readonly<Record<string, NodeData>> {
  const noiseOf = (kind: "alone" | "accumulated"): NodeData => {
    const results: Record<string, { value: number | string; bgColor?: string }> = {};
    for (const { outputs, verdict } of operations) {
      for (const output of outputs) {
        const difference = output[kind];
        if (output.name === null || output.name === "") continue;
        if (difference === null) {
          if (verdict === "failed" || verdict === "gone")
            results[output.name] = { value: verdict, bgColor: wrongColor };
          continue;
        }
        const { signalToNoise, differing, unusual, otherShape } = difference;
        const isBroken = otherShape !== undefined || unusual > 0 || (signalToNoise === null && differing > 0);
        // The last operation of an operator of the file writes its tensor.
        results[output.name] = isBroken
          ? { value: 100, bgColor: wrongColor }
          : { value: signalToNoise === null ? 0 : round(100 * 10 ** (-signalToNoise / 20)) };
      }
    }
    return { results, gradient };
  };
  const devices = operations.flatMap(({ outputs, device }) =>
    outputs.flatMap(({ name }) => (name === null || name === "" || device === null ? [] : [[name, { value: device }]])),
  );
  return {
    "error-alone": noiseOf("alone"),
    "error-network": noiseOf("accumulated"),
    device: { results: Object.fromEntries(devices) },
  };
}

/** The files of a profile, by name: milliseconds of each operation, and devices. */
export function profileNodeData(
  { operations }: Profile,
  { model, operandNames }: Pick<LoadedModel, "model" | "operandNames">,
): Readonly<Record<string, NodeData>> {
  const times: Record<string, { value: number }> = {};
  const devices: Record<string, { value: string }> = {};
  for (const { index, ms, device } of operations) {
    for (const output of elementAt(model.main.operations, index).outputs) {
      const name = operandNames[output];
      if (name === undefined || name === "") continue;
      if (ms !== null) times[name] = { value: round(ms) };
      if (device !== null) devices[name] = { value: device };
    }
  }
  return { time: { results: times, gradient }, device: { results: devices } };
}

/** Six digits. */
function round(value: number): number {
  return Number(value.toPrecision(6));
}

/** Writes node data into a folder, which is made if it is not there. Returns the files, as the user named the folder. */
export async function writeNodeData(
  folder: string,
  data: Readonly<Record<string, NodeData>>,
  cwd: string,
): Promise<readonly string[]> {
  await mkdir(pathFrom(cwd, folder), { recursive: true });
  const files: string[] = [];
  for (const [name, content] of Object.entries(data)) {
    const file = join(folder, `${name}.json`);
    await writeUserFile(file, `${JSON.stringify(content)}\n`, cwd);
    files.push(file);
  }
  return files;
}
