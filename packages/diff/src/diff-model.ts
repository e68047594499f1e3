/**
 * Goes through a network operation by operation: the judge computes each, and so does the device, once on the judge's values and once on
 * its own. Values are kept only as long as an operation reads them.
 */
import type { ExtensionDefinition } from "@nnhal/operations";
import type { Model } from "@nnhal/types";
import { type Allowance, defaultAllowance } from "./allowance.ts";
import { createContext, type Judge, type Suspect } from "./context.ts";
import { diffOperation, type OnOperation, type OperationDiff } from "./diff-operation.ts";
import type { Difference } from "./difference.ts";
import type { TensorValue } from "./prepared-part.ts";
import { diffTogether, runWhole, type TogetherDiff } from "./together.ts";
import { createValues } from "./values.ts";

/** Parts of a comparison. */
export interface DiffOptions {
  readonly judge: Judge;
  readonly suspect: Suspect;
  /** For each run, the values of the model's inputs, in order. At least one run. */
  readonly inputs: readonly (readonly TensorValue[])[];
  /** The extensions that the model uses. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /** Default: `defaultAllowance`; names that are left out have their defaults. */
  readonly allowance?: Partial<Allowance> | undefined;
  /** Called before each operation, and with the count at the end. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Receives each operation that was compared, with its values, before the next one. */
  readonly onOperation?: OnOperation | undefined;
  /** When it aborts, the comparison rejects with its reason before the next operation. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of a comparison. */
export interface ModelDiff {
  readonly operations: readonly OperationDiff[];
  /** Outputs of the whole network as it runs on the device, in the order of the model. Empty if it failed, or if no device takes some operations. */
  readonly whole: readonly Difference[];
  /** Why the whole network did not run. */
  readonly wholeFailure?: string;
  /**
   * Set if the whole network is wrong and its operations one by one are not: the shortest part from the beginning that is wrong when it
   * runs as one.
   */
  readonly together?: TogetherDiff;
  /** Runs of the model. */
  readonly runs: number;
}

/** Compares. Rejects with a NeuralNetworksError if the judge fails, and with the signal's reason. */
export async function diffModel(model: Model, options: DiffOptions): Promise<ModelDiff> {
  const { judge, suspect, inputs, extensions = [], onProgress, onOperation, signal } = options;
  if (inputs.length === 0) throw new RangeError("inputs: expected the values of at least one run, got none");
  const allowance = { ...defaultAllowance, ...options.allowance };
  const context = await createContext(model, { judge, suspect, extensions, allowance });
  const whole = await runWhole(context, inputs);
  try {
    const values = createValues(model, inputs);
    const total = model.main.operations.length;
    const operations: OperationDiff[] = [];
    for (let index = 0; index < total; index++) {
      signal?.throwIfAborted();
      onProgress?.(index, total);
      operations.push(await diffOperation(context, index, values, whole.devices, onOperation));
      values.forget(index);
    }
    const ends = await diffTogether(context, { operations, values, whole, inputs, signal });
    onProgress?.(total, total);
    return { operations, runs: inputs.length, ...ends };
  } finally {
    whole.close();
  }
}
