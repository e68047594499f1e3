/**
 * Runs in which inputs have no elements. A request of the HAL cannot express such a value, so that the model is prepared for each of these
 * runs with the inputs as constants.
 */
import type { ExtensionDefinition } from "@nnhal/operations";
import type { Compilation } from "@nnhal/runtime";
import type { ImportedModel } from "@nnhal/tflite";
import { type Selection, type SelectionOptions, selectDevices } from "./devices.ts";
import type { Value } from "./session.ts";

/** A model and its compilation. */
export interface Prepared {
  readonly imported: ImportedModel;
  readonly compilation: Compilation;
}

/** What such runs need of a session. */
export interface EmptyRunOptions {
  readonly options: SelectionOptions;
  /** The model of the session. */
  readonly imported: ImportedModel;
  readonly selection: Selection;
  /** Whether the devices of `selection` have the extension for .tflite, which has constants without elements. */
  readonly hasExtension: boolean;
  readonly importWith: (emptyInputs: ReadonlyMap<number, readonly number[]>) => Promise<ImportedModel>;
  readonly prepare: (imported: ImportedModel, selection: Selection) => Promise<Compilation>;
}

/** Runs with inputs without elements. */
export interface EmptyRuns {
  /** Prepares the model for these values, computes with those that have elements, and lets the model go. */
  run<Result>(
    values: readonly Value[],
    compute: (prepared: Prepared, rest: readonly Value[]) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

/** Opens the devices for such runs: those of the session, with the extension. */
export async function openEmptyRuns({
  options,
  imported: { inputs },
  selection: own,
  hasExtension,
  importWith,
  prepare,
}: EmptyRunOptions): Promise<EmptyRuns> {
  const selection = hasExtension ? own : await selectDevices(options, await loadExtension());
  return {
    async run(values, compute) {
      const shapes = values.map(({ shape }, place) =>
        // The last extent of strings is the size of their rows.
        inputs[place]?.tensorType === "STRING" ? shape.slice(0, -1) : shape,
      );
      const empty = new Map([...shapes.entries()].filter(([, shape]) => shape.includes(0)));
      const imported = await importWith(empty);
      const compilation = await prepare(imported, selection);
      try {
        return await compute(
          { imported, compilation },
          values.filter((_, place) => !empty.has(place)),
        );
      } finally {
        compilation.close();
      }
    },
    close: async () => (hasExtension ? undefined : selection.close()),
  };
}

async function loadExtension(): Promise<ExtensionDefinition> {
  return (await import("@nnhal/extension-tflite")).tfliteExtension;
}
