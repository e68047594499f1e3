/**
 * Names of classes from a file of the user.
 */
import { coco80Labels, cocoLabels, pascalVocLabels } from "@nnhal/network";
import { type Labels, nameFile, parseLabels } from "@nnhal/network/tensors";
import { usageError } from "../failure.ts";
import { readUserFile } from "../files.ts";

/** Lists that need no file. A file of such a name is `./coco`. */
export const labelLists: Readonly<Record<string, readonly string[]>> = {
  coco: cocoLabels,
  coco80: coco80Labels,
  "pascal-voc": pascalVocLabels,
};

/** Reads a file of labels, or returns one of the lists. Rejects with a usage error if that is not possible, or if it is not a text with a label. */
export async function readLabels(path: string, cwd: string): Promise<Labels> {
  const known = Object.hasOwn(labelLists, path) ? labelLists[path] : undefined;
  if (known !== undefined) return { names: known, source: `the list ${path}` };
  const most = { bytes: 2 ** 26, reason: "more than a list of labels needs" };
  const bytes = await readUserFile(path, { what: "label file", cwd, most });
  const names = parseLabels(textOf(bytes, path));
  if (names.every((name) => name.trim() === "")) throw usageError(`the label file ${path} is empty`);
  return { names, source: path };
}

/** The text of a file; only binary files have bytes that are not UTF-8, or zeros. */
function textOf(bytes: Uint8Array, path: string): string {
  try {
    if (!bytes.includes(0)) return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Said below.
  }
  const kind = nameFile(bytes);
  const what = kind === undefined ? "not" : `${kind}, not`;
  throw usageError(`the label file ${path} is ${what} a text in UTF-8 with one label a line`);
}
