import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { elementAt } from "@nnhal/operations";
import { addExample, toLine } from "@nnhal/test-kit/examples";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VectorFormatError } from "./fields.ts";
import { findVectorFiles, readVectorFile, readVectorFiles } from "./read.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-vectors-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function put(name: string, content: string | Uint8Array): Promise<void> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, name.endsWith(".gz") && typeof content === "string" ? gzipSync(content) : content);
}

async function namesIn(path: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of readVectorFiles(await findVectorFiles(path))) names.push(name);
  return names;
}

function lines(...names: readonly string[]): string {
  return names.map((name) => `${toLine(addExample({ name }))}\n`).join("");
}

describe("vectors files", () => {
  it("are found in folders below, in order, gzipped or not, and nothing else is", async () => {
    await put("V1_1/b.jsonl.gz", lines("b1", "b2"));
    await put("V1_0/a.jsonl.gz", lines("a"));
    await put("V1_1/c.jsonl", lines("c"));
    await put("INDEX.json", "[]");
    await put("V1_0/README.md", "words");
    expect((await findVectorFiles(folder)).map(({ name }) => name)).toEqual([
      join("V1_0", "a.jsonl.gz"),
      join("V1_1", "b.jsonl.gz"),
      join("V1_1", "c.jsonl"),
    ]);
    expect(await namesIn(folder)).toEqual(["a", "b1", "b2", "c"]);
    expect(await namesIn(join(folder, "V1_1", "b.jsonl.gz"))).toEqual(["b1", "b2"]);
  });

  it("may end without a line feed and have empty lines", async () => {
    await put("a.jsonl.gz", `\n${lines("first")}\n${lines("last").trimEnd()}`);
    expect(await namesIn(folder)).toEqual(["first", "last"]);
    await put("a.jsonl.gz", "");
    expect(await namesIn(folder)).toEqual([]);
  });

  it("may have lines that are longer than what is read at once", async () => {
    const names = [1, 2, 3].map((digit) => String(digit).repeat(200_000));
    await put("a.jsonl.gz", lines(...names));
    expect(await namesIn(folder)).toEqual(names);
  });

  it("report progress by file", async () => {
    await put("a.jsonl.gz", lines("a1", "a2"));
    await put("b.jsonl.gz", lines("b"));
    const events: string[] = [];
    const examples = readVectorFiles(await findVectorFiles(folder), ({ name }) => events.push(`end of ${name}`));
    for await (const { name } of examples) events.push(name);
    expect(events).toEqual(["a1", "a2", "end of a.jsonl.gz", "b", "end of b.jsonl.gz"]);
  });

  it("name the file and the line of an error", async () => {
    await put("V1_0/a.jsonl.gz", `${lines("good")}${toLine(addExample({ name: "bad" })).replace('"bad"', "1")}\n`);
    await expect(namesIn(folder)).rejects.toThrow(`${join("V1_0", "a.jsonl.gz")}:2: name: expected a string, found 1`);
    await expect(namesIn(folder)).rejects.toBeInstanceOf(VectorFormatError);
  });

  it("name the file if it is not gzip, cut short, or gone", async () => {
    await put("a.jsonl.gz", Buffer.from(lines("plain text")));
    await expect(namesIn(folder)).rejects.toThrow(/^a\.jsonl\.gz: incorrect header check/);
    const whole = gzipSync(lines("a", "b", "c"));
    await put("a.jsonl.gz", whole.subarray(0, whole.length - 9));
    await expect(namesIn(folder)).rejects.toThrow(/^a\.jsonl\.gz: unexpected end of file/);
    const gone = { path: join(folder, "gone.jsonl.gz"), name: "gone.jsonl.gz", size: 1 };
    await expect(readVectorFile(gone).next()).rejects.toThrow(/^gone\.jsonl\.gz: ENOENT/);
    await expect(findVectorFiles(join(folder, "gone"))).rejects.toThrow(/ENOENT/);
  });

  it("are not read further than the longest line", async () => {
    await put("a.jsonl.gz", "x".repeat(3_000_000));
    const file = elementAt(await findVectorFiles(folder), 0);
    await expect(readVectorFile(file, 1_000_000).next()).rejects.toThrow(
      "a.jsonl.gz: a line is longer than 1000000 bytes",
    );
  });
});
