/** `nnhal diff` on the demo's networks and a device with a fault. */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { writeNpy } from "@nnhal/network/tensors";
import { changeElements } from "@nnhal/test-kit/changed-kernel";
import { readTflite, writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import type { Engine } from "../backend-module.ts";
import type { DiffCommandReport } from "../diff/report.ts";
import { passingModel, referenceEngine, useFolder } from "../program.test-helper.ts";

const { run, get, put, path } = useFolder();
const readModel = async (file: string) => readTflite(new Uint8Array(await readFile(file)));
const digits = fileURLToPath(new URL("../../demo/digits-uint8.tflite", import.meta.url));

/** The reference under another name, with other results of an operation. */
function engineWith(name: string, change: (element: number) => number): Engine {
  const definitionFor = changeElements(name, change);
  return {
    device: "nnhal-wrong",
    module: "wrong",
    load: async () => ({ ...createReferenceBackend({ definitionFor }), name: "wrong" }),
  };
}

/** (x - y)², which becomes two operations. */
function squaredDifferenceModel(): Uint8Array {
  const tensors = ["x", "y", "squares"].map(
    (name) => ({ name, type: "FLOAT32", shape: [1, 4], isVariable: false }) as const,
  );
  const operators = [{ name: "SQUARED_DIFFERENCE", version: 1, inputs: [0, 1], outputs: [2], options: {} }];
  const subgraphs = [{ name: "main", tensors, inputs: [0, 1], outputs: [2], operators }];
  return writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures: [] });
}

/** Two inputs times the weights 1 and 2, which are float16 in the file. */
function halfWeightsModel(): Uint8Array {
  const tensor = { type: "FLOAT32", isVariable: false } as const;
  const tensors = [
    { ...tensor, name: "x", shape: [1, 2] },
    { ...tensor, type: "FLOAT16" as const, name: "half", shape: [1, 2], data: Uint8Array.of(0, 0x3c, 0, 0x40) },
    { ...tensor, name: "weights", shape: [1, 2] },
    { ...tensor, name: "y", shape: [1, 1] },
  ];
  const options = { fusedActivationFunction: "NONE", weightsFormat: "DEFAULT", keepNumDims: false };
  const operators = [
    { name: "DEQUANTIZE", version: 3, inputs: [1], outputs: [2], options: {} },
    { name: "FULLY_CONNECTED", version: 1, inputs: [0, 2, -1], outputs: [3], options },
  ];
  const main = { name: "main", tensors, inputs: [0], outputs: [3], operators };
  return writeTflite({ version: 3, description: "", subgraphs: [main], metadata: [], signatures: [] });
}

const engines = (change: (element: number) => number, name = "MAX_POOL_2D") => ({
  engines: [engineWith(name, change), referenceEngine],
});
const right = engines((element) => element);
const more = (element: number) => Math.min(255, element + 3);
const wrong = engines(more);

describe("nnhal diff", () => {
  it("says that all operations of a right device are right", async () => {
    const { stdout, stderr, exitCode } = await run(["diff", digits, "--device", "wrong"], right);
    expect(stdout).toMatch(/digits-uint8\.tflite: nnhal-wrong against nnhal-reference, noise of seed 1\n/);
    expect(stdout).toMatch(/All \d+ operations that were compared are right; the outputs are equal\.\n$/);
    expect([stderr, exitCode]).toEqual(["", 0]);
  });

  it("names the first wrong operation, with its error, and exits with 1", async () => {
    const { stdout, exitCode } = await run(["diff", digits, "--device", "wrong"], wrong);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^ +operator +output +alone +differ +mean +SNR +network +SNR$/m);
    expect(stdout).toMatch(/^\d+ +MAX_POOL_2D .* wrong +3 steps +[\d.]+ % +\+\d/m);
    expect(stdout).toMatch(
      /operation \d+, MAX_POOL_2D \(.*\), is the first that nnhal-wrong computes wrong: [\d.]+ % of the elements differ, by up to 3 steps \(\S+\), \+[\d.]+ in the mean, at element 0: expected \S+, got \S+\.\n$/,
    );
  });

  it("allows what --allow says, except for a bias", async () => {
    const args = ["diff", digits, "--device", "wrong"];
    // Ten elements have no bias.
    const few = engines((element) => (element < 128 ? element + 3 : element - 3), "SOFTMAX");
    expect((await run([...args, "--allow", "2"], few)).exitCode).toBe(1);
    expect((await run([...args, "--allow", "3"], few)).exitCode).toBe(0);
    expect((await run([...args, "--allow", "3"], wrong)).exitCode).toBe(1);
  });

  it("prints JSON with every operation, and lists all with --all", async () => {
    const { stdout } = await run(["diff", digits, "--device", "wrong", "--random", "2", "--json"], wrong);
    const report: DiffCommandReport = JSON.parse(stdout);
    expect(report).toMatchObject({
      devices: ["nnhal-wrong"],
      against: ["nnhal-reference"],
      inputs: ["noise of seed 1", "noise of seed 2"],
      isRight: false,
    });
    const first = report.operations[report.first ?? -1];
    expect(first).toMatchObject({ operation: "MAX_POOL_2D", operator: "MAX_POOL_2D", verdict: "wrong" });
    expect(first?.outputs[0]?.alone).toMatchObject({ largest: 3, isFloat: false });
    const { stdout: all } = await run(["diff", digits, "--device", "wrong", "--all"], wrong);
    for (const { index } of report.operations) expect(all).toMatch(new RegExp(`^${index + 1} +[A-Z]`, "m"));
  });

  it("saves the wrong operation, which runs by itself and gives the judge's result", async () => {
    const { stdout, exitCode } = await run(["diff", digits, "--device", "wrong", "--save", "pieces"], wrong);
    expect(exitCode).toBe(1);
    const names = await readdir(path("pieces"));
    const model = names.find((name) => name.endsWith(".tflite")) ?? "";
    const base = model.replace(".tflite", "");
    expect(base).toMatch(/^\d{4}-max_pool_2d$/);
    expect(stdout).toContain(`saved pieces/${model} with pieces/${base}.input0.bin`);
    const args = ["run", `pieces/${model}`, "--input", `pieces/${base}.input0.bin`, "--output-dir", "results"];
    expect((await run([...args, "--device", "reference"])).exitCode).toBe(0);
    expect(await get("results/output0.bin")).toEqual(await get(`pieces/${base}.expected0.bin`));
    expect(await get(`pieces/${base}.actual0.bin`)).not.toEqual(await get(`pieces/${base}.expected0.bin`));
    expect(
      (await run(["diff", `pieces/${model}`, `pieces/${base}.input0.bin`, "--device", "wrong"], wrong)).exitCode,
    ).toBe(1);
  });

  it("makes the inputs of the saved operation smaller with --shrink", async () => {
    const args = ["diff", digits, "--device", "wrong", "--save", "small", "--shrink"];
    expect((await run(args, wrong)).exitCode).toBe(1);
    const [base] = (await readdir(path("small"))).flatMap((name) => /^(.*)\.tflite$/.exec(name)?.[1] ?? []);
    const model = await readModel(path(`small/${base}.tflite`));
    const { tensors = [], inputs = [], outputs = [] } = model.subgraphs[0] ?? {};
    const shapeOf = ([index = 0]: readonly number[]) => tensors[index]?.shape;
    // A window of 2 by 2 of one channel. Tensors of fewer than 64 elements have no bias, and 3 steps are too many.
    expect([shapeOf(inputs), shapeOf(outputs)]).toEqual([
      [1, 2, 2, 1],
      [1, 1, 1, 1],
    ]);
    expect((await get(`small/${base}.input0.bin`)).length).toBe(4);
    const [expected] = await get(`small/${base}.expected0.bin`);
    expect([...(await get(`small/${base}.actual0.bin`))]).toEqual([(expected ?? 0) + 3]);
    const again = ["diff", `small/${base}.tflite`, `small/${base}.input0.bin`, "--device", "wrong"];
    expect((await run(again, wrong)).exitCode).toBe(1);
  });

  it("refuses --shrink without files to write, and without a judge that computes", async () => {
    const alone = await run(["diff", digits, "--device", "wrong", "--shrink"], wrong);
    expect(alone.stderr).toContain("--shrink is about what --save writes, but there is no --save");
    const float = fileURLToPath(new URL("../../demo/digits-float.tflite", import.meta.url));
    const recorded = await run(["diff", digits, "--against", float, "--save", "none", "--shrink"], wrong);
    expect(recorded.stderr).toContain("--shrink: expected devices as the judge");
    expect([alone.exitCode, recorded.exitCode]).toEqual([2, 2]);
  });

  it("saves an operator with weights that another one widens", async () => {
    await put("half.tflite", halfWeightsModel());
    const more3 = engines((element) => element + 3, "FULLY_CONNECTED");
    const { exitCode } = await run(["diff", "half.tflite", "--device", "wrong", "--save", "half"], more3);
    expect(exitCode).toBe(1);
    const files = (await readdir(path("half"))).sort();
    const base = files.find((name) => name.endsWith(".tflite"))?.replace(".tflite", "") ?? "";
    expect(base).toMatch(/fully_connected$/);
    expect(files).toEqual(
      ["actual0.bin", "expected0.bin", "input0.bin", "input1.bin", "tflite"].map((ending) => `${base}.${ending}`),
    );
    // 1 and 2, as float16 has them.
    expect([...new Float32Array((await get(`half/${base}.input1.bin`)).buffer)]).toEqual([1, 2]);
    const inputs = [0, 1].flatMap((place) => ["--input", `half/${base}.input${place}.bin`]);
    await run(["run", `half/${base}.tflite`, ...inputs, "--device", "reference", "--output-dir", "half-results"]);
    expect(await get("half-results/output0.bin")).toEqual(await get(`half/${base}.expected0.bin`));
  });

  it.each(["SUB", "MUL"])("saves an operator that became several operations, of which %s is wrong", async (name) => {
    await put("squares.tflite", squaredDifferenceModel());
    const folder = `squares-${name}`;
    const more3 = engines((element) => element + 3, name);
    const json = await run(["diff", "squares.tflite", "--device", "wrong", "--save", folder, "--json"], more3);
    const report: DiffCommandReport = JSON.parse(json.stdout);
    const operations = report.operations.map(({ operation }) => operation);
    expect(operations).toEqual(["SUB", "MUL"]);
    expect(report.unsaved).toEqual([]);
    expect(report.saved.map(({ operation }) => operations[operation])).toEqual([name]);
    const [{ model, inputs, expected, actual } = { model: "", inputs: [], expected: [], actual: [] }] = report.saved;
    expect([inputs.length, expected.length, actual.length]).toEqual([2, 1, 1]);
    const given = inputs.flatMap((file) => ["--input", file]);
    for (const [device, results] of Object.entries({ reference: expected, wrong: actual })) {
      await run(["run", model, ...given, "--device", device, "--output-dir", "squares-results"], more3);
      expect(await get("squares-results/output0.bin")).toEqual(await get(results[0] ?? ""));
    }
    expect(await get(expected[0] ?? "")).not.toEqual(await get(actual[0] ?? ""));
  });

  it("says why an operator of several operations is not saved", async () => {
    await put("squares.tflite", squaredDifferenceModel());
    const more3 = engines((element) => element + 3, "SUB");
    // Tensors of another engine, which lack what is within the operator.
    await run(["diff", "squares.tflite", "--device", "reference", "--record", "recorded"]);
    const args = ["diff", "squares.tflite", "--against", "recorded", "--device", "wrong", "--save", "none-saved"];
    const { stdout, exitCode } = await run(args, more3);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      "not saved: operation 1 (SUB): it became several operations, and the judge does not compute",
    );
    expect(stdout).not.toContain("\nsaved ");
  });

  it("writes a page with the error, the graph and the values of what differs", async () => {
    await run(["diff", digits, "--device", "wrong", "--html", "diff.html"], wrong);
    const html = new TextDecoder().decode(await get("diff.html"));
    expect(html).toMatch(/^<!doctype html>/);
    expect(html).toContain("is the first that nnhal-wrong computes wrong");
    expect(html).toMatch(/<svg class="histogram"/);
    expect(html).toMatch(/id="operation-\d+"/);
    expect(html).toContain(">4 MAX_POOL_2D<");
    expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
    expect(html).not.toContain("NaN");
  });

  it("says what quantisation costs against the float form of the network", async () => {
    const float = fileURLToPath(new URL("../../demo/digits-float.tflite", import.meta.url));
    const { stdout, exitCode } = await run(["diff", digits, "--against", float]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/digits-uint8\.tflite: nnhal-reference against .*digits-float\.tflite, noise of seed 1\n/);
    expect(stdout).toMatch(
      /The signal-to-noise ratio of the outputs against .* is [\d.]+ dB\. Operation \d+, \w+ \(.*\), loses most: [\d.]+ dB alone.* half of all noise\. Keep (it|these) in float first\.\n$/,
    );
    const { stdout: text } = await run(["diff", digits, "--against", float, "--json"]);
    const report: DiffCommandReport = JSON.parse(text);
    expect(report).toMatchObject({ isRight: true, isMeasured: true, against: [float] });
    expect(report.heaviest.length).toBeGreaterThan(0);
    expect(report.heaviest).toEqual(report.ranking.slice(0, report.heaviest.length));
    await run(["diff", digits, "--against", float, "--html", "cost.html"]);
    const html = new TextDecoder().decode(await get("cost.html"));
    expect(html).toContain("30 to 40 dB");
    expect(html).not.toContain("within the allowance");
    // A bound makes it a test.
    expect((await run(["diff", digits, "--against", float, "--allow", "0.1"])).exitCode).toBe(1);
  });

  it("refuses another network as its judge", async () => {
    await put("other.tflite", passingModel({ shape: [1, 3] }));
    const { stderr, exitCode } = await run(["diff", digits, "--against", "other.tflite"]);
    expect(stderr).toMatch(
      /other\.tflite cannot judge .*digits-uint8\.tflite: expected two networks whose inputs have the same shapes/,
    );
    expect(exitCode).toBe(2);
  });

  it("takes the tensors of another engine from a folder, with the inputs", async () => {
    const written = await run(["diff", digits, "--device", "wrong", "--random", "3", "--record", "tensors"], wrong);
    expect(written.stdout).toMatch(/recorded \d+ tensors of the first run in tensors\n/);
    const names = await readdir(path("tensors"));
    expect(names.every((name) => name.endsWith(".npy"))).toBe(true);
    // The reference is held against what the wrong device has computed.
    const { stdout, exitCode } = await run(["diff", digits, "--against", "tensors", "--device", "reference"], wrong);
    expect(stdout).toMatch(/digits-uint8\.tflite: nnhal-reference against tensors, .*\.npy, uint8 \[1, 32, 32, 3\]\n/);
    expect(stdout).toContain("MAX_POOL_2D");
    expect(exitCode).toBe(1);
    expect((await run(["diff", digits, "--against", "tensors", "--device", "wrong"], wrong)).exitCode).toBe(0);
  });

  it("takes files by the index of a tensor, and real numbers for quantised elements", async () => {
    const model = await readModel(digits);
    const [input = 0] = model.subgraphs[0]?.inputs ?? [];
    const { shape = [], quantization } = model.subgraphs[0]?.tensors[input] ?? {};
    const [scale = 1, zeroPoint = 0] = [quantization?.scale[0], Number(quantization?.zeroPoint[0])];
    const count = shape.reduce((product, extent) => product * extent, 1);
    const real = Float32Array.from({ length: count }, (_, index) => ((index % 256) - zeroPoint) * scale);
    await mkdir(path("real"));
    await put(`real/${input}.npy`, writeNpy("float32", shape, new Uint8Array(real.buffer)));
    const { stdout, exitCode } = await run(["diff", digits, "--against", "real", "--device", "reference"]);
    // All but the input is computed by the reference, so nothing was compared.
    expect(stdout).toContain(`${input}.npy, float32`);
    expect(exitCode).toBe(0);
    const [pool] = model.subgraphs[0]?.operators.find(({ name }) => name === "MAX_POOL_2D")?.outputs ?? [];
    await put(`real/${pool}.npy`, writeNpy("int16", [1, 1], new Uint8Array(2)));
    const refused = await run(["diff", digits, "--against", "real", "--device", "reference"]);
    expect(refused.stderr).toMatch(
      /the tensor real\/\d+\.npy stands for one of uint8: expected elements of that type, or real numbers as floats, got int16/,
    );
    expect(refused.exitCode).toBe(2);
  });

  it("says which files a folder needs", async () => {
    await mkdir(path("empty"));
    const { stderr, exitCode } = await run(["diff", digits, "--against", "empty"]);
    expect(stderr).toMatch(
      /expected \.npy files of this model's tensors in the folder empty, such as \S+\.npy, got none/,
    );
    expect(exitCode).toBe(2);
    const twice = await run(["diff", digits, "--against", "tensors", "--random", "2"]);
    expect(twice.stderr).toContain("the folder tensors has the tensors of one run, but there are 2");
  });

  it.each([
    ["--path burst", "in a burst"],
    ["--path cached", "from its cache"],
    ["--hal 1.0", "through HAL 1.0"],
    ["--relaxed", "relaxed"],
  ])("holds a device against itself with %s", async (way, said) => {
    const args = ["diff", digits, "--device", "reference", "--against", "reference", ...way.split(" ")];
    const { stdout, stderr, exitCode } = await run(args);
    expect([stderr, exitCode]).toEqual(["", 0]);
    expect(stdout).toContain(`nnhal-reference (${said}) against nnhal-reference`);
    expect(stdout).toMatch(/All \d+ operations that were compared are right; the outputs are equal\.\n$/);
  });

  it("says that a network keeps nothing", async () => {
    const { stderr, exitCode } = await run(["diff", digits, "--device", "wrong", "--keep-state"], right);
    expect(stderr).toContain("--keep-state: expected a network that keeps something between runs, got ");
    expect(exitCode).toBe(2);
  });

  it("has another judge with --against, and nothing to compare if it is the same device", async () => {
    const { stdout } = await run(["diff", digits, "--device", "reference", "--against", "wrong"], right);
    expect(stdout).toContain("nnhal-reference against nnhal-wrong");
    const same = await run(["diff", digits, "--device", "reference"], right);
    expect(same.stdout).toContain(
      "Nothing was compared: nnhal-reference computes no operation that nnhal-reference does not",
    );
    expect(same.exitCode).toBe(0);
  });

  it("takes files for inputs, one run each", async () => {
    const pictures = ["3-chalk.png", "7-mixture.png"].map((name) =>
      fileURLToPath(new URL(`../../demo/${name}`, import.meta.url)),
    );
    const { stdout, stderr } = await run(["diff", digits, ...pictures, "--device", "wrong"], right);
    expect(stderr).toBe("");
    expect(stdout).toContain(": nnhal-wrong against nnhal-reference, 2 runs");
  });

  it.each([
    [["--allow", "-1"], "Expected a number of at least 0"],
    [["--allow-float", "x"], "Expected a number of at least 0"],
    [["--random", "0"], "--random"],
    [["one.bin", "--random", "1"], "--random replaces inputs, but there are some"],
    [["--against", "none"], 'there is no device "none"'],
  ])("refuses %s", async (args, problem) => {
    const { stderr, exitCode } = await run(["diff", digits, ...args], right);
    expect(stderr).toContain(problem);
    expect(exitCode).toBe(2);
  });
});
