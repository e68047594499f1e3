/**
 * Names of classes from a file of the user.
 */
import { type Labels, parseLabels } from "@nnhal/network/tensors";
import { readUserFile } from "../files.ts";

/** Reads a file of labels. Rejects with a usage error if that is not possible. */
export async function readLabels(path: string, cwd: string): Promise<Labels> {
  const most = { bytes: 2 ** 26, reason: "more than a list of labels needs" };
  const bytes = await readUserFile(path, { what: "label file", cwd, most });
  return { names: parseLabels(new TextDecoder().decode(bytes)), source: path };
}
