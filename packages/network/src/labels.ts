/**
 * Names of classes, from files that are packed with a model. A small file can unpack to a large one, so what is read is bounded.
 */
import type { ModelMetadata, TfliteError } from "@nnhal/tflite";
import { parseLabels } from "./scores.ts";
import { oneLine } from "./text.ts";

/** Names of classes, and where they come from. */
export interface Labels {
  readonly names: readonly string[];
  /** For messages. */
  readonly source: string;
}

/** Most bytes of all label files of a model together, unpacked: the 21,843 names of ImageNet have half a megabyte. */
const MOST_BYTES = 2 ** 23;

/** Most labels of all label files of a model together. */
const MOST_LABELS = 2 ** 20;

const LINE_END = 0x0a;

/** The parts of a file that labels are found with. */
export interface LabelSource {
  readonly metadata: ModelMetadata | undefined;
  /** The names of the first subgraph's outputs, which the metadata describe in this order. */
  readonly outputNames: readonly (string | undefined)[];
  /** Reads a packed file; undefined if there is none of that name. Throws a TfliteError if it has more bytes than `most`. */
  read(name: string, most: number): Uint8Array | undefined;
}

/** Finds the labels of an output; undefined if there are none. */
export type LabelFinder = (output: { readonly name: string }) => Labels | undefined;

/** A finder over the parts of a file. Each packed file is read once, and all of them together have at most 8 MiB and 2^20 labels. */
export function createLabelFinder(
  { metadata, outputNames, read }: LabelSource,
  note: (message: string) => void,
): LabelFinder {
  const places = new Map<string | undefined, number>();
  for (const [place, name] of outputNames.entries()) if (!places.has(name)) places.set(name, place);
  const known = new Map<string, Labels | undefined>();
  let bytesLeft = MOST_BYTES;
  let labelsLeft = MOST_LABELS;
  const readOnce = (name: string): Labels | undefined => {
    if (known.has(name)) return known.get(name);
    // A file that cannot be read is not tried again.
    known.set(name, undefined);
    const bytes = read(name, bytesLeft);
    if (bytes === undefined) return undefined;
    bytesLeft -= bytes.length;
    const lines = 1 + bytes.reduce((count, byte) => count + (byte === LINE_END ? 1 : 0), 0);
    if (lines > labelsLeft) {
      note(unreadable(`"${name}" has ${lines} lines; all label files of a model have at most ${MOST_LABELS}`));
      return undefined;
    }
    labelsLeft -= lines;
    const names = parseLabels(new TextDecoder().decode(bytes));
    const labels = { names, source: `${name}, packed with the model,` };
    known.set(name, labels);
    return labels;
  };
  return ({ name }) => {
    const file = metadata && labelFile(metadata, places.get(name) ?? -1);
    try {
      return file === undefined ? undefined : readOnce(file);
    } catch (error) {
      if (!isTfliteError(error)) throw error;
      note(unreadable(error.message));
      return undefined;
    }
  };
}

/** Tells errors by their name: the class would bring the reader of models into each bundle that has this file. */
export function isTfliteError(error: unknown): error is TfliteError {
  return error instanceof Error && error.name === "TfliteError";
}

export function unreadable(reason: string): string {
  return `labels that are packed with the model cannot be read: ${oneLine(reason)}`;
}

/** Of several files for one output, the one in no particular language, else the first. */
function labelFile({ outputs }: ModelMetadata, place: number): string | undefined {
  const files = outputs[place]?.files.filter(({ kind }) => kind === "axis labels" || kind === "value labels") ?? [];
  return (files.find(({ locale }) => locale === "") ?? files[0])?.name;
}
