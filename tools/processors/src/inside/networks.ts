/** Networks from files on a device, compared with the outputs in the same folder. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { modelRunner } from "@nnhal/conformance";
import { elementAt } from "@nnhal/operations";
import { importTflite } from "@nnhal/tflite";
import { type Device, ErrorStatus, OperandType } from "@nnhal/types";
import type { Tally } from "../result.ts";
import { differenceOf } from "./difference.ts";

/** Runs networks. One has failed if an element of an output is more than a step off; of float outputs more than 1e-4. */
export async function runNetworks(device: Device, paths: readonly string[]): Promise<Tally> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const problems: string[] = [];
  for (const path of paths) {
    const outcome = await runNetwork(device, path).catch(
      (error: unknown): Outcome => ({
        verdict: "failed",
        problem: error instanceof Error ? error.message : String(error),
      }),
    );
    counts[outcome.verdict]++;
    if (outcome.problem !== undefined) problems.push(`${basename(path)}: ${outcome.problem}`);
  }
  return { ...counts, problems };
}

interface Outcome {
  readonly verdict: "passed" | "failed" | "skipped";
  readonly problem?: string;
}

async function runNetwork(device: Device, path: string): Promise<Outcome> {
  const { model } = importTflite(new Uint8Array(readFileSync(path)));
  const { status, supported } = await device.getSupportedOperations(model);
  if (status !== ErrorStatus.NONE || supported.includes(false)) {
    return { verdict: "skipped", problem: "the device does not support all of it" };
  }
  const run = await modelRunner(model, [device]);
  const outputs = await run(tensorsOf(path, "in"));
  const wrong = tensorsOf(path, "out").flatMap((expected, place) => {
    const { type } = elementAt(model.main.operands, elementAt(model.main.outputIndexes, place));
    return problemOf(type, elementAt(outputs, place), expected) ?? [];
  });
  return wrong.length === 0 ? { verdict: "passed" } : { verdict: "failed", problem: wrong.join("; ") };
}

/** The files `NAME.tflite.in0.bin` and so on, or those of outputs. */
function tensorsOf(path: string, side: "in" | "out"): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let place = 0; existsSync(`${path}.${side}${place}.bin`); place++) {
    found.push(new Uint8Array(readFileSync(`${path}.${side}${place}.bin`)));
  }
  return found;
}

function problemOf(type: number, actual: Uint8Array, expected: Uint8Array): string | undefined {
  if (type !== OperandType.TENSOR_FLOAT32) {
    return differenceOf(actual, expected, type === OperandType.TENSOR_QUANT8_ASYMM_SIGNED);
  }
  if (actual.length !== expected.length) return `expected ${expected.length} bytes, got ${actual.length}`;
  const [ours, theirs] = [actual, expected].map((bytes) => new Float32Array(bytes.slice().buffer));
  // Written so that NaN is wrong.
  const wrong =
    ours?.filter((value, place) => !(Math.abs(value - (theirs?.[place] ?? Number.NaN)) <= 1e-4)).length ?? 0;
  return wrong === 0 ? undefined : `${wrong} of ${expected.length / 4} elements are off by more than 1e-4`;
}
