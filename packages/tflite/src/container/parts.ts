/**
 * Containers of models: `.task` files, which are zip archives, and `.litertlm` files. What reads them is loaded by need.
 */
import type { TfliteBytes } from "../arguments.ts";
import type { TfliteContainer, TflitePart } from "./part.ts";

/**
 * The parts of a container in the order of the file; archives within archives are those of their own parts. Only what lists them is read.
 *
 * Rejects with a TfliteError if the file is not a container, or is broken.
 */
export async function tfliteParts(file: TfliteBytes | TfliteContainer): Promise<readonly TflitePart[]> {
  return (await import("./list-parts.ts")).listParts(file);
}
