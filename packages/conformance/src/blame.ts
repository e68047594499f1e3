/** The operation at fault in a model whose results are wrong, by the comparison of @nnhal/diff. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DiffOptions, diffModel, reportDiff, type Way } from "@nnhal/diff";
import { Burst, type Compilation } from "@nnhal/runtime";
import type { Device, Model } from "@nnhal/types";
import { attempt } from "./attempt.ts";
import type { ExecutionPath } from "./vectors/path.ts";

/** Options of blameOperation. */
export interface BlameOptions {
  readonly device: Device;
  readonly reference: Device;
  /** The inputs of the model, in order, as they gave wrong results. */
  readonly inputs: DiffOptions["inputs"][number];
  /** The path in which they did. Default: any. */
  readonly path?: ExecutionPath | undefined;
  /** Milliseconds after which the search is given up. */
  readonly timeLimit: number;
}

/**
 * Returns a sentence that names the first operation that a device computes wrong; undefined if each is right by itself, or if that was not
 * found in time. Does not reject.
 */
export async function blameOperation(
  model: Model,
  { device, reference, inputs, path, timeLimit }: BlameOptions,
): Promise<string | undefined> {
  const cache = path === "cached" ? mkdtempSync(join(tmpdir(), "nnhal-conformance-")) : undefined;
  const way: Way | undefined =
    path === "burst" ? { burstOf: createBurst } : cache === undefined ? undefined : { cache };
  const suspect = { devices: [device], ...(way && { way }) };
  const found = await attempt(timeLimit, () =>
    diffModel(model, { judge: { devices: [reference] }, suspect, inputs: [inputs] }),
  );
  if (cache !== undefined) rmSync(cache, { recursive: true, force: true });
  if (!("value" in found)) return undefined;
  const { isRight, verdict } = reportDiff(found.value, {
    model: "",
    devices: [device.name],
    against: [reference.name],
    isMeasured: false,
    inputs: [],
    operators: [],
    operandNames: [],
    outputIndexes: model.main.outputIndexes,
  });
  return isRight ? undefined : verdict;
}

const createBurst = (compilation: Compilation) => Burst.create(compilation);
