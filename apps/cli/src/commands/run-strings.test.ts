import { createReferenceBackend } from "@nnhal/backend-reference";
import { encodeStrings, tfliteExtension } from "@nnhal/extension-tflite";
import { type TfliteOperator, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { referenceEngine, useFolder } from "../program.test-helper.ts";

const { put, get, run: runPlain } = useFolder();

/** The reference has the extension, as that of the command line has. */
const engine = { ...referenceEngine, load: async () => createReferenceBackend({ extensions: [tfliteExtension] }) };
const run = (args: readonly string[]) => runPlain(args, { engines: [engine] });

const tensor = (
  name: string,
  type: TfliteTensor["type"],
  shape: readonly number[],
  data?: Uint8Array,
): TfliteTensor => ({
  name,
  type,
  shape,
  isVariable: false,
  ...(data && { data }),
});

function file(
  tensors: readonly TfliteTensor[],
  operators: readonly Pick<TfliteOperator, "name" | "inputs" | "outputs">[],
  inputs: readonly number[],
  outputs: readonly number[],
): Uint8Array {
  const all = operators.map((operator) => ({ version: 1, options: {}, ...operator }));
  const subgraphs = [{ name: "", tensors, operators: all, inputs, outputs }];
  return writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures: [] });
}

/** The strings of the input in the other order. */
const swap = (shape: readonly number[]) =>
  file(
    [
      tensor("x", "STRING", shape),
      tensor("i", "INT32", [2], new Uint8Array(Int32Array.of(shape[0] === 1 ? 0 : 1, 0).buffer)),
      tensor("y", "STRING", [2]),
    ],
    [{ name: "GATHER", inputs: [0, 1], outputs: [2] }],
    [0],
    [2],
  );

describe("nnhal run with strings", () => {
  it("takes a string from each line, and prints strings", async () => {
    await put("swap.tflite", swap([2]));
    await put("words.txt", 'one\r\nzw\u00f6lf "12"\n');
    const { stdout, stderr } = await run(["run", "swap.tflite", "--input", "words.txt", "--json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).outputs).toMatchObject([{ name: "y", values: ['zw\u00f6lf "12"', "one"] }]);
    const text = await run(["run", "swap.tflite", "--input", "words.txt"]);
    expect(text.stdout).toContain('output 0: "zw\u00f6lf \\"12\\"", "one"');
  });

  it("takes a whole text for one string", async () => {
    await put("one.tflite", swap([1]));
    await put("text.txt", "two\nlines\n");
    const { stdout } = await run(["run", "one.tflite", "--input", "text.txt", "--json"]);
    expect(JSON.parse(stdout).outputs).toMatchObject([{ values: ["two\nlines", "two\nlines"] }]);
  });

  it("takes a list in JSON, in which strings may have several lines", async () => {
    await put("swap.tflite", swap([2]));
    const give = async (content: string) => {
      await put("list.json", content);
      return run(["run", "swap.tflite", "--input", "list.json", "--json"]);
    };
    expect(JSON.parse((await give('["a\\nb", ["c"]]')).stdout)).toMatchObject({
      outputs: [{ values: ["c", "a\nb"] }],
      top: [],
    });
    for (const [content, said] of [
      ['["a"]', "has 2 strings, but list.json has 1 strings"],
      [`${"[".repeat(100_000)}"a"${"]".repeat(100_000)}`, "but list.json has lists more than 32 deep"],
      [`[{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}]`, "but list.json has an object in it"],
      ['["a", 2]', "takes a JSON list of strings, but list.json has 2 in it"],
      ["a\nb", "takes a JSON list of strings, but list.json is not JSON"],
    ] as const) {
      expect(await give(content)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) });
    }
  });

  it("takes and writes rows of bytes", async () => {
    await put("swap.tflite", swap([2]));
    await put("rows.bin", encodeStrings(["a", "bcd"]).bytes);
    const { exitCode } = await run(["run", "swap.tflite", "--input", "rows.bin", "--output-dir", "out"]);
    expect(exitCode).toBe(0);
    expect(await get("out/output0.bin")).toEqual(encodeStrings(["bcd", "a"]).bytes);
  });

  it("refuses another number of strings, and bytes that are not rows", async () => {
    await put("swap.tflite", swap([2]));
    await put("three.txt", "a\nb\nc\n");
    const lines = await run(["run", "swap.tflite", "--input", "three.txt"]);
    expect(lines.stderr).toContain("has 2 strings, but three.txt has 3 lines");
    await put("odd.bin", new Uint8Array(15));
    const bytes = await run(["run", "swap.tflite", "--input", "odd.bin"]);
    expect(bytes.stderr).toContain("has 15 bytes, but the input");
    expect(bytes.stderr).toContain("takes a multiple of 2");
    await put("broken.bin", new Uint8Array(16).fill(200));
    const broken = await run(["run", "swap.tflite", "--input", "broken.bin"]);
    expect(broken.stderr).toContain("string 1 has a length of");
    expect(broken.exitCode).not.toBe(0);
  });
});

describe("nnhal run with 64-bit integers", () => {
  const model = file(
    [tensor("x", "INT64", [3]), tensor("y", "INT64", [3])],
    [{ name: "ADD", inputs: [0, 0], outputs: [1] }],
    [0],
    [1],
  );

  it("takes all digits of a text", async () => {
    await put("add.tflite", model);
    await put("numbers.txt", "9007199254740993, -4611686018427387904 7");
    const { stdout } = await run(["run", "add.tflite", "--input", "numbers.txt", "--json"]);
    expect(JSON.parse(stdout).outputs).toMatchObject([{ values: ["18014398509481986", "-9223372036854775808", 14] }]);
    await put("large.txt", "1 2 9223372036854775808");
    const { stderr } = await run(["run", "add.tflite", "--input", "large.txt"]);
    expect(stderr).toContain("9223372036854775808");
  });

  it("prints those that a number does not hold exactly as digits", async () => {
    await put("add.tflite", model);
    await put("numbers.bin", new Uint8Array(BigInt64Array.of(1n, -(2n ** 53n), 2n ** 52n - 1n).buffer));
    const { stdout } = await run(["run", "add.tflite", "--input", "numbers.bin", "--json"]);
    expect(JSON.parse(stdout).outputs).toMatchObject([{ values: [2, "-18014398509481984", 2 ** 53 - 2] }]);
  });

  it("reads them from a text as they are, and does not take them for scores", async () => {
    const model = file(
      [tensor("x", "INT64", [2]), tensor("y", "INT64", [2])],
      [{ name: "ADD", inputs: [0, 0], outputs: [1] }],
      [0],
      [1],
    );
    await put("add.tflite", model);
    await put("numbers.txt", "[9007199254740993, -9007199254740993]");
    const { stdout } = await run(["run", "add.tflite", "--input", "numbers.txt", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      outputs: [{ values: ["18014398509481986", "-18014398509481986"] }],
      top: [],
    });
    await put("great.txt", "9223372036854775808 0");
    const { stderr, exitCode } = await run(["run", "add.tflite", "--input", "great.txt"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("9223372036854775808 does not fit int64")]);
  });

  it("takes the text of --text", async () => {
    await put("swap.tflite", swap([1]));
    const { stdout, stderr } = await run(["run", "swap.tflite", "--text", "zw\u00f6lf", "--json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).outputs).toMatchObject([{ values: ["zw\u00f6lf", "zw\u00f6lf"] }]);
    await put("words.txt", "one");
    for (const others of [["words.txt"], ["--input", "words.txt"], ["--random", "1"]]) {
      const refused = await run(["run", "swap.tflite", "--text", "one", ...others]);
      expect(refused.exitCode).toBe(2);
    }
  });

  it("says what --text takes of a model", async () => {
    const numbers = file(
      [tensor("x", "FLOAT32", [1]), tensor("y", "FLOAT32", [1])],
      [{ name: "ABS", inputs: [0], outputs: [1] }],
      [0],
      [1],
    );
    await put("numbers.tflite", numbers);
    const { exitCode, stderr } = await run(["run", "numbers.tflite", "--text", "one"]);
    expect([exitCode, stderr]).toEqual([
      2,
      'nnhal run: --text: expected a model with inputs of strings, or a tokenizer in its metadata; the inputs are "x" (float32 [1])\n',
    ]);
  });
});
