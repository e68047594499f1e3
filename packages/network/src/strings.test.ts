import type { Backend } from "@nnhal/backend";
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import { expect, it } from "vitest";
import { load } from "./load.ts";
import { modelOf, tensor } from "./models.test-helper.ts";

const indexes = (...values: number[]) => new Uint8Array(Int32Array.from(values).buffer);

/** The strings of the input in the other order; 0 is an open extent. */
const swap = (count: number) =>
  modelOf({
    tensors: [
      tensor("words", { type: "STRING", shape: [Math.max(count, 1)], ...(count === 0 && { shapeSignature: [-1] }) }),
      tensor("places", { type: "INT32", shape: [2], data: indexes(1, 0) }),
      tensor("swapped", { type: "STRING", shape: [2] }),
    ],
    inputs: [0],
    outputs: [2],
    operators: [{ name: "GATHER", version: 1, inputs: [0, 1], outputs: [2], options: { axis: 0, batchDims: 0 } }],
  });

it("strings go in and come out", async () => {
  await using model = await load(swap(2), { devices: "reference", engines: [] });
  expect(model.inputs).toMatchObject([{ name: "words", type: "string", shape: [2] }]);
  const { output } = await model.run(["one", "zw\u00f6lf"]);
  expect(output).toMatchObject({ name: "swapped", type: "string", shape: [2], strings: ["zw\u00f6lf", "one"] });
  // A result is a value too.
  expect((await model.run({ words: output })).output.strings).toEqual(["one", "zw\u00f6lf"]);
  expect((await model.profile({ runs: 1 })).operations.length).toBeGreaterThan(0);
});

it("strings of any bytes are passed as bytes", async () => {
  await using model = await load(swap(2), { devices: "reference", engines: [] });
  const { output } = await model.run([new Uint8Array([0xff, 0]), "b"], { raw: true });
  expect(output).toMatchObject({ shape: [2], strings: ["b", "\ufffd\0"] });
  // Rows of the length and the bytes.
  expect([...output.data]).toEqual([1, 0, 0, 0, 0x62, 0, 2, 0, 0, 0, 0xff, 0]);
});

it("open extents are those of the strings", async () => {
  await using model = await load(swap(0), { devices: "reference", engines: [], dynamicShapes: true });
  expect(model.inputs).toMatchObject([{ shape: [0] }]);
  expect((await model.run({ words: ["a", "b", "c"] })).output.strings).toEqual(["b", "a"]);
});

it("values that are not strings, and another number of strings, are refused", async () => {
  await using model = await load(swap(2), { devices: "reference", engines: [] });
  const refuse = (input: Parameters<typeof model.run>[0]) => expect(model.run(input)).rejects;
  await refuse({ words: ["a"] }).toMatchObject({
    code: "WRONG_SIZE",
    message: 'the input "words" (string [2]) has 2 elements; 1 were given',
  });
  await refuse({ words: [1, 2] }).toMatchObject({
    code: "WRONG_TYPE",
    message: 'the input "words" (string [2]) takes a string, or lists of strings; it has a number',
  });
  await refuse({ words: [["a"], ["b"]] }).toMatchObject({ code: "WRONG_SHAPE" });
  await expect(model.run(["a", "b"], { outputs: { output: new Uint8Array(2) } })).rejects.toMatchObject({
    code: "WRONG_TYPE",
    message: expect.stringContaining("has strings"),
  });
});

it("an engine that can have the extension for .tflite gets it, once", async () => {
  const names: string[] = [];
  const engine: Backend = {
    ...referenceBackend,
    name: "mine",
    withExtensions(extensions) {
      names.push(...extensions.map(({ name }) => name));
      return { ...createReferenceBackend({ extensions }), name: "mine" };
    },
  };
  for (let round = 0; round < 2; round++) {
    await using model = await load(swap(2), { devices: "mine", engines: [engine] });
    expect((await model.run(["a", "b"])).output.strings).toEqual(["b", "a"]);
  }
  expect(names).toEqual(["nnhal.tflite"]);
});

it("rows that would be too large are refused before they are made", async () => {
  await using model = await load(swap(0), { devices: "reference", engines: [] });
  const strings = ["a".repeat(100_000), ...Array<string>(10_000).fill("")];
  await expect(model.run(strings)).rejects.toMatchObject({
    code: "WRONG_SIZE",
    message: expect.stringContaining("10001 strings of up to 300000 bytes"),
  });
});

it.each(["constructor", "__proto__", "toString"])("%s is a name as any other", async (name) => {
  const shape = { shape: [1] };
  const file = modelOf({
    tensors: [tensor(name, shape), tensor("two", { ...shape, data: new Uint8Array(4) }), tensor(name, shape)],
    inputs: [0],
    outputs: [2],
    operators: [
      { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
    ],
  });
  await using model = await load(file, { devices: "reference", engines: [] });
  const outputs = await model.run(Object.fromEntries([[name, [3]]]));
  const names = Object.keys(outputs);
  expect(names).toContain(model.outputs[0]?.name);
  expect([...(outputs.output?.data ?? [])]).toEqual([3]);
});
