/**
 * Counts the reads of a model's bytes: its tables once for a model that runs, and once for all that programs ask about a file.
 */
import { importTflite, readTflite } from "@nnhal/tflite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { describeKnown } from "./known-outputs.ts";
import { load } from "./load.ts";
import { addingModel } from "./models.test-helper.ts";
import { findPackedLabels } from "./packed-labels.ts";
import { textValues } from "./text-values.ts";
import { type GivenTextModel, textModel, tokenizerUnits } from "./tokenize/packed.test-helper.ts";

const reviews: GivenTextModel = {
  inputs: ["ids"],
  length: 0,
  table: [
    [0, 0],
    [1, 2],
  ],
  unit: tokenizerUnits.regex("[^a-z]+", "vocab.txt"),
  files: { "vocab.txt": new TextEncoder().encode("<PAD> 0\n<START> 1\n<UNKNOWN> 2\ngood 1\n") },
};

/** The file whose reads are counted. */
let file: Uint8Array = new Uint8Array(0);
let reads = 0;

/** `load` looks at one field of the root table, for constants outside of the file, before it reads the tables. */
const LOOKS = 1;

/** Views count reads of the position of a file's root table, with which each read of the tables begins. */
const WatchedView = new Proxy(DataView, {
  construct(target, [buffer, offset, length]: ConstructorParameters<typeof DataView>) {
    const view = new target(buffer, offset, length);
    if (buffer !== file.buffer || offset !== file.byteOffset) return view;
    const getUint32 = view.getUint32.bind(view);
    view.getUint32 = (at, isLittle) => {
      if (at === 0) reads++;
      return getUint32(at, isLittle);
    };
    return view;
  },
});

const watch = (bytes: Uint8Array) => {
  file = bytes;
  reads = 0;
  return bytes;
};

beforeAll(() => void vi.stubGlobal("DataView", WatchedView));
afterAll(() => void vi.unstubAllGlobals());

describe("the tables of a file are read once", () => {
  it("counts reads of bytes, and no imports of a file that was read", () => {
    const bytes = watch(addingModel());
    const content = readTflite(bytes);
    importTflite(content);
    expect(reads).toBe(1);
    importTflite(bytes);
    expect(reads).toBe(2);
  });

  it("by load, whatever is then asked of the model", async () => {
    const bytes = watch(addingModel());
    const model = await load(bytes, { engines: [] });
    await model.run({ left: [1, 2, 3, 4], right: [1, 2, 3, 4] });
    await model.explain();
    await model.profile({ runs: 1 });
    await model.close();
    expect(reads - LOOKS).toBe(1);
  });

  it("by load of a model with metadata and an input without elements, which is imported again", async () => {
    const bytes = watch(textModel(reviews));
    const model = await load(bytes, { engines: [], dynamicShapes: true });
    const { scores } = await model.run({ data: new Int32Array(0), shape: [1, 0] });
    expect(scores?.shape).toEqual([1, 2]);
    await model.close();
    expect(reads - LOOKS).toBe(1);
  });

  it("by programs, for all that they ask about the file", async () => {
    const bytes = watch(textModel({ ...reviews, length: 4 }));
    const read = { bytes, content: readTflite(bytes) };
    const imported = importTflite(read.content);
    const ignore = () => {};
    findPackedLabels(read, ignore)({ name: "out" });
    await describeKnown(read, imported, ignore);
    await textValues(read, imported, "good");
    expect(reads).toBe(1);
  });
});
