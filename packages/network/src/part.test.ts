import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { litertlm } from "@nnhal/test-kit/litertlm";
import { withFiles } from "@nnhal/test-kit/packed-files";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LoadOptions, load } from "./load.ts";
import { modelOf, tensor } from "./models.test-helper.ts";
import { portHere } from "./port.test-helper.ts";
import type { Source } from "./read.ts";

const nothing = new Uint8Array(0);

/** A model that adds constants of another part of its file to its input. */
function addingModel(group: string): Uint8Array {
  return modelOf({
    tensors: [
      tensor("x", { shape: [2] }),
      tensor("w", { shape: [2], external: { group, offset: 8, length: 8 } }),
      tensor("y", { shape: [2] }),
    ],
    inputs: [0],
    outputs: [2],
    operators: [
      { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
    ],
  });
}

const weights = new Uint8Array(Float32Array.of(0, 0, 3, 4).buffer);
const others = new Uint8Array(Float32Array.of(0, 0, 30, 40).buffer);
const language = litertlm([
  { type: 3, content: addingModel("tflite_weights"), model: "prefill" },
  { type: 7, content: weights, model: "prefill" },
  { type: 3, content: addingModel("tflite_weights") },
  { type: 7, content: others },
  { type: 3, content: addingModel("missing"), model: "lost" },
]);
const packed = withFiles(nothing, {
  "inner.task": withFiles(nothing, { "a.tflite": addingModel("w.bin") }),
  "w.bin": weights,
});

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-part-"));
  await writeFile(join(folder, "packed.task"), packed);
  await writeFile(join(folder, "language.litertlm"), language);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sumOf(source: Source, options: LoadOptions = {}): Promise<readonly number[]> {
  const model = await load(source, { devices: "reference", ...options });
  try {
    const { output } = await model.run([1, 2]);
    return Array.from(output.data, Number);
  } finally {
    await model.close();
  }
}

const address = (bytes: Uint8Array) => `data:application/octet-stream;base64,${Buffer.from(bytes).toString("base64")}`;

describe("a part of a container", () => {
  test("is loaded of a path, bytes, a Blob and an address, with the weights in other parts", async () => {
    for (const source of [join(folder, "packed.task"), packed, new Blob([Uint8Array.from(packed)]), address(packed)])
      expect(await sumOf(source)).toEqual([4, 6]);
    for (const source of [join(folder, "language.litertlm"), language, address(language)]) {
      expect(await sumOf(source, { part: "prefill" })).toEqual([4, 6]);
      expect(await sumOf(source, { part: "model" })).toEqual([31, 42]);
    }
    expect(await sumOf(language, { part: "prefill", worker: () => portHere().port })).toEqual([4, 6]);
    const options = { part: "prefill", externalBuffers: { tflite_weights: others } };
    expect(await sumOf(language, options)).toEqual([31, 42]);
  });

  test("has at most maxBytes, of a file of any size", async () => {
    const bytes = addingModel("tflite_weights").length;
    const path = join(folder, "language.litertlm");
    expect(await sumOf(path, { part: "model", maxBytes: bytes + 8 })).toEqual([31, 42]);
    await expect(sumOf(path, { part: "model", maxBytes: bytes + 7 })).rejects.toMatchObject({ code: "CANNOT_READ" });
    await expect(sumOf(path, { part: "model", maxBytes: bytes - 1 })).rejects.toThrow(
      `cannot read the model ${path}: the part "model" has ${bytes} bytes, more than the ${bytes - 1} of maxBytes`,
    );
  });

  test.each([
    [
      language,
      {},
      'the file{} has 3 models: "prefill", "model", "lost"; choose one by its name (part, or --part NAME)',
    ],
    [language, { part: "prefil" }, 'part: the file{} has no part "prefil"; did you mean "prefill"?'],
    [
      language,
      { part: "weights" },
      'part: "weights" is of type "weights", expected a model: "prefill", "model", "lost"',
    ],
    [
      language,
      { part: "lost" },
      'external buffers "missing" of the model{}: the model has neither a path nor an address',
    ],
    [addingModel("w"), { part: "a" }, "part: expected a container, a .task or .litertlm file, got a .tflite model{}"],
    [language.slice(0, 40), { part: "model" }, "the parts of the model{} cannot be read: header"],
    [language.slice(0, 40), {}, "the parts of the model{} cannot be read: header"],
    [withFiles(nothing, { a: weights }), {}, "the model{} cannot be used: it is a zip archive; unpack it"],
  ] as const)("of a file that is refused: %#", async (source, options, message) => {
    await expect(sumOf(source, options)).rejects.toThrow(message.replace("{}", ""));
    const path = join(folder, "other");
    await writeFile(path, source);
    await expect(sumOf(path, options)).rejects.toThrow(
      message
        .replace("{}", ` ${path}`)
        .replace("the model has neither a path nor an address", "the file does not exist"),
    );
  });
});
