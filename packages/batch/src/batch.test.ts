/** The pool with real threads, and a batch on one machine with it. */
import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openInputs } from "./inputs.ts";
import { openJournal, readJournals } from "./journal.ts";
import { createPool, type Pool, type PoolTask } from "./pool.ts";
import { openResults } from "./results.ts";
import { runBatch } from "./run-batch.ts";
import { digestOf } from "./task.ts";
import { startTestThread } from "./thread.test-helper.ts";

let folder: string;
let pool: Pool;
const notes: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-batch-"));
  pool = createPool({ threads: 2, start: startTestThread, deadline: 60_000, onNote: (note) => notes.push(note) });
});
afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true });
});

async function collect<Item>(all: AsyncIterable<Item> | readonly Item[]): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of all) list.push(item);
  return list;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const taskOf = (model: string): PoolTask => ({ task: digestOf(model), options: {}, model: async () => bytesOf(model) });
const compute = (text: string, model = "m") => pool.compute(taskOf(model), { name: "n", bytes: bytesOf(text) });

describe("options that nothing knows", () => {
  const unknown = { deadLine: 1 };

  it("are refused by the pool", () => {
    const options = { ...{ threads: 1, start: startTestThread, deadline: 1 }, ...unknown };
    expect(() => createPool(options)).toThrow('createPool: unknown option "deadLine": did you mean "deadline"?');
  });

  it("are refused by the run of a batch", async () => {
    const task = taskOf("m");
    const head = { ...{ id: "1", model: "m", inputs: folder, created: 1 }, task: { model: task.task, options: {} } };
    const run = {
      ...{ pool, task, source: await openInputs(folder, () => true) },
      journal: await openJournal(join(folder, "options"), head),
      results: await openResults(join(folder, "options-results"), task.task),
    };
    await expect(runBatch({ ...run, ...unknown })).rejects.toThrow('runBatch: unknown option "deadLine"');
  });
});

describe("a pool of threads", () => {
  it("computes more inputs than threads, of more tasks than a thread keeps", async () => {
    const inputs = Array.from({ length: 40 }, (_, index) => [`m${index % 4}`, `i${index}`] as const);
    const results = await Promise.all(inputs.map(([model, input]) => compute(input, model)));
    expect(results).toEqual(inputs.map(([model, input]) => ({ result: `${model} ${input}`, files: [] })));
    expect(notes).toEqual(["the model is a text"]);
  });

  it("loses only the input that ends its thread", async () => {
    const results = await Promise.all(["a", "exit now", "b", "bad", "c"].map((text) => compute(text)));
    expect(results).toEqual([
      { result: "m a", files: [] },
      { problem: "the input n ended its thread: it ended with the code 3" },
      { result: "m b", files: [] },
      { problem: "the input n is bad" },
      { result: "m c", files: [] },
    ]);
  });

  it("rejects if the task cannot run, and goes on with others", async () => {
    await expect(compute("a", "cannot run")).rejects.toThrow("the model cannot run: it is a text");
    await expect(compute("broken device")).rejects.toThrow("the device is gone");
    await expect(
      pool.compute(
        { ...taskOf("x"), model: () => Promise.reject(new Error("no store")) },
        { name: "n", bytes: bytesOf("") },
      ),
    ).rejects.toThrow("no store");
    expect(await compute("a")).toEqual({ result: "m a", files: [] });
  });

  it("ends a thread that does not answer in time", async () => {
    const hasty = createPool({ threads: 1, start: startTestThread, deadline: 200 });
    const hang = hasty.compute(taskOf("m"), { name: "slow", bytes: bytesOf("hang") });
    expect(await hang).toEqual({ problem: "the input slow ended its thread: it took longer than 0.2 s" });
    await hasty.close();
    await expect(hasty.compute(taskOf("m"), { name: "n", bytes: bytesOf("") })).rejects.toThrow("is closed");
  });
});

describe("inputs", () => {
  it("are the files of a folder and of those in it, or the lines of a text", async () => {
    const inputs = join(folder, "tree");
    await mkdir(join(inputs, "deep/er"), { recursive: true });
    for (const name of ["a.bin", "notes.md", "deep/b.bin", "deep/er/c.bin"]) await writeFile(join(inputs, name), name);
    await writeFile(join(inputs, "list.txt"), "deep/b.bin\r\n\n  a.bin \ngone.bin");
    const namesOf = async (path: string) => {
      const source = await openInputs(path, (name) => name.endsWith(".bin"));
      const names: string[] = [];
      for await (const name of source.names()) names.push(name);
      return { root: source.root, names };
    };
    const found = await namesOf(inputs);
    expect(found.names.sort()).toEqual(["a.bin", "deep/b.bin", "deep/er/c.bin"]);
    expect(await namesOf(join(inputs, "list.txt"))).toEqual({
      root: inputs,
      names: ["deep/b.bin", "a.bin", "gone.bin"],
    });
    await expect(namesOf(join(inputs, "a.bin"))).rejects.toThrow("is an input: give a folder of inputs");
    await expect(namesOf(join(inputs, "none"))).rejects.toThrow("cannot read the inputs");
  });
});

describe("a batch on one machine", () => {
  const head = { id: "one", task: { model: "m", options: {} }, model: "m", inputs: "", created: 1 };
  /** Runs a batch over files in a new folder; each call continues it. */
  async function batchOf(name: string, files: Readonly<Record<string, string>>) {
    const inputs = join(folder, name);
    await mkdir(inputs);
    for (const [file, text] of Object.entries(files)) await writeFile(join(inputs, file), text);
    const results = await openResults(join(folder, `${name}-results`), taskOf("m").task);
    const run = async (signal?: AbortSignal) => {
      const journal = await openJournal(join(folder, `${name}-results`), { ...head, inputs });
      const source = await openInputs(inputs, () => true);
      try {
        return { ...(await runBatch({ source, journal, results, pool, task: taskOf("m"), signal })), journal };
      } finally {
        await journal.close();
      }
    };
    return { inputs, results, run, journal: join(folder, `${name}-results`, "one.batch.jsonl") };
  }

  it("computes each content once, and lists all names; a problem is one input's own", async () => {
    const { results, run } = await batchOf("once", { a: "1", b: "2", c: "1", d: "bad", e: "1", f: "exit" });
    const { journal, ...counts } = await run();
    expect(counts).toEqual({ computed: 2, known: 2, failed: 2 });
    const entries = await collect(journal.entries());
    expect(entries.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e", "f"]);
    for (const place of [0, 2, 4]) expect(entries[place]?.digest).toBe(digestOf("1"));
    expect(entries[3]?.problem).toBe("the input d is bad");
    expect(entries[5]?.problem).toContain("the input f ended its thread");
    expect((await results.get(digestOf("2")))?.result).toBe("m 2");
  });

  it("goes on after any end: what is known is not read or computed again, what failed is tried again", async () => {
    const { inputs, results, run, journal: file } = await batchOf("again", { a: "1", b: "2", c: "bad" });
    const stop = new AbortController();
    stop.abort();
    expect(await run(stop.signal)).toMatchObject({ computed: 0, known: 0, failed: 0 });
    await run();
    await writeFile(join(inputs, "c"), "3");
    await writeFile(join(inputs, "d"), "4");
    expect(await run()).toMatchObject({ computed: 2, known: 2, failed: 0 });
    // A truncated line stands for one input, which is read again; its result is known.
    const text = await readFile(file, "utf8");
    await truncate(file, text.trimEnd().length - 5);
    expect(await run()).toMatchObject({ computed: 0, known: 4 });
    await rm(results.path(digestOf("2")));
    expect(await run()).toMatchObject({ computed: 1, known: 3 });
    const [only] = await readJournals(join(folder, "again-results"));
    expect(only?.head.id).toBe("one");
    const entries = await collect(only?.entries() ?? []);
    expect(entries.map(({ name, problem }) => [name, problem])).toEqual(
      ["a", "b", "c", "d"].map((each) => [each, undefined]),
    );
  });

  it("stops with the reason if the task or the folder of results fails, and keeps what is done", async () => {
    const { inputs, results, run } = await batchOf("stops", { a: "1" });
    await run();
    await writeFile(join(inputs, "b"), "broken device");
    await expect(run()).rejects.toThrow("the device is gone");
    expect(await results.has(digestOf("1"))).toBe(true);
  });

  it.skipIf(process.platform === "win32")("writes no journal through a symbolic link", async () => {
    const { run, journal } = await batchOf("linked", { a: "1" });
    const target = join(dirname(journal), "target");
    await mkdir(dirname(journal), { recursive: true });
    await symlink(target, journal);
    await expect(run()).rejects.toThrow("cannot use");
    await expect(readFile(target)).rejects.toThrow("ENOENT");
  });

  it("refuses a file that is not a journal", async () => {
    const { run, journal } = await batchOf("other", { a: "1" });
    await appendFile(journal, "[]\n");
    await expect(run()).rejects.toThrow("is not the journal of a batch");
  });
});
