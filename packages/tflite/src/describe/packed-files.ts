/** Files that are packed with a model: a ZIP archive behind the FlatBuffer. TFLite Metadata say what they are for. */
import { fileArgument, type TfliteBytes } from "../arguments.ts";
import { findDirectory, type PackedFile } from "./archive-directory.ts";
import { archive } from "./unpacking.ts";

export type { PackedFile };

/**
 * The files that are packed with a model, in the order of the archive; none if there is no archive.
 *
 * @throws TfliteError if the archive's directory is broken. In a browser: a NotLoadedError, see whenLoaded of `@nnhal/operations`.
 */
export function packedFiles(bytes: TfliteBytes): readonly PackedFile[] {
  const file = fileArgument(bytes, "packedFiles");
  const directory = findDirectory(file);
  if (directory === undefined) return [];
  return archive()
    .entriesOf(file, directory)
    .map(({ name, size }) => ({ name, size }));
}

/**
 * The content of the first packed file of a name; undefined if there is none. `most`: the bytes that it may have, by default, and at most,
 * 64 MiB. A larger one is refused before it is unpacked.
 *
 * @throws TfliteError if the archive or the file's content is broken, or the file is too large. In a browser: a NotLoadedError, see
 *   whenLoaded of `@nnhal/operations`.
 */
export function readPackedFile(
  bytes: TfliteBytes,
  name: string,
  { most }: { readonly most?: number | undefined } = {},
): Uint8Array | undefined {
  const file = fileArgument(bytes, "readPackedFile");
  const directory = findDirectory(file);
  if (directory === undefined) return undefined;
  const { entriesOf, contentOf } = archive();
  const found = entriesOf(file, directory).find((each) => each.name === name);
  return found && contentOf(file, found, most);
}
