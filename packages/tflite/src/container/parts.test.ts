import { LITERTLM_BLOCK as BLOCK, litertlm } from "@nnhal/test-kit/litertlm";
import { withFiles } from "@nnhal/test-kit/packed-files";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { oneOperator } from "../_model.test-helper.ts";
import { TfliteError } from "../error.ts";
import { readTflite } from "../read.ts";
import { writeTflite } from "../write.ts";
import { mayHaveParts, type TfliteContainer } from "./part.ts";
import { tfliteParts } from "./parts.ts";

const model = writeTflite(oneOperator("ABS", { x: { shape: [2] } }, { y: { shape: [2] } }));
/** Bytes that do not become smaller when they are compressed. */
const noise = Uint8Array.from({ length: 64 }, (_, i) => (i * 167 + 13) % 256);
const nothing = new Uint8Array(0);
const packed = { "model.tflite": model, "labels.txt": noise };
const task = withFiles(nothing, packed);
const nested = withFiles(nothing, { "inner.task": task, "other.tflite": model });

const language = litertlm([
  { type: 5, content: Uint8Array.of(1, 2) },
  { type: 3, content: model, model: "prefill" },
  { type: 7, content: noise, model: "prefill" },
  { type: 3, content: model },
  { type: 4, content: noise },
  { type: 99, content: noise },
  { type: 3, content: model },
]);

/** Summary of parts, for comparison. */
async function list(file: Uint8Array) {
  return (await tfliteParts(file)).map(({ read: _, ...part }) => part);
}

async function reasonOf(file: Uint8Array | TfliteContainer): Promise<string> {
  const error = await tfliteParts(file).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TfliteError);
  return String(error);
}

/** Lists all parts and reads them. Only a TfliteError may be thrown. */
async function readAll(file: Uint8Array): Promise<boolean> {
  try {
    for (const part of await tfliteParts(file)) expect(await part.read()).toHaveLength(part.size);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(TfliteError);
    return false;
  }
}

describe("parts of a zip archive", () => {
  test("are its entries, stored or compressed", async () => {
    const [first, second] = await tfliteParts(task);
    expect(first).toMatchObject({ name: "model.tflite", type: "model", size: model.length });
    expect(first?.packedSize).toBeLessThan(model.length);
    expect(await first?.read()).toEqual(model);
    expect(second).toMatchObject({ name: "labels.txt", type: "file", size: noise.length });
    expect(second).not.toHaveProperty("packedSize");
    const at = second?.offset ?? 0;
    expect(task.subarray(at, at + noise.length)).toEqual(noise);
    expect(readTflite((await first?.read()) ?? nothing).subgraphs).toHaveLength(1);
  });

  test("are those of archives in it, with the path to them", async () => {
    const parts = await list(nested);
    expect(parts.map(({ name, type }) => [name, type])).toEqual([
      ["inner.task/model.tflite", "model"],
      ["inner.task/labels.txt", "file"],
      ["other.tflite", "model"],
    ]);
    for (const part of await tfliteParts(nested))
      expect(await part.read()).toEqual(part.type === "model" ? model : noise);
  });

  test("have places in the container unless they lie in a compressed archive", async () => {
    const inner = withFiles(nothing, { noise });
    const stored = withFiles(nothing, { "inner.task": { content: inner, isStored: true } });
    const at = (await list(stored))[0]?.offset ?? 0;
    expect(stored.subarray(at, at + noise.length)).toEqual(noise);
    const compressed = withFiles(nothing, { "inner.task": inner });
    expect((await list(compressed))[0]).not.toHaveProperty("offset");
  });

  test("have names of their own", async () => {
    const twice = withFiles(nothing, { "a.bin": noise, "b.bin": noise });
    const bytes = Uint8Array.from(twice, (byte, i) => (byte === 0x62 && twice[i + 1] === 0x2e ? 0x61 : byte));
    expect((await list(bytes)).map(({ name }) => name)).toEqual(["a.bin", "a.bin#2"]);
  });

  test("are refused in more archives than three, and beyond 1000 entries", async () => {
    const deep = (depth: number): Uint8Array => (depth === 0 ? noise : withFiles(nothing, { a: deep(depth - 1) }));
    expect((await list(deep(3))).map(({ name }) => name)).toEqual(["a/a/a"]);
    expect(await reasonOf(deep(4))).toContain('part "a/a/a": it is an archive in 3 others');
    const many = (count: number) =>
      withFiles(nothing, Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`, nothing])));
    expect(await list(many(1000))).toHaveLength(1000);
    expect(await reasonOf(many(1001))).toContain("1001, more than 1000");
    expect(await reasonOf(withFiles(nothing, { a: many(600), b: many(600) }))).toContain("more than 1000 entries");
  });

  test("are refused with a size that compressed bytes cannot become", async () => {
    const zeros = new Uint8Array(100);
    const bomb = withFiles(nothing, { zeros: { content: zeros, claimedSize: 2 ** 31 } });
    const [part] = await tfliteParts(bomb);
    await expect(part?.read()).rejects.toThrow(/^part "zeros": 2147483648 bytes are more than the most of \d+ packed/);
    const archive = withFiles(nothing, { "a.zip": { content: task, claimedSize: 2 ** 29 } });
    expect(await reasonOf(archive)).toMatch(/a\.zip/);
  });

  test("are refused outside of the file", async () => {
    expect(await reasonOf(task.subarray(0, task.length - 1))).toContain("they may be cut");
    expect(await reasonOf(task.subarray(1))).toContain("neither a zip archive nor a .litertlm file");
    const bytes = task.slice();
    new DataView(bytes.buffer).setUint32(bytes.length - 6, bytes.length, true);
    expect(await reasonOf(bytes)).toContain("lies outside");
  });
});

describe("parts of a .litertlm file", () => {
  test("are its sections, named by their model or their kind", async () => {
    expect(await list(language)).toEqual([
      { name: "llm-metadata", type: "llm-metadata", size: 2, offset: BLOCK },
      { name: "prefill", type: "model", size: model.length, offset: 2 * BLOCK },
      { name: "prefill.weights", type: "weights", size: noise.length, offset: 3 * BLOCK },
      { name: "model", type: "model", size: model.length, offset: 4 * BLOCK },
      { name: "tokenizer", type: "tokenizer", size: noise.length, offset: 5 * BLOCK },
      { name: "type-99", type: "type-99", size: noise.length, offset: 6 * BLOCK },
      { name: "model#2", type: "model", size: model.length, offset: 7 * BLOCK },
    ]);
    for (const part of await tfliteParts(language)) {
      if (part.type === "model") expect(await part.read()).toEqual(model);
    }
  });

  test("are read by range, also above 4 GiB", async () => {
    const far = 2 ** 33;
    const start = litertlm([{ type: 3, content: model }], {
      change: (ranges) => {
        ranges[0] = [far, far + model.length];
      },
    });
    const reads: [number, number][] = [];
    const container = {
      size: far + model.length,
      async read(from: number, length: number) {
        reads.push([from, length]);
        return from >= far ? model.subarray(from - far, from - far + length) : start.subarray(from, from + length);
      },
    };
    const [part] = await tfliteParts(container);
    expect(Math.max(...reads.map(([from, length]) => from + length))).toBeLessThan(BLOCK);
    expect(part?.offset).toBe(far);
    expect(await part?.read()).toEqual(model);
  });

  test("are refused outside of the file, in disorder, and within one another", async () => {
    const two = [
      { type: 3, content: model },
      { type: 3, content: model },
    ];
    const move = (begin: number, end: number) =>
      litertlm(two, {
        change: (ranges) => {
          ranges[1] = [begin, end];
        },
      });
    const size = 3 * BLOCK;
    expect(await list(move(2 * BLOCK, size))).toHaveLength(2);
    expect(await reasonOf(move(2 * BLOCK, size + 1))).toContain(`sections[1]: bytes 32768 to ${size + 1} lie outside`);
    expect(await reasonOf(move(2 * BLOCK, 2 * BLOCK - 1))).toContain("sections[1]");
    expect(await reasonOf(move(0, 100))).toContain("sections[1]: bytes 0 to 100 lie outside");
    expect(await list(move(BLOCK + model.length, size))).toHaveLength(2);
    expect(await reasonOf(move(BLOCK + model.length - 1, size))).toContain("within the part before it");
  });

  test("of another version, and more than 1000, are refused", async () => {
    const other = language.slice();
    other[8] = 2;
    expect(await reasonOf(other)).toContain("version 2 of the form is not supported, only 1");
    const many = (count: number) =>
      litertlm(
        Array.from({ length: count }, () => ({ type: 1, content: nothing })),
        { block: 64 },
      );
    expect(await list(many(1000))).toHaveLength(1000);
    expect(await reasonOf(many(1001))).toContain("it lists 1001 sections, more than 1000");
  });
});

describe("a container", () => {
  test("is known by its first bytes", () => {
    expect([task, language, model, nothing].map(mayHaveParts)).toEqual([true, true, false, false]);
  });

  test.each([undefined, null, "a.task"])("given as %j is refused", async (file) => {
    // A program in JavaScript may give anything.
    expect(await reasonOf(file as unknown as Uint8Array)).toContain("tfliteParts needs the bytes of a file");
  });

  test("that is cut anywhere is read or refused", async () => {
    for (const file of [task, nested]) {
      for (let length = 0; length < file.length; length++) expect(await readAll(file.subarray(0, length))).toBe(false);
    }
    for (let length = 0; length < 1200; length++) expect(await readAll(language.subarray(0, length))).toBe(false);
  });

  test("with other bytes is read or refused", async () => {
    const change = fc.tuple(fc.constantFrom(task, nested, language), fc.nat(1200), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(change, async ([file, at, value]) => {
        const bytes = file.slice();
        bytes[at % bytes.length] = value;
        await readAll(bytes);
      }),
      { numRuns: 500 },
    );
  });
});
