/**
 * What is known of the inputs of a batch on one machine: lines of JSON in a file, to which each input adds one. After any end of the
 * process all lines but the last are whole, and that one is left out.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { FileMark } from "./inputs.ts";
import { BatchError, type Json, messageOf, type Task } from "./task.ts";

/** What a batch is. */
export interface BatchHead {
  readonly id: string;
  readonly task: Task;
  /** As the user named them. */
  readonly model: string;
  readonly inputs: string;
  /** Milliseconds since 1970. */
  readonly created: number;
}

/** What is known of an input: its digest, as it was when it was read; or why there is no result. */
export interface Entry extends FileMark {
  readonly name: string;
  /** SHA-256; undefined if it could not be read. */
  readonly digest?: string;
  readonly problem?: string;
}

/** The entries of a batch. */
export interface Journal {
  readonly head: BatchHead;
  /** By name; what came last counts. */
  readonly entries: ReadonlyMap<string, Entry>;
  add(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

const ending = ".batch.jsonl";

/** Opens the journal of a batch, or begins one. Rejects with a BatchError. */
export async function openJournal(folder: string, head: BatchHead): Promise<Journal> {
  const file = join(folder, head.id + ending);
  try {
    await mkdir(folder, { recursive: true });
    const before = await readJournal(file).catch(undefinedIfMissing);
    const handle = await open(file, "a");
    const entries = new Map(before?.entries);
    // A line that was cut must not take the next one with it.
    await handle.write(before === undefined ? `${JSON.stringify(head)}\n` : "\n");
    return {
      head: before?.head ?? head,
      entries,
      async add(entry) {
        entries.set(entry.name, entry);
        await append(handle, file, entry);
      },
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

/** The journals in a folder of results, the oldest first. Rejects with a BatchError. */
export async function readJournals(folder: string): Promise<readonly Omit<Journal, "add" | "close">[]> {
  try {
    const files = (await readdir(folder)).filter((name) => name.endsWith(ending));
    const journals = await Promise.all(files.map((name) => readJournal(join(folder, name))));
    return journals.sort((a, b) => a.head.created - b.head.created);
  } catch (error) {
    throw error instanceof BatchError ? error : new BatchError(`cannot read the folder ${folder}: ${messageOf(error)}`);
  }
}

async function readJournal(file: string): Promise<Omit<Journal, "add" | "close">> {
  const entries = new Map<string, Entry>();
  let head: BatchHead | undefined;
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    const value = valueIn(line);
    if (value === undefined) continue;
    // `openJournal` is the only writer: the first line is the head, the others are entries.
    if (head === undefined) head = value as unknown as BatchHead;
    else {
      const entry = value as unknown as Entry;
      entries.set(entry.name, entry);
    }
  }
  if (head?.task === undefined) throw new BatchError(`${file} is not the journal of a batch: it begins with no head`);
  return { head, entries };
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
