/**
 * Lists the parts of a container. Every offset is checked before use; the entries of nested archives and what is unpacked to list them count
 * together, so that small files cannot cause much work.
 */
import { fileArgument, type TfliteBytes } from "../arguments.ts";
import { ensure, fail } from "../error.ts";
import { type Budget, listArchive } from "./archive-parts.ts";
import { listSections } from "./litertlm.ts";
import { mayHaveParts, type TfliteContainer, type TflitePart } from "./part.ts";

const MOST_UNPACKED = 2 ** 28;

/** The parts of a file. Rejects with a TfliteError. */
export async function listParts(given: TfliteBytes | TfliteContainer): Promise<readonly TflitePart[]> {
  const isContainer = typeof given === "object" && given !== null && "read" in given;
  const file = isContainer ? given : containerOf(fileArgument(given, "tfliteParts"));
  const isSize = Number.isSafeInteger(file.size) && file.size >= 0;
  ensure(isSize, "", () => `the size of a container: expected a number of bytes, got ${file.size}`);
  const start = await file.read(0, Math.min(8, file.size));
  if (!mayHaveParts(start)) fail("", "the file is neither a zip archive nor a .litertlm file");
  const isArchive = start[0] === 0x50;
  const budget: Budget = { entries: 0, unpacked: MOST_UNPACKED };
  return distinct(isArchive ? await listArchive(file, budget, "", 0, 1) : await listSections(file));
}

function containerOf(bytes: Uint8Array): TfliteContainer {
  return { size: bytes.length, read: async (from, length) => bytes.subarray(from, from + length) };
}

/** Parts of which each has a name of its own: a name that was there gets a number. */
function distinct(parts: readonly TflitePart[]): TflitePart[] {
  const counts = new Map<string, number>();
  const taken = new Set(parts.map(({ name }) => name));
  return parts.map((part) => {
    let count = (counts.get(part.name) ?? 0) + 1;
    let { name } = part;
    if (count > 1) {
      while (taken.has(`${part.name}#${count}`)) count++;
      name = `${part.name}#${count}`;
      taken.add(name);
    }
    counts.set(part.name, count);
    return { ...part, name };
  });
}
