import { rm } from "node:fs/promises";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { type TfliteModel, type TfliteOperator, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { beforeEach, describe, expect, it } from "vitest";
import { passingModel, referenceEngine, rememberingModel, useFolder } from "../program.test-helper.ts";

const { put, get, run: runPlain, path } = useFolder();

beforeEach(() => rm(path("s.json"), { force: true }));

/** The reference has the extension, as that of the command line has. */
const engine = { ...referenceEngine, load: async () => createReferenceBackend({ extensions: [tfliteExtension] }) };
const run = (...args: readonly string[]) => runPlain(["run", ...args], { engines: [engine] });

const bytesOf = (data: ArrayBufferView<ArrayBuffer>) => new Uint8Array(data.buffer);

const tensor = (name: string, type: TfliteTensor["type"], shape: readonly number[], data?: Uint8Array) =>
  ({ name, type, shape, isVariable: false, ...(data && { data }) }) satisfies TfliteTensor;

const operator = (name: TfliteOperator["name"], inputs: readonly number[], outputs: readonly number[], options = {}) =>
  ({ name, inputs, outputs, version: 1, options }) satisfies TfliteOperator;

/** Operators on the variable `name`: each subgraph reads it, and may assign what it computes. */
const handle = (name: string, to: number) => operator("VAR_HANDLE", [], [to], { container: "", sharedName: name });

/** The signature `add` adds its input to the variable `sum`, which begins with `first`; `last` copies its input to the variable `last`. */
function sumModel(type: "FLOAT32" | "INT64" | "INT32", first: Uint8Array): Uint8Array {
  const one = (name: string, data?: Uint8Array) => tensor(name, type, [1], data);
  const resource = tensor("h", "RESOURCE", []);
  const subgraphs: TfliteModel["subgraphs"] = [
    {
      name: "add",
      tensors: [one("x"), resource, one("old"), one("y")],
      operators: [
        operator("CALL_ONCE", [], [], { initSubgraphIndex: 2 }),
        handle("sum", 1),
        operator("READ_VARIABLE", [1], [2]),
        operator("ADD", [2, 0], [3]),
        operator("ASSIGN_VARIABLE", [1, 3], []),
      ],
      inputs: [0],
      outputs: [3],
    },
    {
      name: "last",
      tensors: [one("x"), resource, one("old")],
      operators: [handle("last", 1), operator("READ_VARIABLE", [1], [2]), operator("ASSIGN_VARIABLE", [1, 0], [])],
      inputs: [0],
      outputs: [2],
    },
    {
      name: "start",
      tensors: [resource, one("c", first)],
      operators: [handle("sum", 0), operator("ASSIGN_VARIABLE", [0, 1], [])],
      inputs: [],
      outputs: [],
    },
  ];
  const signature = (key: string, subgraph: number, output: number) => ({
    key,
    subgraph,
    inputs: [{ name: "x", tensor: 0 }],
    outputs: [{ name: "y", tensor: output }],
  });
  const signatures = [signature("add", 0, 3), signature("last", 1, 2)];
  return writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures });
}

const makeCounting = () => sumModel("FLOAT32", bytesOf(Float32Array.of(40)));

/** The text of a file. */
const textOf = async (file: string) => new TextDecoder().decode(await get(file));

const stateOf = async (file: string) => JSON.parse(await textOf(file)).states;

const valuesOf = (stdout: string) => JSON.parse(stdout).outputs[0].values;

/** The line on stderr of a run that is refused for its command line or a file. */
async function refuse(...args: readonly string[]): Promise<string> {
  const { stderr, stdout, exitCode } = await run(...args);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  return stderr;
}

describe("nnhal run without --state", () => {
  it("begins each run with the first values, and shows what it leaves", async () => {
    await put("sum.tflite", makeCounting());
    await put("two.txt", "2");
    const { stdout } = await run("sum.tflite", "two.txt", "--runs", "2", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      outputs: [{ name: "y", values: [42] }],
      states: [{ name: "sum", type: "TENSOR_FLOAT32", shape: [1], values: [42] }],
    });
    expect((await run("sum.tflite", "two.txt")).stdout).toMatch(/^output 0: 42\nstate "sum": 42$/m);
    await put("three.txt", "3");
    const several = JSON.parse((await run("sum.tflite", "two.txt", "three.txt", "--json")).stdout);
    expect(several.results.map(({ outputs }: { outputs: [{ values: unknown }] }) => outputs[0].values)).toEqual([
      [42],
      [43],
    ]);
    expect(several.states).toBeUndefined();
  });

  it("says nothing of states if there are none", async () => {
    await put("pass.tflite", passingModel({ shape: [1, 2] }));
    expect(JSON.parse((await run("pass.tflite", "--random", "1", "--json")).stdout)).not.toHaveProperty("states");
  });
});

describe("nnhal run --state", () => {
  it("goes on where the command before it ended, and begins again with --reset-state", async () => {
    await put("sum.tflite", makeCounting());
    await put("two.txt", "2");
    const again = async (...args: readonly string[]) =>
      valuesOf((await run("sum.tflite", "two.txt", "--state", "s.json", "--json", ...args)).stdout);
    expect(await again()).toEqual([42]);
    expect(await stateOf("s.json")).toEqual([{ name: "sum", type: "TENSOR_FLOAT32", shape: [1], values: [42] }]);
    expect(await again()).toEqual([44]);
    expect(await again("--runs", "3")).toEqual([52]);
    expect(await again("--reset-state")).toEqual([42]);
    const { stdout } = await run("sum.tflite", "two.txt", "--state", "s.json");
    expect(stdout).toMatch(/^written {2}s\.json$/m);
    expect(stdout).toMatch(/^state "sum": 44$/m);
  });

  it("makes several inputs the steps of one sequence", async () => {
    await put("svdf.tflite", rememberingModel());
    for (const number of [1, 2, 3]) await put(`${number}.txt`, String(number));
    const { stdout } = await run(
      "svdf.tflite",
      "1.txt",
      "2.txt",
      "missing.txt",
      "3.txt",
      "--state",
      "s.json",
      "--json",
    );
    const { results, states } = JSON.parse(stdout);
    // 10 * the number before + the number; the one that is missing does not count.
    expect(results.map(({ outputs }: { outputs: { values: number[] }[] }) => outputs[0]?.values[0])).toEqual([
      1,
      12,
      undefined,
      23,
    ]);
    expect(states).toMatchObject([{ name: "state", shape: [1, 4], values: [3, 0, 3, 0] }]);
    expect(await stateOf("s.json")).toMatchObject([{ name: "state", values: [3, 0, 3, 0] }]);
    const table = await run("svdf.tflite", "1.txt", "2.txt", "--state", "s.json");
    expect(table.stdout).toMatch(/^written {2}s\.json$/m);
  });

  it("takes values that the user has changed, and first values for a state that was taken out", async () => {
    await put("sum.tflite", makeCounting());
    await put("two.txt", "2");
    const withStates = async (states: unknown) => {
      await put("s.json", JSON.stringify({ states }));
      return valuesOf((await run("sum.tflite", "two.txt", "--state", "s.json", "--json")).stdout);
    };
    const state = { name: "sum", type: "TENSOR_FLOAT32", shape: [1] };
    expect(await withStates([{ ...state, values: [-2.5] }])).toEqual([-0.5]);
    expect(await withStates([{ ...state, base64: "AAAAPw==" }])).toEqual([2.5]);
    expect(await withStates([])).toEqual([42]);
  });

  it("keeps the states of the file's other signatures", async () => {
    await put("sum.tflite", makeCounting());
    await put("two.txt", "2");
    await put("five.txt", "5");
    const of = (...args: readonly string[]) => run("sum.tflite", "--state", "s.json", "--json", ...args);
    expect(valuesOf((await of("two.txt", "--signature", "add")).stdout)).toEqual([42]);
    expect(valuesOf((await of("five.txt", "--signature", "last")).stdout)).toEqual([0]);
    expect(
      (await stateOf("s.json")).map(({ name, values }: { name: string; values: unknown }) => [name, values]),
    ).toEqual([
      ["last", [5]],
      ["sum", [42]],
    ]);
    expect(valuesOf((await of("two.txt")).stdout)).toEqual([44]);
    expect(valuesOf((await of("two.txt", "--signature", "last")).stdout)).toEqual([5]);
  });

  it.each([
    ["Infinity", [Number.POSITIVE_INFINITY], ["Infinity"]],
    ["-0", [-0], ["-0"]],
    ["a fraction", [0.1], [Math.fround(0.1)]],
  ])("keeps %s", async (_, [first = 0], values) => {
    await put("sum.tflite", sumModel("FLOAT32", bytesOf(Float32Array.of(first))));
    await put("zero.txt", "-0");
    for (let count = 0; count < 2; count++) await run("sum.tflite", "zero.txt", "--state", "s.json");
    expect(await stateOf("s.json")).toMatchObject([{ values }]);
  });

  it("keeps 64-bit integers that a number does not hold", async () => {
    await put("sum.tflite", sumModel("INT64", bytesOf(BigInt64Array.of(2n ** 60n + 1n))));
    await put("one.txt", "1");
    const again = () => run("sum.tflite", "one.txt", "--state", "s.json");
    await again();
    expect(await stateOf("s.json")).toMatchObject([{ values: [String(2n ** 60n + 2n)] }]);
    await again();
    expect(await stateOf("s.json")).toMatchObject([{ values: [String(2n ** 60n + 3n)] }]);
  });

  it("keeps strings, those of any bytes too", async () => {
    const resource = tensor("h", "RESOURCE", []);
    const main = {
      name: "",
      tensors: [tensor("x", "STRING", [2]), resource, tensor("y", "STRING", [2])],
      operators: [handle("v", 1), operator("READ_VARIABLE", [1], [2]), operator("ASSIGN_VARIABLE", [1, 0], [])],
      inputs: [0],
      outputs: [2],
    };
    await put(
      "last.tflite",
      writeTflite({ version: 3, description: "", subgraphs: [main], metadata: [], signatures: [] }),
    );
    await put("words.txt", "one\nzw\u00f6lf");
    await put("others.bin", Uint8Array.of(1, 0, 0, 0, 255, 0, 0, 0, 0, 0));
    const next = async (input: string) =>
      valuesOf((await run("last.tflite", input, "--state", "s.json", "--json")).stdout);
    expect(await next("words.txt")).toEqual(["", ""]);
    expect(await stateOf("s.json")).toMatchObject([{ name: "v", shape: [2], values: ["one", "zw\u00f6lf"] }]);
    expect(await next("others.bin")).toEqual(["one", "zw\u00f6lf"]);
    expect(await stateOf("s.json")).toMatchObject([{ name: "v", shape: [2], base64: "AQAAAP8AAAAAAA==" }]);
    expect(await next("words.txt")).toEqual(["\ufffd", ""]);
  });

  it("refuses what it cannot mean", async () => {
    await put("pass.tflite", passingModel({ shape: [1, 2] }));
    expect(await refuse("pass.tflite", "--random", "1", "--state", "s.json")).toContain(
      "--state s.json: the model keeps nothing from one run to the next",
    );
    await put("sum.tflite", makeCounting());
    const of = (...args: readonly string[]) => refuse("sum.tflite", "--random", "1", ...args);
    expect(await of("--reset-state")).toContain("there is no --state");
    expect(await of("--state", "none/s.json")).toContain("cannot write none/s.json: there is no such folder");
    expect(await of("--state", ".")).toContain("cannot write .: it is a folder");
    // A drawing is refused for its input alone.
    expect(await of("--state", "s.json", "--draw", "a.png")).toContain("--draw needs an input that is a picture");
  });

  const good = { name: "sum", type: "TENSOR_FLOAT32", shape: [1], values: [1] };
  it.each<[string, unknown, string]>([
    ["no JSON", undefined, "is not JSON"],
    ["another JSON", [], 'has no list "states"'],
    ["a list of something else", { states: [3] }, "states[0]: it is not an object"],
    ["no name", { states: [{ ...good, name: 1 }] }, "states[0]: it has no name"],
    ["no type", { states: [{ ...good, type: undefined }] }, 'states[0]: "sum" has no type'],
    ["no shape", { states: [{ ...good, shape: [1.5] }] }, 'the shape of "sum" is not a list of whole numbers'],
    ["no values", { states: [{ ...good, values: undefined }] }, '"sum" needs either "values"'],
    ["both forms", { states: [{ ...good, base64: "" }] }, '"sum" needs either "values"'],
    ["values of another kind", { states: [{ ...good, values: [null] }] }, '"sum" needs either "values"'],
    ["a state twice", { states: [good, good] }, 'it has the state "sum" twice'],
    ["an unknown state", { states: [{ ...good, name: "sums" }] }, 'the model has no state "sums"; it has "sum"'],
    [
      "another type",
      { states: [{ ...good, type: "TENSOR_INT32" }] },
      "of the type TENSOR_INT32, the model's is TENSOR_FLOAT32",
    ],
    ["another shape", { states: [{ ...good, shape: [2], values: [1, 2] }] }, "[2] does not fit the shape [1]"],
    ["another number of values", { states: [{ ...good, values: [1, 2] }] }, "has 1 elements, but there are 2 values"],
    ["no number", { states: [{ ...good, values: ["one"] }] }, '"one" is not a number'],
    ["broken base64", { states: [{ ...good, values: undefined, base64: "*" }] }, "its base64 is broken"],
    ["too few bytes", { states: [{ ...good, values: undefined, base64: "AAAA" }] }, "takes 4 bytes, but there are 3"],
  ])("refuses a file with %s, and leaves it as it is", async (_, content, said) => {
    await put("sum.tflite", makeCounting());
    const text = content === undefined ? "{" : JSON.stringify(content);
    await put("s.json", text);
    expect(await refuse("sum.tflite", "--random", "1", "--state", "s.json")).toContain(said);
    expect(await textOf("s.json")).toBe(text);
  });

  it("refuses integers that may be rounded, and those that do not fit", async () => {
    await put("sum.tflite", sumModel("INT64", bytesOf(BigInt64Array.of(1n))));
    await put("zero.txt", "0");
    await run("sum.tflite", "zero.txt", "--state", "s.json");
    const [written] = await stateOf("s.json");
    const withValue = async (value: number | string) => {
      await put("s.json", JSON.stringify({ states: [{ ...written, values: [value] }] }));
      return run("sum.tflite", "zero.txt", "--state", "s.json");
    };
    expect((await withValue(2 ** 53 - 1)).exitCode).toBe(0);
    expect((await withValue(2 ** 53)).stderr).toContain("may be rounded");
    expect((await withValue(String(2n ** 63n))).stderr).toContain("does not fit int64");
    expect((await withValue(String(-(2n ** 63n)))).exitCode).toBe(0);
  });

  it("leaves the file as it is if a run fails", async () => {
    await put("sum.tflite", makeCounting());
    await put("two.txt", "2");
    await run("sum.tflite", "two.txt", "--state", "s.json");
    const before = await textOf("s.json");
    expect((await run("sum.tflite", "missing.txt", "--state", "s.json")).exitCode).toBe(2);
    expect(await textOf("s.json")).toBe(before);
  });
});
