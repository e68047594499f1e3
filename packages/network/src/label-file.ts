/**
 * Labels of a user: files with one label a line, and lists that come with nnhal; and whether they fit the results of a network.
 */
import { check } from "./error.ts";
import { nameFile } from "./file-kind.ts";
import { coco80Labels, cocoLabels, pascalVocLabels } from "./label-lists.ts";
import type { Labels } from "./labels.ts";
import { parseLabels } from "./scores.ts";

/** Lists that need no file, by the names that programs have for them. */
export const labelLists: Readonly<Record<string, readonly string[]>> = {
  coco: cocoLabels,
  coco80: coco80Labels,
  "pascal-voc": pascalVocLabels,
};

/** Reads the labels in a file. `source`: names it in messages. Throws WRONG_VALUE if it is not a text in UTF-8 with a label. */
export function readLabelFile(bytes: Uint8Array, source: string): Labels {
  const text = textIn(bytes);
  const kind = text === undefined ? nameFile(bytes) : undefined;
  const what = kind === undefined ? "not" : `${kind}, not`;
  check(text !== undefined, "WRONG_VALUE", () => `${source} is ${what} a text in UTF-8 with one label a line`);
  const names = parseLabels(text);
  check(
    names.some((name) => name.trim() !== ""),
    "WRONG_VALUE",
    () => `${source} is empty`,
  );
  return { names, source };
}

/** The text of a file; undefined for one with bytes that are not UTF-8, or zeros, which only binary files have. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    return bytes.includes(0) ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Results that labels name. */
export type Labelled =
  /** Classes that have a score each; undefined: no output holds scores. */
  | { readonly classes: number | undefined }
  /** Indexes of the classes that were found. */
  | { readonly indexes: readonly number[] }
  | { readonly landmarks: number };

/**
 * Says how labels do not fit results; undefined if they do. A list that is one off names every class wrongly, so that any other length
 * deserves a word. Detectors and segmenters tell the greatest class that they found, and not the count of their classes.
 */
export function describeMisfit({ names, source }: Labels, labelled: Labelled): string | undefined {
  const has = `${source} has ${names.length} label${names.length === 1 ? "" : "s"}, but`;
  if ("landmarks" in labelled)
    return labelled.landmarks === names.length ? undefined : `${has} there are ${labelled.landmarks} landmarks`;
  if ("indexes" in labelled) {
    const most = labelled.indexes.reduce((greatest, index) => Math.max(greatest, index), -1);
    return most < names.length ? undefined : `${has} there is a class ${most}`;
  }
  if (labelled.classes === names.length) return undefined;
  return labelled.classes === undefined
    ? `${has} no output holds scores of classes`
    : `${has} the output has ${labelled.classes} classes`;
}
