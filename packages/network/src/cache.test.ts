/**
 * The folder of prepared models: what another signature, shape or extension makes of a file is not taken for the model.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineExtension, defineOperation, tensor as operand } from "@nnhal/operations/authoring";
import type { ImportOptions } from "@nnhal/tflite";
import { writeTflite } from "@nnhal/tflite";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type LoadOptions, load } from "./load.ts";
import { modelToken } from "./model-token.ts";
import { tensor } from "./models.test-helper.ts";

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "nnhal-network-cache-"));
});
afterEach(() => rmSync(cache, { recursive: true }));

/** The signatures `add` and `sub`, and `one` and `two`, which add constants of one shape. */
function signedModel(): Uint8Array {
  const fusedActivationFunction = "NONE";
  const shapeSignature = [-1];
  const constant = (value: number) =>
    tensor("constant", { shape: [1], data: new Uint8Array(Float32Array.of(value).buffer) });
  const open = (name: string) => tensor(name, { shape: [1], shapeSignature });
  const binary = (key: string, name: "ADD" | "SUB") => ({
    name: key,
    tensors: [open("left"), open("right"), open("made")],
    inputs: [0, 1],
    outputs: [2],
    operators: [{ name, version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction } }],
  });
  const plus = (key: string, value: number) => ({
    name: key,
    tensors: [open("left"), constant(value), open("made")],
    inputs: [0],
    outputs: [2],
    operators: [{ name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction } }],
  });
  const subgraphs = [binary("add", "ADD"), binary("sub", "SUB"), plus("one", 1), plus("two", 2)];
  const signatures = subgraphs.map(({ name: key, inputs }, subgraph) => ({
    key,
    subgraph,
    inputs: inputs.map((place) => ({ name: place === 0 ? "left" : "right", tensor: place })),
    outputs: [{ name: "made", tensor: 2 }],
  }));
  return writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures });
}

const file = signedModel();

async function make(options: LoadOptions, inputs: Readonly<Record<string, readonly number[]>>) {
  const model = await load(file, { engines: [], cache, ...options });
  const { data } = (await model.run(inputs)).output;
  await model.close();
  return [...data];
}

it("is made if it is not there", async () => {
  const folder = join(cache, "new", "folder");
  await (await load(signedModel(), { cache: folder, engines: [], signature: "one" })).close();
  expect(readdirSync(folder)).not.toEqual([]);
});

it("has a prepared model for each signature of a file", async () => {
  const both = { left: [3], right: [5] };
  for (let round = 0; round < 2; round++) {
    expect(await make({ signature: "add" }, both)).toEqual([8]);
    expect(await make({ signature: "sub" }, both)).toEqual([-2]);
    // Their structure is the same: only the constants differ.
    expect(await make({ signature: "one" }, { left: [3] })).toEqual([4]);
    expect(await make({ signature: "two" }, { left: [3] })).toEqual([5]);
  }
  expect(readdirSync(cache)).toHaveLength(8);
});

it("has a prepared model for each shape of the inputs, and for open shapes", async () => {
  const shaped = (extent: number) => ({ inputShapes: { left: [extent], right: [extent] } });
  for (let round = 0; round < 2; round++) {
    expect(await make(shaped(1), { left: [1], right: [2] })).toEqual([3]);
    expect(await make(shaped(2), { left: [1, 2], right: [3, 4] })).toEqual([4, 6]);
    expect(await make({ dynamicShapes: true }, { left: [1, 2, 3], right: [1, 1, 1] })).toEqual([2, 3, 4]);
  }
  expect(readdirSync(cache)).toHaveLength(6);
});

const twice = defineOperation({
  name: "Twice",
  code: 1,
  summary: "Doubles.",
  params: [operand("input")],
  outputs: [operand("output")],
  types: [["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
});
const extension = (version?: string, operations = [twice]) =>
  defineExtension({ name: "com.example.twice", version, operations });

it.each<[string, ImportOptions]>([
  ["signature", { signature: "add" }],
  ["shape", { inputShapes: { left: [2] } }],
  ["tensor's shape", { inputShapes: { right: [1] } }],
  ["kind of shapes", { dynamicShapes: true }],
  ["form of hybrid layers", { hybrid: "widened" }],
  ["use of the extension", { extensions: false }],
  ["extension", { customOperators: [extension()] }],
  ["version of an extension", { customOperators: [extension("2")] }],
  ["operation of an extension", { customOperators: [extension(undefined, [{ ...twice, code: 2 }])] }],
  // An option that does not exist yet.
  ["option", { place: { left: "ort" } } as ImportOptions],
])("has another token for another %s", async (_what, options) => {
  const tokens = [{}, { inputShapes: { left: [1] } }, { customOperators: [extension("1")] }, options];
  const texts = await Promise.all(tokens.map(async (each) => (await modelToken(file, each)).join()));
  expect(new Set(texts).size).toBe(tokens.length);
  expect(await modelToken(file.slice(), { ...options })).toEqual(await modelToken(file, options));
  expect(await modelToken(file.slice(1), options)).not.toEqual(await modelToken(file, options));
});

it("has one token for the same options in any order", async () => {
  const entries = fc.uniqueArray(fc.tuple(fc.string(), fc.array(fc.nat(9), { maxLength: 3 })), {
    selector: ([name]) => name,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(entries, async (shapes) => {
      const one = await modelToken(file, { inputShapes: Object.fromEntries(shapes), signature: "s" });
      const other = await modelToken(file, { signature: "s", inputShapes: Object.fromEntries(shapes.toReversed()) });
      expect(other).toEqual(one);
    }),
    { numRuns: 50 },
  );
});
