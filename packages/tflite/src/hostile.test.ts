import { elementAt } from "@nnhal/operations";
import { everyFault } from "@nnhal/test-kit/samples";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { realModels } from "./_files.test-helper.ts";
import { attempt, subgraphFile, tensorRow } from "./_hostile.test-helper.ts";
import { metadataBlock } from "./_metadata.test-helper.ts";
import { modelOf } from "./_model.test-helper.ts";
import { importTflite } from "./import/import.ts";
import { readTflite } from "./read.ts";
import { MODEL_METADATA_NAME } from "./schema/metadata.ts";
import type { TensorRow } from "./schema/tables.ts";
import { writeTflite } from "./write.ts";

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

// A convolution with a scale per channel, a layer without bias, state, control flow, options with vectors.
const f = { type: "FLOAT32", shape: [1, 2] } as const;
const one = { type: "FLOAT32", shape: [1, 1] } as const;
const q8 = { type: "INT8", shape: [1, 1, 1, 2], scale: 0.5 } as const;
const small = writeTflite({
  ...modelOf(
    {
      tensors: {
        x: { ...q8, shapeSignature: [-1, 1, 1, 2] },
        w: { type: "INT8", shape: [2, 1, 1, 2], data: [1, 2, 3, 4], scale: [0.5, 1], zeroPoint: [0, 0] },
        c: q8,
        d: { type: "FLOAT32", shape: [1, 1, 1, 2] },
        s: f,
        // The second element alone is stored.
        v: {
          type: "FLOAT32",
          shape: [1, 2],
          data: [2],
          sparsity: {
            traversalOrder: [0, 1],
            blockMap: [],
            dimensions: [{ size: 1 }, { segments: [0, 1], indexes: [1] }],
          },
        },
        l: one,
        r: { ...one, data: [0.5] },
        b: { type: "FLOAT32", shape: [1], data: [0.5] },
        h: { ...one, isVariable: true },
        n: one,
        flag: { type: "BOOL", shape: [1] },
        y: one,
      },
      operators: [
        {
          name: "CONV_2D",
          inputs: ["x", "w"],
          outputs: ["c"],
          options: { padding: "VALID", strideW: 1, strideH: 1 },
          version: 3,
        },
        { name: "DEQUANTIZE", inputs: ["c"], outputs: ["d"], version: 2 },
        { name: "SQUEEZE", inputs: ["d"], outputs: ["s"], options: { squeezeDims: [1, 2] } },
        {
          name: "FULLY_CONNECTED",
          inputs: ["s", "v", ""],
          outputs: ["l"],
          options: { keepNumDims: false },
          version: 6,
        },
        {
          name: "RNN",
          inputs: ["l", "r", "r", "b", "h"],
          outputs: ["n"],
          options: { fusedActivationFunction: "RELU" },
        },
        { name: "IF", inputs: ["flag", "n"], outputs: ["y"], options: { thenSubgraphIndex: 1, elseSubgraphIndex: 1 } },
      ],
      inputs: ["x", "flag"],
      outputs: ["y"],
    },
    {
      tensors: { a: one, b: one },
      operators: [{ name: "EXP", inputs: ["a"], outputs: ["b"] }],
      inputs: ["a"],
      outputs: ["b"],
    },
  ),
  metadata: [{ name: MODEL_METADATA_NAME, data: metadataBlock({ files: [{ name: "labels.txt", type: 2 }] }) }],
  signatures: [
    { key: "serving", subgraph: 0, inputs: [{ name: "in", tensor: 0 }], outputs: [{ name: "out", tensor: 12 }] },
  ],
});

// Tens of thousands of files are imported: a busy machine takes minutes.
describe("a broken file results in one TfliteError", { timeout: 300_000 }, () => {
  test("the file that the others are made from is fine", () => {
    expect(attempt(small)).toBe("fine");
    expect(attempt(small, { signature: "serving" })).toBe("fine");
    expect(importTflite(small).operators.map(({ name }) => name)).toEqual([
      "CONV_2D",
      "DEQUANTIZE",
      "SQUEEZE",
      "FULLY_CONNECTED",
      "RNN",
      "IF",
    ]);
  });

  test("at every length", () => {
    for (let length = 0; length < small.length; length++) expect(attempt(small.slice(0, length))).not.toBe("fine");
  });

  // Of the changes to a place one in three runs, in turn; with NNHAL_FAULTS=all each.
  const isDue = (place: number, change: number) => everyFault || (place + change) % 3 === 0;

  test.each([0x00, 0x01, 0x7f, 0x80, 0xff].map((value, change) => [value, change] as const))(
    "with any byte replaced by %d, or changed by it",
    (value, change) => {
      for (let at = 0; at < small.length; at++) {
        if (!isDue(at, change)) continue;
        const old = elementAt(small, at);
        for (const byte of new Set([value, old ^ value])) {
          if (byte === old) continue;
          const bytes = small.slice();
          bytes[at] = byte;
          attempt(bytes);
        }
      }
    },
  );

  // These lie at multiples of 4; bytes between two of them are changed by the tests around this one.
  test("with any length or offset replaced by another", () => {
    const values = [0xffff_ffff, 0x7fff_ffff, 0x8000_0000, 0x1000_0000, small.length, 4, 1];
    for (const [change, value] of values.entries()) {
      for (let at = 0; at + 4 <= small.length; at += 4) {
        if (!isDue(at / 4, change)) continue;
        const bytes = small.slice();
        new DataView(bytes.buffer).setUint32(at, value, true);
        attempt(bytes);
      }
    }
  });

  test("with several bytes changed", () => {
    const change = fc.tuple(fc.nat(small.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 2, maxLength: 12 }), (changes) => {
        const bytes = small.slice();
        for (const [at, value] of changes) bytes[at] = value;
        attempt(bytes, { signature: "serving" });
      }),
      { numRuns: everyFault ? 2000 : 500 },
    );
  });

  test("made of any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (rest) => {
        attempt(rest);
        attempt(Uint8Array.of(...[8, 0, 0, 0], ...new TextEncoder().encode("TFL3"), ...rest));
      }),
      { numRuns: everyFault ? 1000 : 250 },
    );
  });
});

describe("messages name the defect", () => {
  const breakIt = (at: number, ...values: readonly number[]) => {
    const bytes = small.slice();
    bytes.set(values, at);
    return bytes;
  };
  const root = new DataView(small.buffer).getUint32(0, true);

  test.each([
    [new Uint8Array(0), "a .tflite file has at least 8 bytes, this one has 0"],
    [small.slice(0, 7), "a .tflite file has at least 8 bytes, this one has 7"],
    [small.slice(0, 8), `model: bytes ${root} to ${root + 4} lie outside the file of 8 bytes`],
    [
      new TextEncoder().encode("PK\x03\x04 a zip file"),
      'bytes 4 to 8 of a .tflite file are "TFL3", here they are " a z"',
    ],
    [breakIt(0, 0, 0, 0, 0), "model: an offset is 0"],
    [
      breakIt(root, 0, 0, 0, 0x80),
      `model: bytes ${root + 2 ** 31} to ${root + 2 ** 31 + 4} lie outside the file of ${small.length} bytes`,
    ],
    [breakIt(root, 0xff, 0xff, 0xff, 0x7f), "lie outside the file"],
  ])("%#", (bytes, message) => {
    expect(attempt(bytes)).toContain(message);
  });

  test("bytes that are not a file", () => {
    expect(() => readTflite([] as never)).toThrow(
      "readTflite needs the bytes of a file as a Uint8Array or ArrayBuffer, not an array",
    );
  });
});

describe("a small file cannot cause much work", () => {
  /** Replaces each element of the vector at `count` by a reference to the target of its first. */
  function shareAll(bytes: Uint8Array, vector: number): Uint8Array {
    const view = new DataView(bytes.buffer);
    const target = vector + 4 + view.getUint32(vector + 4, true);
    for (let i = 0; i < view.getUint32(vector, true); i++)
      view.setUint32(vector + 4 + 4 * i, target - (vector + 4 + 4 * i), true);
    return bytes;
  }

  test("many elements that are one table", () => {
    const count = 1000;
    // Tensors whose shapes are long, so that what each costs to read is much more than its place in the vector.
    const long = { ...tensorRow, shape: new Array<number>(100).fill(1) };
    const tensors = [
      long,
      ...new Array<TensorRow>(count - 1).fill({ ...tensorRow, shape: undefined, name: undefined }),
    ];
    const bytes = subgraphFile({ tensors, operators: undefined, inputs: undefined, outputs: undefined });
    const view = new DataView(bytes.buffer);
    const vector = Array.from({ length: bytes.length / 4 - 1 }, (_, i) => 4 * i).find(
      (at) => view.getUint32(at, true) === count,
    );
    if (vector === undefined) throw new TypeError("the vector of tensors was not found");
    expect(attempt(bytes.slice())).not.toContain("overlap");
    expect(attempt(shareAll(bytes, vector))).toMatch(
      /tensors\[\d+\].*: parts of the file overlap: reading them takes more than 4 passes/,
    );
  });

  test.each([0xffff_ffff, 0x4000_0000, 100_000])("a vector with %d elements by its own count", (count) => {
    const bytes = subgraphFile({ inputs: [0, 1, 0, 1, 0, 1, 0] });
    const view = new DataView(bytes.buffer);
    const at = Array.from({ length: bytes.length / 4 - 1 }, (_, i) => 4 * i).find(
      (place) => view.getUint32(place, true) === 7,
    );
    if (at === undefined) throw new TypeError("the vector of inputs was not found");
    view.setUint32(at, count, true);
    expect(attempt(bytes)).toContain(
      `subgraphs[0].inputs: a vector of ${count} elements of 4 bytes does not fit in the file`,
    );
  });
});

if (realModels.length > 0)
  describe("real models", () => {
    test.each(realModels)("$name cut anywhere", ({ bytes }) => {
      const next = random(1);
      for (let i = 0; i < 40; i++) {
        const length = Math.floor(next() * (i % 2 === 0 ? Math.min(bytes.length, 4096) : bytes.length));
        attempt(bytes.subarray(0, length));
      }
    });

    test.each(realModels)("$name with bytes changed", ({ bytes }) => {
      const next = random(2);
      const copy = bytes.slice();
      // Of the whole file most is weights, of which any bytes are right.
      for (let i = 0; i < 36; i++) {
        const at = Math.floor(next() * (i % 6 < 5 ? Math.min(copy.length, 20_000) : copy.length));
        const before = elementAt(copy, at);
        copy[at] = Math.floor(next() * 256);
        attempt(copy);
        copy[at] = before;
      }
    });
  });
