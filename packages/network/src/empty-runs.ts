/**
 * Runs in which inputs have no elements. A request of the HAL cannot express such a value, so that the model is prepared for each of these
 * runs with the inputs as constants.
 */
import type { Compilation, CompilationOptions } from "@nnhal/runtime";
import type { ImportedModel } from "@nnhal/tflite";
import type { Selection } from "./devices.ts";
import type { InputBytes } from "./execute.ts";

/** A model and its compilation. */
export interface Prepared {
  readonly imported: ImportedModel;
  readonly compilation: Compilation;
}

/** Parts of a session that such runs need. */
export interface EmptyRunOptions {
  /** The model of the session. */
  readonly imported: ImportedModel;
  readonly selection: Pick<Selection, "devices" | "cpu">;
  /**
   * Opens devices with the extension for .tflite, which has constants without elements; absent if those of `selection` have it. A function,
   * because what this module imported would be in a bundle for a browser as a part of its own.
   */
  readonly extend: (() => Promise<Selection>) | undefined;
  readonly importWith: (emptyInputs: ReadonlyMap<number, readonly number[]>) => Promise<ImportedModel>;
  readonly prepare: (
    imported: ImportedModel,
    selection: Pick<Selection, "devices" | "cpu">,
    observing?: Pick<CompilationOptions, "onStep" | "separateOperations">,
  ) => Promise<Compilation>;
}

/** Runs with inputs without elements. */
export interface EmptyRuns {
  /**
   * Prepares the model for these values, computes with those that have elements, and lets the model go. `prepareAgain`: prepares it once more
   * for the same values.
   */
  run<Result>(
    values: readonly InputBytes[],
    compute: (
      prepared: Prepared,
      rest: readonly InputBytes[],
      prepareAgain: (observing: Pick<CompilationOptions, "onStep" | "separateOperations">) => Promise<Compilation>,
    ) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

/** Opens the devices for such runs: those of the session, with the extension. */
export async function openEmptyRuns({
  imported: { inputs },
  selection: own,
  extend,
  importWith,
  prepare,
}: EmptyRunOptions): Promise<EmptyRuns> {
  const extended = await extend?.();
  const selection = extended ?? own;
  return {
    async run(values, compute) {
      const shapes = values.map(({ shape }, place) =>
        // The last extent of strings is the size of their rows.
        inputs[place]?.tensorType === "STRING" ? shape?.slice(0, -1) : shape,
      );
      const empty = new Map(
        [...shapes.entries()].flatMap(([place, shape]) => (shape?.includes(0) ? [[place, shape]] : [])),
      );
      const imported = await importWith(empty);
      const compilation = await prepare(imported, selection);
      try {
        return await compute(
          { imported, compilation },
          values.filter((_, place) => !empty.has(place)),
          (observing) => prepare(imported, selection, observing),
        );
      } finally {
        compilation.close();
      }
    },
    close: async () => extended?.close(),
  };
}
