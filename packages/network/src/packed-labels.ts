/**
 * Names of classes that are packed with a model, for programs that read the file themselves.
 */
import { modelMetadata, readPackedFile, TfliteError } from "@nnhal/tflite";
import { createLabelFinder, type LabelFinder, unreadable } from "./labels.ts";
import type { ModelFile } from "./model-file.ts";

/**
 * A finder for the labels that are packed with a model. Metadata, and a packed file that is broken or too large, are reported to `note`
 * once.
 */
export function findPackedLabels({ bytes, content: model }: ModelFile, note: (message: string) => void): LabelFinder {
  try {
    const [main] = model.subgraphs;
    const outputNames = main?.outputs.map((tensor) => main.tensors[tensor]?.name) ?? [];
    const read = (name: string, most: number) => readPackedFile(bytes, name, { most });
    return createLabelFinder({ metadata: modelMetadata(model), outputNames, read }, note);
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    note(unreadable(error.message));
    return () => undefined;
  }
}
