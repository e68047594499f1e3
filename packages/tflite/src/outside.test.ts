import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileOf, tensorRow } from "./_hostile.test-helper.ts";
import { changeModel, oneOperator } from "./_model.test-helper.ts";
import { inspectTflite } from "./describe/inspect.ts";
import { TfliteError } from "./error.ts";
import { importTflite } from "./import/import.ts";
import type { TfliteExternal, TfliteModel, TfliteTensor } from "./model.ts";
import { hasExternalBuffers, tfliteNeeds } from "./outside.ts";
import type { TfliteOutside } from "./ranges.ts";
import { readTflite, tfliteIssues } from "./read.ts";
import type { ExternalBufferRow, ModelRow, TensorRow } from "./schema/tables.ts";
import { writeTflite } from "./write.ts";

const group = "weights.bin";
const plain = oneOperator("ADD", { x: { shape: [2] }, w: { shape: [2], data: [3, 4] } }, { y: { shape: [2] } });

/** The same model with its constant in another file. */
function external(place: Partial<TfliteExternal> = {}): TfliteModel {
  return changeModel(plain, ({ tensors }) => ({
    tensors: tensors.map(({ data, ...tensor }) =>
      data === undefined ? tensor : { ...tensor, external: { group, offset: 64, length: 8, ...place } },
    ),
  }));
}

/** The other file: two floats at byte 64. */
const weights = new Uint8Array(80);
new Float32Array(weights.buffer, 64, 2).set([3, 4]);
const outside: readonly TfliteOutside[] = [{ group, offset: 0, bytes: weights }];

function constantOf(model: TfliteModel): Uint8Array | undefined {
  return model.subgraphs[0]?.tensors.find(({ data }) => data !== undefined)?.data;
}

function problemOf(read: () => unknown): string {
  try {
    read();
    return "";
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    return error.message;
  }
}

describe("external buffers", () => {
  test("are views of what was given, and pools of the imported model", () => {
    const file = writeTflite(external());
    expect(hasExternalBuffers(file)).toBe(true);
    expect(tfliteNeeds(file)).toEqual({ start: file.length, ranges: [{ group, offset: 64, length: 8 }] });
    const data = constantOf(readTflite(file, { outside }));
    expect(data).toEqual(weights.subarray(64, 72));
    expect(data?.buffer).toBe(weights.buffer);
    const { model } = importTflite(file, { outside });
    expect(model.pools).toHaveLength(1);
    expect(model.pools[0]?.handle).toHaveProperty("buffer", weights.buffer);
    const again = importTflite(readTflite(file, { outside })).model;
    expect(again.pools[0]?.handle).toHaveProperty("buffer", weights.buffer);
    expect(tfliteIssues(file, undefined, { outside })).toEqual([]);
    expect(inspectTflite(file, { outside })).toMatchObject({ problemCount: 0, constants: { count: 1, bytes: 8 } });
  });

  test("are found in a part of a file, also in memory that the model lies in", () => {
    const file = writeTflite(external());
    const memory = new Uint8Array(file.length + 32);
    memory.set(file);
    memory.set(weights.subarray(60, 80), file.length);
    const part = { group, offset: 60, bytes: memory.subarray(file.length, file.length + 20) };
    const { model } = importTflite(memory.subarray(0, file.length), { outside: [part] });
    const pool = elementAt(model.pools, 0).handle;
    expect(pool).toMatchObject({ kind: "buffer", byteOffset: file.length + 4 });
    expect(model.main.operands[1]?.location).toEqual({ poolIndex: 0, offset: 0, length: 8 });
  });

  test("are written where they are, each range once", () => {
    const file = writeTflite(external());
    const read = readTflite(file, { outside });
    expect(readTflite(writeTflite(read), { outside })).toEqual(read);
    expect(file.length).toBeLessThan(writeTflite(read).length + 1);
  });

  test("in files of no constants, or of others, are none", () => {
    expect(hasExternalBuffers(writeTflite(plain))).toBe(false);
    expect(hasExternalBuffers(new Uint8Array(0))).toBe(false);
    expect(hasExternalBuffers(new Uint8Array([255, 255, 255, 255, 1, 2, 3, 4]))).toBe(false);
    expect(tfliteNeeds(writeTflite(plain)).ranges).toEqual([]);
  });

  test("that were not given are named", () => {
    const file = writeTflite(external());
    expect(problemOf(() => readTflite(file))).toBe(
      'subgraphs[0].tensors[1]: its bytes are in the external buffers "weights.bin", which were not given',
    );
    const others = [{ group: "others.bin", offset: 0, bytes: weights }];
    expect(problemOf(() => readTflite(file, { outside: others }))).toMatch("which were not given");
  });

  test.each([
    [{ offset: 72, length: 8 }, ""],
    [{ offset: 73, length: 8 }, '8 bytes at 73 lie outside what was given of "weights.bin", which ends at 80'],
    [{ offset: 2 ** 52, length: 8 }, "which ends at 80"],
    [{ offset: 2 ** 53 - 4, length: 8 }, "are in no file"],
  ])("at %j lie in the file, or are refused", (place, message) => {
    const file = writeTflite(external(place));
    const problem = problemOf(() => readTflite(file, { outside }));
    if (message === "") expect(problem).toBe("");
    else expect(problem).toMatch(message);
  });

  test("before the part that was given are refused", () => {
    const part = [{ group, offset: 65, bytes: weights.subarray(65) }];
    expect(problemOf(() => readTflite(writeTflite(external()), { outside: part }))).toMatch(
      "8 bytes at 64 lie outside",
    );
  });

  test("of the wrong size for the tensor are refused as other constants are", () => {
    const { problems } = inspectTflite(writeTflite(external({ length: 4 })), { outside });
    expect(problems).not.toEqual([]);
  });
});

describe("rows of external buffers", () => {
  const buffer: ExternalBufferRow = { id: 7, group: 0, offset: 64, length: 8, packing: "unpacked" };
  const good: Partial<ModelRow> = { externalBufferGroups: [{ name: group }], externalBuffers: [buffer] };
  const file = (row: Partial<ModelRow> = {}, tensor: Partial<TensorRow> = {}) =>
    fileOf({
      buffers: [{ data: undefined, offset: 0, size: 0 }],
      subgraphs: [
        {
          tensors: [{ ...tensorRow, externalBuffer: 7, ...tensor }],
          ...{ inputs: [], outputs: [0], operators: [], name: undefined },
        },
      ],
      ...good,
      ...row,
    });
  const problem = (row: Partial<ModelRow>, tensor: Partial<TensorRow> = {}) => {
    const bytes = file(row, tensor);
    const read = problemOf(() => readTflite(bytes, { outside }));
    const needs = problemOf(() => tfliteNeeds(bytes));
    return { read, needs };
  };

  test("that are right are read", () => {
    expect(problem({})).toEqual({ read: "", needs: "" });
    expect(problem({ externalBuffers: [{ ...buffer, packing: undefined }] })).toEqual({ read: "", needs: "" });
    expect(problem({ externalBuffers: [{ ...buffer, packing: "" }] }).read).toBe("");
    expect(problem({ externalBuffers: [{ ...buffer, length: 0 }] })).toEqual({ read: "", needs: "" });
  });

  test.each([
    ["an unknown id", {}, { externalBuffer: 8 }, "there is no external buffer with the id 8"],
    ["no list", { externalBuffers: undefined }, {}, "there is no external buffer with the id 7"],
    ["an id twice", { externalBuffers: [buffer, buffer] }, {}, "another one has the id 7, too"],
    ["the id 0", { externalBuffers: [buffer, { ...buffer, id: 0 }] }, {}, "its id is 0, which means none"],
    [
      "a missing group",
      { externalBuffers: [{ ...buffer, group: 1 }] },
      {},
      "there is no external buffer group 1; the file has 1",
    ],
    [
      "an unknown packing",
      { externalBuffers: [{ ...buffer, packing: "zstd" }] },
      {},
      'expected "unpacked", got "zstd"',
    ],
  ])("with %s are refused", (_, row, tensor, message) => {
    const { read, needs } = problem(row, tensor);
    expect(read).toMatch(message);
    expect(needs).toMatch(message);
  });

  test("with a buffer, too, are refused", () => {
    const buffers = [0, 1].map((size) => ({ data: new Uint8Array(8 * size), offset: 0, size: 0 }));
    expect(problem({ buffers }, { buffer: 1 }).read).toMatch("it has both the buffer 1 and an external buffer");
  });

  test("that are out of range are issues", () => {
    expect(tfliteIssues(file({}, { externalBuffer: 8 }))).toMatchObject([
      { path: "subgraphs[0].tensors[0].externalBuffer" },
    ]);
  });
});

describe("a large file", () => {
  /** A model whose constant lies behind the FlatBuffer, at this place of the file. */
  const behind = (offset: number, size = 8) =>
    fileOf({
      buffers: [
        { data: undefined, offset: 0, size: 0 },
        { data: undefined, offset, size },
      ],
      subgraphs: [{ tensors: [{ ...tensorRow, buffer: 1 }], inputs: [], outputs: [0], operators: [], name: undefined }],
    });

  test("needs what lies behind its start", () => {
    const offset = 2 ** 31 + 64;
    const start = behind(offset);
    expect(tfliteNeeds(start, offset + 8).ranges).toEqual([{ offset, length: 8 }]);
    const data = constantOf(readTflite(start, { outside: [{ offset, bytes: weights.subarray(64, 72) }] }));
    expect(data).toEqual(weights.subarray(64, 72));
    const read = readTflite(start, { outside: [{ offset, bytes: weights.subarray(64, 72) }] });
    expect(read.subgraphs[0]?.tensors[0]?.external).toEqual({ offset, length: 8 });
    expect(tfliteNeeds(writeTflite(read), offset + 8).ranges).toEqual([{ offset, length: 8 }]);
    expect(problemOf(() => tfliteNeeds(start, offset + 7))).toMatch("lie outside the file of");
    expect(problemOf(() => readTflite(start))).toMatch("lie outside the file of");
    expect(problemOf(() => readTflite(start, { outside }))).toMatch("lie outside what was given of the file");
  });

  test("needs more of its start until the FlatBuffer is whole", () => {
    const whole = writeTflite(plain);
    let end = 8;
    let steps = 0;
    for (; end < whole.length; steps++) {
      const { start, ranges } = tfliteNeeds(whole.subarray(0, end), whole.length);
      if (start === end) break;
      expect(start).toBeGreaterThan(end);
      expect(ranges).toEqual([]);
      end = start;
    }
    expect(steps).toBeGreaterThan(1);
    expect(tfliteNeeds(whole.subarray(0, end), whole.length)).toEqual({ start: end, ranges: [] });
  });

  test("with offsets that are broken is refused, and no more is asked for than there is", () => {
    const whole = writeTflite(external());
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.nat(255),
        fc.integer({ min: 8, max: whole.length }),
        (at, value, end) => {
          const broken = whole.slice();
          broken[at] = value;
          try {
            const { start } = tfliteNeeds(broken.subarray(0, end), whole.length);
            expect(start).toBeLessThanOrEqual(whole.length);
          } catch (error) {
            expect(error).toBeInstanceOf(TfliteError);
          }
        },
      ),
    );
  });
});

test("ranges that overlap are one", () => {
  const places = [
    [0, 8],
    [4, 8],
    [12, 4],
    [20, 4],
    [20, 4],
  ];
  const tensors = places.map(([offset = 0, length = 0], i): TfliteTensor => {
    const place = { group: i === 3 ? "a" : "b", offset, length };
    return { name: "t", shape: [length / 4], type: "FLOAT32", isVariable: false, external: place };
  });
  const model = changeModel(plain, () => ({ tensors, inputs: [], outputs: [0], operators: [] }));
  expect(tfliteNeeds(writeTflite(model)).ranges).toEqual([
    { group: "b", offset: 0, length: 12 },
    { group: "b", offset: 12, length: 4 },
    { group: "b", offset: 20, length: 4 },
    { group: "a", offset: 20, length: 4 },
  ]);
});

test("the option is checked", () => {
  const file = writeTflite(external());
  // Callers without types can give anything.
  for (const wrong of [3, [3], [{ group, bytes: weights }], [{ group: 3, offset: 0, bytes: weights }], [{ offset: 0 }]])
    expect(problemOf(() => readTflite(file, { outside: wrong as never }))).toMatch("options.outside: expected a list");
});
