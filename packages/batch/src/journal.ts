/**
 * The journal of the inputs of a batch on one machine: lines of JSON in a file, to which each input adds one. However the
 * process ends, all lines except the last are whole; a truncated last line is skipped.
 */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { inOrder } from "./in-order.ts";
import type { FileMark } from "./inputs.ts";
import { linesOf } from "./lines.ts";
import { BatchError, type Json, messageOf, type Task } from "./task.ts";

/** The facts of a batch. */
export interface BatchHead {
  readonly id: string;
  readonly task: Task;
  /** Model as named by the user. */
  readonly model: string;
  readonly inputs: string;
  /** Milliseconds since 1970. */
  readonly created: number;
}

/** The journal's entry on an input: its digest at the time of reading, or why there is no result. */
export interface Entry extends FileMark {
  readonly name: string;
  /** SHA-256; undefined if it could not be read. */
  readonly digest?: string;
  readonly problem?: string;
}

/** A stored journal of a batch. */
export interface StoredJournal {
  readonly head: BatchHead;
  /** Yields the entries in the order of their names, without keeping all in memory. */
  entries(): AsyncIterable<Entry>;
}

/** Journal of a batch that continues. */
export interface Journal extends StoredJournal {
  /** Returns the entry of an input from before the journal was opened. */
  before(name: string): Entry | undefined;
  add(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

const ending = ".batch.jsonl";

/** Opens the journal of a batch, or creates it. Rejects with a BatchError. */
export async function openJournal(folder: string, head: BatchHead): Promise<Journal> {
  const file = join(folder, head.id + ending);
  try {
    await mkdir(folder, { recursive: true });
    const stored = await readJournal(file).catch(undefinedIfMissing);
    const known = new Map<string, Entry>();
    if (stored !== undefined) for await (const entry of entriesOf(file)) known.set(entry.name, entry);
    const { O_WRONLY, O_APPEND, O_CREAT } = constants;
    // A link in a folder of results could lead to a file outside it.
    const handle = await open(file, O_WRONLY | O_APPEND | O_CREAT | (constants.O_NOFOLLOW ?? 0));
    // A truncated line must not join the next one.
    await handle.write(stored === undefined ? `${JSON.stringify(head)}\n` : "\n");
    return {
      head: stored?.head ?? head,
      before: (name) => known.get(name),
      entries: () => inOrder(entriesOf(file)),
      add: (entry) => append(handle, file, entry),
      close: () => handle.close(),
    };
  } catch (error) {
    throw error instanceof BatchError ? error : new BatchError(`cannot use ${file}: ${messageOf(error)}`);
  }
}

async function append(handle: FileHandle, file: string, entry: Entry): Promise<void> {
  try {
    await handle.write(`${JSON.stringify(entry)}\n`);
  } catch (error) {
    throw new BatchError(`cannot write ${file}: ${messageOf(error)}`);
  }
}

/** Reads the journals in a folder of results, the oldest first. Rejects with a BatchError. */
export async function readJournals(folder: string): Promise<readonly StoredJournal[]> {
  try {
    const files = (await readdir(folder)).filter((name) => name.endsWith(ending));
    const journals = await Promise.all(files.map((name) => readJournal(join(folder, name))));
    return journals.sort((a, b) => a.head.created - b.head.created);
  } catch (error) {
    throw error instanceof BatchError ? error : new BatchError(`cannot read the folder ${folder}: ${messageOf(error)}`);
  }
}

async function readJournal(file: string): Promise<StoredJournal> {
  // `openJournal` is the only writer: the first line is the head, the others are entries.
  for await (const value of valuesIn(file)) {
    if (!("task" in value)) break;
    return { head: value as unknown as BatchHead, entries: () => inOrder(entriesOf(file)) };
  }
  throw new BatchError(`${file} is not the journal of a batch: it begins with no head`);
}

/** Yields the entries in the order of writing. */
async function* entriesOf(file: string): AsyncGenerator<Entry> {
  let isHead = true;
  for await (const value of valuesIn(file)) {
    if (!isHead) yield value as unknown as Entry;
    isHead = false;
  }
}

async function* valuesIn(file: string): AsyncGenerator<{ readonly [key: string]: Json }> {
  for await (const line of linesOf(file)) {
    const value = valueIn(line);
    if (value !== undefined) yield value;
  }
}

function valueIn(line: string): { readonly [key: string]: Json } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as { readonly [key: string]: Json })
      : undefined;
  } catch {
    return undefined;
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
