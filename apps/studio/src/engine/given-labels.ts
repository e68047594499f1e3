/**
 * Names of classes that the page gives: a file of the person, or a list that comes with nnhal.
 */
import { type Labels, labelLists, readLabelFile } from "@nnhal/network/tensors";
import { bytesText } from "../text.ts";

/** The labels of a file, or of a list. */
export type GivenLabels =
  | { readonly kind: "file"; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: "list"; readonly name: string };

/** Labels as the page shows them. */
export interface LabelsView {
  readonly kind: GivenLabels["kind"];
  /** Name of the file or of the list. */
  readonly name: string;
  readonly count: number;
}

/** Most bytes of a file: the 21,843 names of ImageNet have half a megabyte. */
const MOST_BYTES = 2 ** 23;
const MOST_LABELS = 2 ** 20;

/** Reads labels. Throws an Error whose message can be shown. */
export function readLabels(given: GivenLabels): Labels {
  const { name } = given;
  if (given.kind === "list") {
    const names = Object.hasOwn(labelLists, name) ? labelLists[name] : undefined;
    if (names === undefined)
      throw new Error(`labels: expected one of ${Object.keys(labelLists).join(", ")}, got ${name}`);
    return { names, source: `the list ${name}` };
  }
  if (given.bytes.length > MOST_BYTES)
    throw new Error(`${name} has ${bytesText(given.bytes.length)}: more than a list of labels needs`);
  const labels = readLabelFile(given.bytes, name);
  if (labels.names.length > MOST_LABELS)
    throw new Error(`${name} has ${labels.names.length} lines: more than a list of labels needs`);
  return labels;
}
