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
import { inputsWithStates, type KeptState } from "./states.ts";
import { diffTogether, type TogetherDiff } from "./together.ts";
import { createValues } from "./values.ts";
import { openWhole } from "./whole.ts";

/** Parts of a comparison. */
export interface DiffOptions {
  readonly judge: Judge;
  readonly suspect: Suspect;
  /** For each run, the values of the model's inputs, in order. At least one run. */
  readonly inputs: readonly (readonly TensorValue[])[];
  /**
   * States of the network: results that are inputs of the next run, by their places. The runs are one after the other then, and their
   * inputs are replaced from the second on: the judge's by what the judge left, and those of the network on the device by its own. Only with
   * a judge that computes. Default: each run has its own inputs.
   */
  readonly states?: readonly KeptState[] | undefined;
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
  const judged =
    options.states === undefined ? inputs : await inputsWithStates(context, options.inputs, options.states);
  const network = await openWhole(context);
  try {
    // The states of the device are known only when all of it has run.
    const early = options.states && (await network.run(judged, options.states));
    const values = createValues(model, judged, early?.inputs);
    const total = model.main.operations.length;
    const operations: OperationDiff[] = [];
    for (let index = 0; index < total; index++) {
      signal?.throwIfAborted();
      onProgress?.(index, total);
      operations.push(await diffOperation(context, index, values, network.devices, onOperation));
      values.forget(index);
    }
    const whole = early ?? (await network.run(judged, undefined));
    const ends = await diffTogether(context, { operations, values, whole, inputs: judged, signal });
    onProgress?.(total, total);
    return { operations, runs: inputs.length, ...ends };
  } finally {
    network.close();
  }
}
