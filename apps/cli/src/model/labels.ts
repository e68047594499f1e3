/**
 * Names of classes from a file of the user.
 */
import { NetworkError } from "@nnhal/network";
import { type Labels, labelLists, readLabelFile } from "@nnhal/network/tensors";
import { usageError } from "../failure.ts";
import { readUserFile } from "../files.ts";

/** Reads a file of labels, or returns one of the lists. Rejects with a usage error if that is not possible, or if it is not a text with a label. */
export async function readLabels(path: string, cwd: string): Promise<Labels> {
  const known = Object.hasOwn(labelLists, path) ? labelLists[path] : undefined;
  // A file of such a name is `./coco`.
  if (known !== undefined) return { names: known, source: `the list ${path}` };
  const most = { bytes: 2 ** 26, reason: "more than a list of labels needs" };
  const bytes = await readUserFile(path, { what: "label file", cwd, most });
  try {
    return { ...readLabelFile(bytes, `the label file ${path}`), source: path };
  } catch (error) {
    throw error instanceof NetworkError ? usageError(error.message) : error;
  }
}
