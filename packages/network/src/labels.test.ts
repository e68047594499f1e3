/**
 * The labels that are packed with a model: each file is read once, and what all of them hold is bounded.
 */
import type { ModelMetadata } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { createLabelFinder } from "./labels.ts";

const about = { name: "", description: "" };

/** A finder for outputs with a label file each, and what it reads and notes. `files`: the name for each output. */
function finderOf(files: readonly string[], contents: Readonly<Record<string, Uint8Array | string>>) {
  const metadata: ModelMetadata = {
    ...{ ...about, version: "", author: "", license: "", inputs: [], files: [] },
    outputs: files.map((name) => ({ ...about, files: [{ ...about, name, kind: "axis labels", locale: "" }] })),
  };
  const reads: [string, number][] = [];
  const notes: string[] = [];
  const read = (name: string, most: number) => {
    reads.push([name, most]);
    const content = contents[name];
    return typeof content === "string" ? new TextEncoder().encode(content) : content;
  };
  const outputNames = files.map((_, place) => `output${place}`);
  const find = createLabelFinder({ metadata, outputNames, read }, (note) => notes.push(note));
  return { reads, notes, namesOf: (place: number) => find({ name: `output${place}` })?.names };
}

describe("labels of outputs", () => {
  it("are those of the file that the metadata name", () => {
    const { namesOf, notes } = finderOf(["a", "b", "gone"], { a: "cat\ndog\n", b: "\ufeffone\r\ntwo" });
    expect([0, 1, 2, 3].map(namesOf)).toEqual([["cat", "dog"], ["one", "two"], undefined, undefined]);
    expect(notes).toEqual([]);
  });

  it("are read once from a file, however many outputs have it", () => {
    const count = 3000;
    const { namesOf, reads } = finderOf(
      Array.from({ length: count }, (_, place) => (place % 2 === 0 ? "a" : "gone")),
      { a: "cat\ndog" },
    );
    const all = Array.from({ length: count }, (_, place) => namesOf(place));
    expect(all.filter((names) => names === all[0])).toHaveLength(count / 2);
    expect(reads.map(([name]) => name)).toEqual(["a", "gone"]);
  });

  it("have at most 2^20 lines in all files together", () => {
    const lines = (count: number) => new Uint8Array(count - 1).fill(0x0a);
    const { namesOf, notes } = finderOf(["a", "b", "c", "d"], {
      a: lines(2 ** 20 - 2),
      b: lines(4),
      c: "x\ny",
      d: "z",
    });
    expect([0, 1, 2, 3].map((place) => namesOf(place)?.length)).toEqual([2 ** 20 - 3, undefined, 2, undefined]);
    expect(notes).toEqual(
      [
        ['"b"', 4],
        ['"d"', 1],
      ].map(
        ([name, count]) =>
          `labels that are packed with the model cannot be read: ${name} has ${count} lines; all label files of a model have at most 1048576`,
      ),
    );
  });

  it("may take what is left of 8 MiB", () => {
    const { namesOf, reads } = finderOf(["a", "b"], { a: "x".repeat(1000), b: "y" });
    namesOf(0);
    namesOf(1);
    expect(reads).toEqual([
      ["a", 2 ** 23],
      ["b", 2 ** 23 - 1000],
    ]);
  });
});
