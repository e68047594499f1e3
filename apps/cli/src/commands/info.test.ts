import { describe, expect, it } from "vitest";
import {
  addingModel,
  labelledModel,
  passingModel,
  quantised,
  unknownOperatorModel,
  useFolder,
} from "../program.test-helper.ts";

const { run, put } = useFolder();
const json = async (file: string) => JSON.parse((await run(["info", file, "--json"])).stdout);

describe("nnhal info", () => {
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
    const help = "import it with customOperators: an extension with an operation of its name";
    expect(exitCode).toBe(0);
    expect(stdout).toContain("runs         no: 1 problem\n");
    expect(stdout).toContain(`  1  CUSTOM Frobnicate  version 1  blocked: ${reason}\n`);
    expect(stdout).toContain(`Problems\n  subgraphs[0].operators[0] (CUSTOM version 1): ${reason}; ${help}\n`);
  });

  it("prints JSON of the promised form", async () => {
    await put("quantised.tflite", passingModel({ shape: [2, 3], type: "UINT8", ...quantised(0.5, 3) }));
    expect(await json("quantised.tflite")).toEqual({
      model: "quantised.tflite",
      bytes: expect.any(Number),
      runs: true,
      description: "test",
      metadata: null,
      packedFiles: [],
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
