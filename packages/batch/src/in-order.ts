/** Sorting of any number of items by name: more than fit in memory are sorted in parts, which are files, and merged. */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linesOf } from "./lines.ts";

/** Number of items that are sorted in memory: about 30 MB. */
const mostInMemory = 100_000;

/** Length of text that is written at a time, in characters. */
const writeSize = 2 ** 16;

/** An item that can be kept in a file: JSON. */
type Named = { readonly name: string };

/**
 * Yields items in the order of their names. Of several with one name the last counts. `most`: number of items kept in memory;
 * the rest lies in the folder for temporary files, which is left clean.
 */
export async function* inOrder<Item extends Named>(
  items: AsyncIterable<Item>,
  most = mostInMemory,
): AsyncGenerator<Item> {
  let part = new Map<string, Item>();
  let folder: string | undefined;
  const files: string[] = [];
  try {
    for await (const item of items) {
      part.set(item.name, item);
      if (part.size < most) continue;
      folder ??= await mkdtemp(join(tmpdir(), "nnhal-order-"));
      const file = join(folder, String(files.length));
      await write(file, sortByName(part));
      files.push(file);
      part = new Map();
    }
    yield* files.length === 0
      ? sortByName(part)
      : joinInOrder([...files.map((file) => read<Item>(file)), walk(sortByName(part))]);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

function sortByName<Item extends Named>(part: ReadonlyMap<string, Item>): Item[] {
  return [...part.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
}

async function* walk<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

async function write(file: string, items: Iterable<Named>): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    let text = "";
    for (const item of items) {
      text += `${JSON.stringify(item)}\n`;
      if (text.length < writeSize) continue;
      await handle.write(text);
      text = "";
    }
    await handle.write(text);
  } finally {
    await handle.close();
  }
}

async function* read<Item>(file: string): AsyncGenerator<Item> {
  // `write` is the only writer.
  for await (const line of linesOf(file)) if (line !== "") yield JSON.parse(line) as Item;
}

/** Merges parts that are in the order of their names. Of equal names the one of the last part counts. */
export async function* joinInOrder<Item extends Named>(parts: readonly AsyncGenerator<Item>[]): AsyncGenerator<Item> {
  const heads: (Item | undefined)[] = [];
  const advance = async (place: number) => {
    const next = await parts[place]?.next();
    heads[place] = next?.done === false ? next.value : undefined;
  };
  try {
    for (const place of parts.keys()) await advance(place);
    for (;;) {
      let least: Item | undefined;
      for (const head of heads)
        if (head !== undefined && (least === undefined || head.name <= least.name)) least = head;
      if (least === undefined) return;
      for (const [place, head] of heads.entries()) if (head?.name === least.name) await advance(place);
      yield least;
    }
  } finally {
    // Closes the open files.
    await Promise.all(parts.map((part) => part.return(undefined)));
  }
}
