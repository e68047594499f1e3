/**
 * Names of classes, from a file that is packed with the model.
 */
import { type ModelMetadata, modelMetadata, readPackedFile, readTflite, TfliteError } from "@nnhal/tflite";
import { parseLabels } from "./scores.ts";
import { oneLine } from "./text.ts";

/** Names of classes, and where they come from. */
export interface Labels {
  readonly names: readonly string[];
  /** For messages. */
  readonly source: string;
}

/**
 * The labels that are packed with a model for one of its outputs; undefined if there are none. Metadata or a packed file that
 * is broken is reported to `note`.
 */
export function packedLabels(
  file: Uint8Array,
  output: { readonly name: string },
  note: (message: string) => void,
): Labels | undefined {
  try {
    const model = readTflite(file);
    const metadata = modelMetadata(model);
    const [main] = model.subgraphs;
    // Metadata describe the outputs of the first subgraph, in its order.
    const place = main?.outputs.findIndex((tensor) => main.tensors[tensor]?.name === output.name) ?? -1;
    const name = metadata && labelFile(metadata, place);
    const bytes = name === undefined ? undefined : readPackedFile(file, name);
    return bytes && { names: parseLabels(new TextDecoder().decode(bytes)), source: `${name}, packed with the model,` };
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    note(`labels that are packed with the model cannot be read: ${oneLine(error.message)}`);
    return undefined;
  }
}

/** Of several files for one output, the one in no particular language, else the first. */
function labelFile({ outputs }: ModelMetadata, place: number): string | undefined {
  const files = outputs[place]?.files.filter(({ kind }) => kind === "axis labels" || kind === "value labels") ?? [];
  return (files.find(({ locale }) => locale === "") ?? files[0])?.name;
}
