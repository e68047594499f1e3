/**
 * Results in a folder that many threads, processes and machines may share: one file for each input and task, named by their
 * digests, written under another name and renamed. A file that exists is whole; a second writer changes nothing.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BatchError, type Computed, messageOf, type ResultRecord } from "./task.ts";

/** Results of one task. Its methods reject with a BatchError if the folder cannot be used. */
export interface ResultFolder {
  /** Reads the result of an input; undefined if there is none, or if the file is not a valid one. */
  get(input: string): Promise<ResultRecord | undefined>;
  has(input: string): Promise<boolean>;
  /** Stores a result with its files. */
  put(input: string, computed: Computed): Promise<void>;
  /** Returns the path of the file of a result, or of an additional file. */
  path(input: string, ending?: string): string;
}

/** Folder of files that are being written. */
const unfinished = "unfinished";
/** Age in milliseconds after which such a file was left by a process that has ended. */
const longestWrite = 3_600_000;

/** Opens the results of a task in a folder, which is created if needed. */
export async function openResults(folder: string, task: string): Promise<ResultFolder> {
  const temporary = join(folder, unfinished);
  const made = new Set<string>();
  const makeFolder = async (path: string) => {
    if (made.has(path)) return;
    await mkdir(path, { recursive: true });
    made.add(path);
  };
  const path = (input: string, ending = ".json") =>
    join(folder, task.slice(0, 16), input.slice(0, 2), `${input}${ending}`);
  const write = async (target: string, content: string | Uint8Array) => {
    await makeFolder(dirname(target));
    const file = join(temporary, randomUUID());
    await writeFile(file, content, { flag: "wx" });
    await rename(file, target);
  };
  const use = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw new BatchError(`the folder of results ${folder} cannot be used: ${messageOf(error)}`);
    }
  };
  const get = async (input: string): Promise<ResultRecord | undefined> => {
    const text = await use(() => readFile(path(input), "utf8").catch(undefinedIfMissing));
    const record = text === undefined ? undefined : recordIn(text);
    return record?.task === task && record.input === input ? record : undefined;
  };
  await use(async () => {
    await makeFolder(temporary);
    await removeOld(temporary);
  });
  return {
    path,
    get,
    has: async (input) => (await get(input)) !== undefined,
    put: (input, { result, files }) =>
      use(async () => {
        // The record is written last: if it exists, everything does.
        for (const { ending, bytes } of files) await write(path(input, ending), bytes);
        await write(path(input), `${JSON.stringify({ task, input, result } satisfies ResultRecord)}\n`);
      }),
  };
}

/** Parses a record; undefined if the text is not one, such as a file that a failing machine has truncated. */
function recordIn(text: string): ResultRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isRecord = typeof value === "object" && value !== null && "task" in value && "input" in value;
    // `put` is the only writer of such files.
    return isRecord && "result" in value ? (value as ResultRecord) : undefined;
  } catch {
    return undefined;
  }
}

async function removeOld(folder: string): Promise<void> {
  const oldest = Date.now() - longestWrite;
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const status = await stat(file).catch(undefinedIfMissing);
    if (status !== undefined && status.mtimeMs < oldest) await rm(file, { force: true });
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
