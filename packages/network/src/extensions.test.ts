import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineExtension, defineOperation, tensor } from "@nnhal/operations/authoring";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { NetworkError } from "./error.ts";
import { extensionsIn } from "./extensions.ts";
import { load } from "./load.ts";
import { unknownOperatorModel } from "./models.test-helper.ts";
import { portHere } from "./port.test-helper.ts";
import { provide } from "./serve.ts";
import { openExtensions } from "./with-tools.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-extensions-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A file with a module. */
function moduleOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const definition = (name: string) => ({ name, operandTypes: [], operations: [] });
const text = (name: string) => JSON.stringify(definition(name));

/** Negates, as the operator of `unknownOperatorModel`. */
const negating = defineExtension({
  name: "com.example.mine",
  operations: [
    defineOperation({
      name: "Frobnicate",
      code: 1,
      summary: "Negates.",
      params: [tensor("input", "TENSOR_FLOAT32")],
      outputs: [tensor("output", "TENSOR_FLOAT32")],
      types: [["1.2"]],
      infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
      reference({ input }, { output }) {
        for (const [index, value] of input.data.entries()) output.data[index] = -value;
      },
    }),
  ],
});

const namesOf = (found: readonly { readonly name: string }[]) => found.map(({ name }) => name);

describe("extensions", () => {
  it("are definitions, functions, modules, and names of modules", async () => {
    const one = definition("com.example.one");
    const two = moduleOf("two.mjs", `export const two = ${text("com.example.two")}; export const other = 5;`);
    const three = moduleOf("three.cjs", `module.exports = { three: ${text("com.example.three")} };`);
    const given = [one, async () => one, async () => ({ one, again: one }), two, three] as never;
    expect(namesOf(await openExtensions(given))).toEqual([
      ...["com.example.one", "com.example.one", "com.example.one"],
      ...["com.example.two", "com.example.three"],
    ]);
    expect(namesOf(extensionsIn({ default: one }))).toEqual(["com.example.one"]);
    expect(extensionsIn(null)).toEqual([]);
  });

  it.each([
    ["a text instead of a list", "x", "extensions: expected a list, got a value of the type string"],
    [
      "a number",
      [5],
      "extensions[0]: expected the definition of an extension, a function or the name of a module, got",
    ],
    [
      "a name without a package",
      ["@nnhal/no-such-extension"],
      "is not installed: npm install @nnhal/no-such-extension",
    ],
    ["a name without a file", ["./no-such.mjs"], "extensions: loading ./no-such.mjs failed: "],
    ["a module that fails", [moduleOf("bad.mjs", 'throw new Error("no\\nway")')], /loading .*bad\.mjs failed: no way$/],
    ["a module without one", [moduleOf("none.mjs", "export const x = { name: 'x' }")], "which exports none"],
    ["a function that fails", [async () => Promise.reject(new Error("no"))], "loading extensions[0] failed: no"],
    ["a function without one", [async () => ({})], "got extensions[0], which exports none"],
  ])("are refused: %s", async (_, given, message) => {
    const opened = openExtensions(given as never);
    await expect(opened).rejects.toThrow(NetworkError);
    await expect(opened).rejects.toMatchObject({ code: "BAD_OPTION" });
    await expect(opened).rejects.toThrow(message);
  });
});

describe("extensions of a worker", () => {
  const options = { engines: [], devices: "reference" } as const;
  afterEach(() => provide({ engines: undefined, extensions: undefined }));

  it("are those that its module provides", async () => {
    provide({ extensions: [negating] });
    const model = await load(unknownOperatorModel(), { ...options, worker: () => portHere().port });
    expect((await model.run([1, -2])).output.data).toEqual(Float32Array.of(-1, 2));
    await model.close();
  });

  it("and those that are named", async () => {
    const file = moduleOf(
      "named.mjs",
      `export const x = ${text("com.example.named")}; globalThis.isNamedLoaded = true;`,
    );
    provide({ extensions: [async () => negating] });
    const model = await load(unknownOperatorModel(), { ...options, extensions: [file], worker: () => portHere().port });
    expect((await model.explain()).operations).toMatchObject([{ operation: "com.example.mine Frobnicate" }]);
    expect("isNamedLoaded" in globalThis).toBe(true);
    await model.close();
  });

  it("cannot be definitions or functions: the refusal says what to give", async () => {
    for (const extension of [negating, async () => negating]) {
      const loading = load(unknownOperatorModel(), {
        ...options,
        extensions: [extension],
        worker: () => portHere().port,
      });
      await expect(loading).rejects.toMatchObject({
        code: "BAD_OPTION",
        message: expect.stringContaining("passed to a worker by name, such as @nnhal/extension-mediapipe"),
      });
    }
  });

  it("are named by the refusal of a model that needs one", async () => {
    const loading = load(unknownOperatorModel(), { ...options, worker: () => portHere().port });
    await expect(loading).rejects.toThrow(/"Frobnicate"; give an extension with an operation of its name: --extension/);
  });
});
