/**
 * Broken files with the rarer parts of the schema: packed and sparse constants in blocks, quantisation by blocks, constants behind the
 * FlatBuffer and in other files, several signatures, metadata of every kind, custom options.
 */
import { elementAt } from "@nnhal/operations";
import { everyFault } from "@nnhal/test-kit/samples";
import { describe, expect, test } from "vitest";
import { attempt, fileOf, operatorRow, subgraphFile, tensorRow } from "./_hostile.test-helper.ts";
import { modelOf, ofOperators } from "./_model.test-helper.ts";
import { readTflite } from "./read.ts";
import type { ModelRow } from "./schema/tables.ts";
import { writeTflite } from "./write.ts";

const shape = [2, 4];
const int4 = { scale: [0.5], zeroPoint: [0], quantizedDimension: 0 };
const base = modelOf({
  tensors: {
    x: { shape },
    blocks: { shape },
    nibbles: { type: "INT4", shape },
    wide: { shape },
    sum: { shape },
    y: { shape },
  },
  operators: [
    { name: "DEQUANTIZE", inputs: ["nibbles"], outputs: ["wide"] },
    { name: "ADD", inputs: ["x", "blocks"], outputs: ["sum"] },
    { name: "ADD", inputs: ["sum", "wide"], outputs: ["y"] },
  ],
  inputs: ["x"],
  outputs: ["y"],
});
const [main] = base.subgraphs;
const change: Readonly<Record<string, object>> = {
  blocks: {
    data: new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer),
    sparsity: {
      traversalOrder: [0, 1, 3, 2],
      blockMap: [0, 1],
      dimensions: [{ size: 1 }, { segments: [0, 1], indexes: [1] }, { size: 2 }, { size: 2 }],
    },
  },
  nibbles: { data: Uint8Array.of(0x21, 0x43, 0x65, 0x07), quantization: int4 },
};
const named = (name: string, tensor: number) => [{ name, tensor }];

/** Blocks, nibbles, two signatures of one subgraph, and what converters keep in metadata: control dependencies, places in sources. */
const written = writeTflite({
  ...base,
  subgraphs:
    main === undefined ? [] : [{ ...main, tensors: main.tensors.map((each) => ({ ...each, ...change[each.name] })) }],
  metadata: [
    { name: "model_control_dependencies", data: Uint8Array.of(1, 2, 0, 1) },
    { name: "DEBUG_METADATA", data: Uint8Array.of(12, 0, 0, 0, 8, 0, 8, 0, 4, 0, 0, 0, 4, 0, 0, 0) },
    { name: "min_runtime_version", data: new TextEncoder().encode("1.14.0\0\0") },
  ],
  signatures: [
    { key: "plain", subgraph: 0, inputs: named("in", 0), outputs: named("out", 5) },
    { key: "again", subgraph: 0, inputs: named("of", 0), outputs: named("to", 5) },
  ],
});

/** Constants and custom options that lie behind the FlatBuffer. */
function behind(): Uint8Array {
  const rows = (offset: number): Partial<ModelRow> => ({
    buffers: [
      { data: undefined, offset: 0, size: 0 },
      { data: undefined, offset, size: 8 },
    ],
  });
  const constant = { ...tensorRow, buffer: 1, name: "c" };
  const file = (offset: number) =>
    subgraphFile(
      {
        tensors: [tensorRow, tensorRow, constant],
        operators: [{ ...operatorRow, inputs: [0, 2], largeCustomOptionsOffset: offset, largeCustomOptionsSize: 4 }],
      },
      {
        operatorCodes: [{ deprecatedBuiltinCode: 0, customCode: undefined, version: 1, builtinCode: 0 }],
        ...rows(offset),
      },
    );
  const offset = 16 * Math.ceil(file(1024).length / 16);
  const whole = new Uint8Array(offset + 8);
  whole.set(file(offset));
  whole.set(new Uint8Array(Float32Array.of(1, 2).buffer), offset);
  return whole;
}

const blocks = { scales: 2, zeroPoints: -1, blockSize: 2 };
const withBlocks = writeTflite(
  ofOperators(
    {
      ...{ x: { shape: [1, 4] }, w: { type: "INT4", shape: [2, 4], data: [1, 2, 3, 4], blocks } },
      ...{ s: { type: "FLOAT16", shape: [4], data: [0x3c00, 0x3c00, 0x3c00, 0x3c00] }, y: { shape: [1, 2] } },
    },
    [{ name: "FULLY_CONNECTED", inputs: ["x", "w"], outputs: ["y"] }],
    ["x"],
    ["y"],
  ),
);
const withExternal = subgraphFile({ tensors: [{ ...tensorRow, externalBuffer: 3 }, tensorRow] });

test("the files that the others are made from are fine, or say what they lack", () => {
  expect(attempt(written)).toBe("fine");
  expect(attempt(written, { signature: "again" })).toBe("fine");
  expect(readTflite(written).metadata.map(({ name }) => name)).toContain("DEBUG_METADATA");
  expect(attempt(behind())).toBe("fine");
  expect(attempt(withBlocks)).toBe("fine");
  expect(attempt(withExternal)).toContain("there is no external buffer with the id 3");
  expect(attempt(fileOf({}))).not.toBe("fine");
});

// Of the changes one in two runs; with NNHAL_FAULTS=all each.
const isDue = (place: number, change: number) => everyFault || (place + change) % 2 === 0;

describe.each([
  ["packed, sparse and signed constants", written],
  ["constants behind the FlatBuffer", behind()],
  ["quantisation by blocks", withBlocks],
  ["constants of another file", withExternal],
])("%s: a broken file results in one TfliteError", { timeout: 120_000 }, (_, file) => {
  test("cut anywhere", () => {
    for (let length = 0; length < file.length; length++) expect(attempt(file.slice(0, length))).not.toBe("fine");
  });

  test("with any byte changed", () => {
    const bytes = file.slice();
    for (let at = 0; at < file.length; at++) {
      if (!isDue(at, at >> 3)) continue;
      const old = elementAt(file, at);
      // One change of each byte: of numbers of several bytes each kind is tried.
      bytes[at] = elementAt([old ^ 0x01, 0xff, old ^ 0x80, 0x00], (at * 7) % 4);
      attempt(bytes, { signature: "again" });
      bytes[at] = old;
    }
  });

  test("with any length or offset replaced by another", () => {
    for (const [change, value] of [0xffff_ffff, file.length].entries()) {
      for (let at = 0; at + 4 <= file.length; at += 4) {
        if (!isDue(at / 4, change)) continue;
        const bytes = file.slice();
        new DataView(bytes.buffer).setUint32(at, value, true);
        attempt(bytes);
      }
    }
  });
});
