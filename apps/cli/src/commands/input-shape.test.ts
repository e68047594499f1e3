/** `--input-shape` in all commands that have it. */
import { mkdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { knownEngines } from "../engines.ts";
import {
  addingModel,
  labelledModel,
  partlyExtendedModel,
  passingModel,
  twoSignaturesModel,
  useFolder,
} from "../program.test-helper.ts";

const { run, put, path } = useFolder();

const floats = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);
const convolution = (extent: number) => partlyExtendedModel(extent, 2);
const shape = ["--input-shape", "image=1x5x7x2"];
const json = async (...args: readonly string[]) => {
  const { stdout, stderr } = await run([...args, "--json"]);
  expect(stderr).toBe("");
  return JSON.parse(stdout);
};

describe("--input-shape", () => {
  it("nnhal run computes what the network of that shape computes", async () => {
    await put("stored.tflite", convolution(4));
    await put("six.tflite", convolution(6));
    const outputOf = async (...args: readonly string[]) => {
      const all = ["run", ...args, "--random", "1", "--all-values", "--device", "reference", "--json"];
      return JSON.parse((await run(all, { engines: knownEngines })).stdout).outputs[0];
    };
    const chosen = await outputOf("stored.tflite", "--input-shape", "image=1x6x6x2");
    expect(chosen.shape).toEqual([1, 6, 6, 2]);
    expect(chosen.values).toHaveLength(72);
    expect(chosen).toEqual(await outputOf("six.tflite"));
    expect((await outputOf("stored.tflite")).shape).toEqual([1, 4, 4, 2]);
  });

  it("names inputs by name, by place, and by the name in the signature, several of them each once", async () => {
    await put("add.tflite", addingModel());
    await put("two.tflite", twoSignaturesModel());
    const run3 = (...names: readonly string[]) =>
      json("run", "add.tflite", "--random", "1", ...names.flatMap((name) => ["--input-shape", `${name}=3x2`]));
    expect((await run3("left", "right")).outputs[0].shape).toEqual([3, 2]);
    expect((await run3("1", "left")).outputs[0].shape).toEqual([3, 2]);
    const inputs = (await json("info", "two.tflite", "--signature", "differ")).inputs.map(
      ({ shape }: { shape: readonly number[] }) => shape,
    );
    const { signatures } = await json("info", "two.tflite");
    const names: readonly string[] = signatures.find(({ key }: { key: string }) => key === "differ").inputs;
    const chosen = names.flatMap((name) => ["--input-shape", `${name}=5x1`]);
    const signature = ["two.tflite", "--signature", "differ", ...chosen];
    expect((await run(["run", ...signature, "--random", "1"])).stderr).toBe("");
    expect((await json("info", ...signature)).inputs).toEqual(
      inputs.map(() => expect.objectContaining({ shape: [5, 1] })),
    );
  });

  it("nnhal info shows the shapes that follow, and the work", async () => {
    await put("network.tflite", convolution(4));
    const stored = await json("info", "network.tflite");
    const { inputs, outputs, multiplyAdds } = await json("info", "network.tflite", ...shape);
    expect([inputs[0].shape, outputs[0].shape]).toEqual([
      [1, 5, 7, 2],
      [1, 5, 7, 2],
    ]);
    expect(multiplyAdds / stored.multiplyAdds).toBe(35 / 16);
  });

  it("nnhal explain, validate and graph are about that network", async () => {
    await put("network.tflite", convolution(4));
    const { operations } = await json("explain", "network.tflite", ...shape, "--device", "reference");
    expect(operations.map(({ outputs: [output] }: { outputs: { shape: number[] }[] }) => output?.shape)).toEqual(
      [0, 1, 2].map(() => [1, 5, 7, 2]),
    );
    expect((await json("validate", "network.tflite", ...shape)).valid).toBe(true);
    expect((await run(["graph", "network.tflite", ...shape])).stdout).toContain("1x5x7x2");
  });

  it("nnhal bench measures that network, and not peers that cannot", async () => {
    await put("add.tflite", addingModel());
    const shapes = ["--input-shape", "left=5x2", "--input-shape", "right=5x2"];
    const { stdout, stderr } = await run([
      "bench",
      "add.tflite",
      ...shapes,
      "--rounds",
      "1",
      "--peers",
      "tfjs",
      "--json",
    ]);
    expect(stderr).toBe("nnhal bench: note: no fast engine is installed, only the reference, which takes long\n");
    const [model] = JSON.parse(stdout).models;
    const [device, peer] = model.contestants;
    expect(device).toMatchObject({ name: "nnhal-reference", problem: null, agreement: { agrees: true } });
    expect(peer.problem).toBe("it runs a network in the shapes of the file, not in those of --input-shape");
    const several = await run(["bench", "add.tflite", "add.tflite", ...shapes]);
    expect([several.exitCode, several.stderr]).toEqual([
      2,
      "nnhal bench: --input, --input-shape, --part and --onnx belong to one model, and there are several\n",
    ]);
  });

  it("nnhal batch runs that network", async () => {
    await put("animals.tflite", labelledModel());
    await mkdir(path("in"));
    await put("in/a.bin", floats(1, -2, 3, -4));
    const args = ["batch", "run", "animals.tflite", "in", "--threads", "1", "--raw", "--input-shape", "given=2x2"];
    expect(await run(args)).toMatchObject({ stderr: "", exitCode: 0 });
    const [line = ""] = (await run(["batch", "results", "results", "--json"])).stdout.split("\n");
    expect(JSON.parse(line)).toMatchObject({ outputs: [{ shape: [2, 2], values: [1, 2, 3, 4] }] });
  });

  it("makes a problem of an operator that cannot have the shape", async () => {
    await put("pass.tflite", passingModel({ shape: [2, 3] }));
    const wrong = ["pass.tflite", "--input-shape", "given=3x3"];
    const problem = "subgraphs[0].operators[0] (RESHAPE version 1): 9 elements do not fill the shape [1, 6]";
    const ran = await run(["run", ...wrong, "--random", "1"]);
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(problem)]);
    const { stdout, exitCode } = await run(["info", ...wrong]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(problem)]);
    expect((await run(["run", "pass.tflite", "--input-shape", "given=3x2", "--random", "1"])).exitCode).toBe(0);
  });

  it.each([
    ["1x2", "Expected a name and a shape, such as image=1x320x320x3;"],
    ["=1x2", "Expected a name and a shape, such as image=1x320x320x3;"],
    [
      "given=",
      'Shape of given: expected whole numbers of at least 1 with x between them, such as 1x320x320x3, got "";',
    ],
    ["given=1x0", 'got "0";'],
    ["given=1x-2", 'got "-2";'],
    ["given=1x2.5", 'got "2.5";'],
    ["given=1,2", 'got "1,2";'],
    ["given=1xtwo", 'got "two";'],
    ["given=1x2147483648", 'got "2147483648";'],
  ])("refuses %j", async (text, message) => {
    const { stderr, exitCode } = await run(["info", "pass.tflite", "--input-shape", text]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it("refuses a shape of an input that there is not, a wrong rank, an input that is named twice, and an example", async () => {
    await put("pass.tflite", passingModel({ shape: [2, 3] }));
    await put("example.json", "{}");
    const refusal = async (file: string, ...texts: readonly string[]) => {
      const { stderr, exitCode } = await run(["validate", file, ...texts.flatMap((text) => ["--input-shape", text])]);
      expect(exitCode).toBe(2);
      return stderr;
    };
    expect(await refusal("pass.tflite", "other=1x2")).toContain('there is no input "other"; inputs are "given"');
    expect(await refusal("pass.tflite", "given=6")).toContain("[6] is not a shape of 2 dimensions");
    expect(await refusal("pass.tflite", "given=2x3", "given=2x3")).toContain(
      "The input given has been given a shape already;",
    );
    expect(await refusal("pass.tflite", "given=2x3", "0=2x3")).toContain(
      'input 0 ("given") has been given a shape already',
    );
    expect(await refusal("example.json", "given=2x3")).toBe(
      "nnhal validate: --signature, --input-shape and --external-buffer are about .tflite files; example.json is a conformance example\n",
    );
  });

  it("may have = in the name, and stands in the help and in completions", async () => {
    await put("pass.tflite", passingModel({ shape: [2, 3] }));
    expect((await run(["info", "pass.tflite", "--input-shape", "a=b=1x2"])).stderr).toContain(
      'there is no input "a=b"',
    );
    for (const command of ["run", "info", "explain", "validate", "graph", "bench"])
      expect((await run([command, "--help"])).stdout).toContain("--input-shape <name=shape>");
    expect((await run(["batch", "run", "--help"])).stdout).toContain("--input-shape <name=shape>");
    expect((await run(["completion", "bash"])).stdout).toContain("--input-shape");
  });
});
