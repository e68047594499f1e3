import { describe, expect, it } from "vitest";
import {
  addingModel,
  labelledModel,
  passingModel,
  quantise,
  rememberingModel,
  shapelessModel,
  twoSignaturesModel,
  unfitSumModel,
  unknownOperatorModel,
  useFolder,
} from "../program.test-helper.ts";

const { run, put } = useFolder();
const json = async (file: string) => JSON.parse((await run(["info", file, "--json"])).stdout);

describe("nnhal info", () => {
  it("does not show an unknown shape as that of a scalar", async () => {
    await put("open.tflite", shapelessModel());
    const { stdout } = await run(["info", "open.tflite"]);
    expect(stdout).toContain("  0  given  FLOAT32 [?, 3]\n");
    expect(stdout).toContain("  0  sum  FLOAT32 of unknown shape\n");
    expect(await json("open.tflite")).toMatchObject({
      inputs: [{ shape: [-1, 3] }],
      outputs: [{ shape: [], isUnranked: true }],
    });
    expect((await json("open.tflite")).inputs[0].isUnranked).toBeUndefined();
    expect((await run(["graph", "open.tflite", "--format", "dot"])).exitCode).toBe(0);
  });

  it("shows a file that can run", async () => {
    await put("animals.tflite", labelledModel());
    const { stdout, stderr, exitCode } = await run(["info", "animals.tflite"]);
    expect([stderr, exitCode]).toEqual(["", 0]);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^file {7}animals\.tflite, \d+ bytes$/),
      "runs       yes",
      "name       Animals",
      "author     Ann",
      "constants  0, 0 bytes",
      "work       0 multiply-adds",
      "packed     labels.txt (12 bytes)",
      "",
      "Inputs",
      "  0  given  FLOAT32 [1, 3]",
      "",
      "Outputs",
      "  0  scores  FLOAT32 [1, 3]",
      "",
      "Operators",
      "  1  ABS  version 1  HAL: ABS",
      "",
    ]);
  });

  it("shows a file that cannot run, and why, and exits with 0", async () => {
    await put("custom.tflite", unknownOperatorModel());
    const { stdout, exitCode } = await run(["info", "custom.tflite"]);
    const reason = 'the HAL has no counterpart of the custom operator "Frobnicate"';
    const help =
      "give an extension with an operation of its name: --extension, extensions of load, customOperators of importTflite";
    expect(exitCode).toBe(0);
    expect(stdout).toContain("runs         no: 1 problem\n");
    expect(stdout).toContain(`  1  CUSTOM Frobnicate  version 1  blocked: ${reason}\n`);
    expect(stdout).toContain(`Problems\n  subgraphs[0].operators[0] (CUSTOM version 1): ${reason}; ${help}\n`);
  });

  it("shows that a model cannot run that is not valid, at the operator, as the commands that run models say it", async () => {
    await put("sum.tflite", unfitSumModel());
    const { stdout } = await run(["info", "sum.tflite"]);
    expect(stdout).toContain("no: 1 problem\n");
    expect(stdout).toMatch(/ ADD {2}version 1 {2}blocked: the HAL model that it becomes is not valid: ADD: /);
    expect(await json("sum.tflite")).toMatchObject({
      runs: false,
      problemCount: 1,
      problems: [{ path: "subgraphs[0].operators[0] (ADD version 1)", operator: { name: "ADD", index: 0 } }],
    });
    for (const command of ["run", "explain", "bench"]) {
      const result = await run([command, "sum.tflite"]);
      expect([command, result.stdout + result.stderr]).toEqual([command, expect.stringContaining("is not valid")]);
    }
  });

  it("shows what the model keeps between runs", async () => {
    await put("remember.tflite", rememberingModel());
    expect((await json("remember.tflite")).states).toEqual([{ name: "state", type: "FLOAT32", shape: [1, 4] }]);
    expect((await run(["info", "remember.tflite"])).stdout).toContain(
      "State\n  0  state  FLOAT32 [1, 4]\n\nOperators\n",
    );
  });

  it("shows the signature that is asked for", async () => {
    await put("two.tflite", twoSignaturesModel());
    const of = async (...args: readonly string[]) => (await run(["info", "two.tflite", ...args, "--json"])).stdout;
    const names = ({ inputs }: { inputs: { name: string }[] }) => inputs.map(({ name }) => name);
    expect(names(JSON.parse(await of("--signature", "differ")))).not.toEqual(names(JSON.parse(await of())));
    expect((await run(["info", "two.tflite", "--signature", "other"])).exitCode).toBe(2);
  });

  it("prints JSON of the promised form", async () => {
    await put("quantised.tflite", passingModel({ shape: [2, 3], type: "UINT8", ...quantise(0.5, 3) }));
    expect(await json("quantised.tflite")).toEqual({
      model: "quantised.tflite",
      bytes: expect.any(Number),
      runs: true,
      description: "test",
      metadata: null,
      packedFiles: [],
      externalBuffers: [],
      signatures: [],
      inputs: [
        {
          name: "given",
          type: "UINT8",
          shape: [2, 3],
          quantization: { scale: [0.5], zeroPoint: [3], quantizedDimension: 0 },
        },
      ],
      outputs: [expect.objectContaining({ name: "passed", shape: [1, 6] })],
      operators: [{ name: "RESHAPE", version: 1, count: 1, status: "hal", operations: ["RESHAPE"] }],
      constants: { count: 0, bytes: 0 },
      multiplyAdds: 0,
      problems: [],
      states: [],
      problemCount: 0,
      notes: [],
    });
    await put("custom.tflite", unknownOperatorModel());
    expect(await json("custom.tflite")).toMatchObject({
      runs: false,
      operators: [{ name: "CUSTOM", customCode: "Frobnicate", count: 1, status: "blocked", operations: [] }],
      problems: [{ operator: { subgraph: 0, index: 0, name: "CUSTOM", customCode: "Frobnicate", version: 1 } }],
      problemCount: 1,
    });
  });

  it("refuses a file that is broken with 1, and one that is missing with 2", async () => {
    await put("cut.tflite", addingModel().subarray(0, 60));
    await put("text.tflite", "This is not a model.");
    for (const file of ["cut.tflite", "text.tflite", "gone.tflite"]) {
      const { stdout, stderr, exitCode } = await run(["info", file]);
      expect({ file, stdout, exitCode }).toEqual({ file, stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/^nnhal info: [^\n]+\n$/);
    }
  });
});

describe("nnhal explain, validate and graph", () => {
  it("read the signature that is asked for", async () => {
    await put("two.tflite", twoSignaturesModel());
    const explained = async (...args: readonly string[]) =>
      JSON.parse((await run(["explain", "two.tflite", ...args, "--json"])).stdout).operations[0].type;
    expect(await explained()).toBe("ADD");
    expect(await explained("--signature", "differ")).toBe("SUB");
    expect((await run(["graph", "two.tflite", "--signature", "differ"])).stdout).toContain("SUB");
    expect((await run(["graph", "two.tflite"])).stdout).not.toContain("SUB");
    // SUB is of HAL 1.1, ADD of 1.0.
    const oldest = async (...args: readonly string[]) =>
      JSON.parse((await run(["validate", "two.tflite", ...args, "--json"])).stdout).minimumVersion;
    expect([await oldest(), await oldest("--signature", "differ")]).toEqual(["1.0", "1.1"]);
    for (const command of ["explain", "validate", "graph"]) {
      const { stderr, exitCode } = await run([command, "two.tflite", "--signature", "other"]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('there is no signature "other"')]);
    }
  });
});
