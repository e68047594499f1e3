/**
 * Containers of models: `.task` files, which are zip archives, and `.litertlm` files. What reads them is loaded by need.
 */
import { fileArgument, type TfliteBytes } from "../arguments.ts";
import type { TfliteContainer, TflitePart } from "./part.ts";

/**
 * The parts of a container in the order of the file; archives within archives are those of their own parts. Only what lists them is read.
 *
 * Rejects with a TfliteError if the file is not a container, or is broken.
 */
export async function tfliteParts(file: TfliteBytes | TfliteContainer): Promise<readonly TflitePart[]> {
  const isContainer = typeof file === "object" && file !== null && "read" in file;
  const container = isContainer ? file : containerOf(fileArgument(file, "tfliteParts"));
  return (await import("./list-parts.ts")).listParts(container);
}

function containerOf(bytes: Uint8Array): TfliteContainer {
  return { size: bytes.length, read: async (from, length) => bytes.subarray(from, from + length) };
}
