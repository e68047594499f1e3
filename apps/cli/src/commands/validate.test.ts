import { elementAt } from "@nnhal/operations";
import { addExample, toLine, withOperands } from "@nnhal/test-kit/examples";
import { readTflite, writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { addingModel, unknownOperatorModel, useFolder } from "../program.test-helper.ts";

const { run, put } = useFolder();

/** An example of ADD on three floats: operands 0 and 1 are read, 2 is the activation, 3 is the output. */
const example = (change: Parameters<typeof withOperands>[1] = {}) => toLine(withOperands(addExample(), change));

/** A loop that never ends over a value of some extents, as an example that tells no result. */
function loopExample(dimensions: readonly number[]): string {
  const operand = (type: string, lifetime: string, numberOfConsumers: number, more = {}) => ({
    ...{ type, lifetime, numberOfConsumers, dimensions: [], scale: 0, zeroPoint: 0 },
    ...{ channelQuant: null, isIgnored: false, data: null, ...more },
  });
  const value = (lifetime: string, consumers: number) => operand("TENSOR_FLOAT32", lifetime, consumers, { dimensions });
  const reference = (data: string) => operand("SUBGRAPH", "SUBGRAPH", 1, { data });
  const yes = operand("TENSOR_BOOL8", "SUBGRAPH_OUTPUT", 0, { dimensions: [1] });
  const truth = operand("TENSOR_BOOL8", "CONSTANT_COPY", 1, { dimensions: [1], data: "AQ==" });
  const subgraph = (operands: object[], operations: object[], inputIndexes: number[], outputIndexes: number[]) => ({
    ...{ operands, operations, inputIndexes, outputIndexes },
  });
  const condition = subgraph(
    [value("SUBGRAPH_INPUT", 0), truth, yes],
    [{ type: "LOGICAL_NOT", inputs: [1], outputs: [2] }],
    [0],
    [2],
  );
  const body = subgraph(
    [value("SUBGRAPH_INPUT", 1), value("SUBGRAPH_OUTPUT", 0)],
    [{ type: "ABS", inputs: [0], outputs: [1] }],
    [0],
    [1],
  );
  const main = subgraph(
    [reference("AAAAAA=="), reference("AQAAAA=="), value("SUBGRAPH_INPUT", 1), value("SUBGRAPH_OUTPUT", 0)],
    [{ type: "WHILE", inputs: [0, 1, 2], outputs: [3] }],
    [2],
    [3],
  );
  return JSON.stringify({
    ...{ name: "test/loop", spec: "test", minSupportedVersion: "V1_3", isRelaxed: false, expectFailure: true },
    ...{ expectedMultinomialDistributionTolerance: 0, model: { main, referenced: [condition, body] } },
  });
}

describe("nnhal validate", () => {
  it("exits with 0 for a valid .tflite file, and says the oldest version", async () => {
    await put("add.tflite", addingModel());
    expect(await run(["validate", "add.tflite"])).toEqual({
      stdout: "add.tflite: valid in HAL aidl4\nthe oldest HAL version that it fits is 1.0\n",
      stderr: "",
      exitCode: 0,
    });
  });

  it("takes an example as JSON, however it is laid out", async () => {
    await put("example.json", `\n ${JSON.stringify(JSON.parse(example()), null, 2)}`);
    expect((await run(["validate", "example.json"])).stdout).toContain("valid in HAL aidl4\n");
  });

  it("names versions of AIDL, which lack what OEMs have in those of HIDL", async () => {
    const { main, ...rest } = addExample();
    const custom = { ...elementAt(main.operations, 0), type: "OEM_OPERATION" as const };
    await put("oem.json", toLine({ ...rest, main: { ...main, operations: [custom] } }));
    expect((await run(["validate", "oem.json", "--hal", "1.3"])).stdout).toContain("oem.json: valid in HAL 1.3\n");
    const { stdout, exitCode } = await run(["validate", "oem.json", "--hal", "aidl1"]);
    expect(stdout).toContain("oem.json: not valid in HAL aidl1: 1 rule is broken\n");
    expect(stdout).toContain("OEM_OPERATION exists in HAL 1.0 to 1.3 only, the model is of aidl1");
    expect(exitCode).toBe(1);
  });

  it("exits with 1 and lists every issue with code, path and message", async () => {
    await put("wrong.json", example({ 0: { scale: 2, zeroPoint: 1 } }));
    const { stdout, exitCode } = await run(["validate", "wrong.json"]);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("wrong.json: not valid in HAL aidl4: 2 rules are broken");
    expect(lines[1]).toMatch(/^ {2}scale-none +main\.operands\[0\]\.scale +\S/);
    expect(lines[2]).toMatch(/^ {2}zero-point-none +main\.operands\[0\]\.zeroPoint +\S/);
    expect(lines[3]).toBe("it fits no HAL version");
    expect(exitCode).toBe(1);
  });

  it("lists indexes of a .tflite file that are out of range, as issues with their paths", async () => {
    const model = readTflite(addingModel());
    const subgraph = elementAt(model.subgraphs, 0);
    const operators = [{ ...elementAt(subgraph.operators, 0), inputs: [0, 9] }];
    await put("broken.tflite", writeTflite({ ...model, subgraphs: [{ ...subgraph, operators, outputs: [7] }] }));
    const issues = [
      {
        code: "tflite-index",
        path: "subgraphs[0].operators[0] (ADD).inputs[1]",
        message: "there is no tensor 9; the subgraph has 3",
      },
      { code: "tflite-index", path: "subgraphs[0].outputs[0]", message: "there is no tensor 7; the subgraph has 3" },
    ];
    const { stdout, stderr, exitCode } = await run(["validate", "broken.tflite", "--json"]);
    expect({ result: JSON.parse(stdout), stderr, exitCode }).toEqual({
      result: { valid: false, minimumVersion: null, issues, requirements: [] },
      stderr: "",
      exitCode: 1,
    });
    expect((await run(["validate", "broken.tflite"])).stdout.split("\n")).toEqual([
      "broken.tflite: not valid in HAL aidl4: 2 rules are broken",
      ...issues.map(({ code, path, message }) => `  ${code}  ${path.padEnd(41)}  ${message}`),
      "it fits no HAL version",
      "",
    ]);
    // A command that needs a whole model refuses it.
    expect(await run(["graph", "broken.tflite"])).toMatchObject({ stdout: "", exitCode: 2 });
  });

  it("lists indexes of an example that are out of range, as issues with their paths", async () => {
    const { main, ...rest } = addExample();
    const operation = elementAt(main.operations, 0);
    const broken = { ...main, operations: [{ ...operation, inputs: [0, 1, 99] }], outputIndexes: [4_000_000_000] };
    await put("broken.json", toLine({ ...rest, main: broken }));
    const { stdout, stderr, exitCode } = await run(["validate", "broken.json", "--json"]);
    const paths = JSON.parse(stdout).issues.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(["main.operations[0].inputs[2]", "main.outputIndexes[0]"]));
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 1 });
    expect(await run(["graph", "broken.json"])).toMatchObject({ stdout: "", exitCode: 2 });
  });

  it("says what needs the oldest version, and is not valid in those before", async () => {
    const half = { type: "TENSOR_FLOAT16" as const, data: new Uint8Array(6) };
    await put("half.json", example({ 0: half, 1: half, 3: half }));
    const now = await run(["validate", "half.json"]);
    expect(now.exitCode).toBe(0);
    expect(now.stdout).toContain("the oldest HAL version that it fits is 1.2:\n");
    expect(now.stdout).toMatch(
      /^ {2}TENSOR_FLOAT16 needs HAL 1\.2 +main\.operands\[0\]\.type, main\.operands\[1\]\.type, and 1 more$/m,
    );
    expect((await run(["validate", "half.json", "--hal", "1.2"])).exitCode).toBe(0);
    const before = await run(["validate", "half.json", "--hal", "1.1"]);
    expect(before.exitCode).toBe(1);
    expect(before.stdout).toMatch(/not valid in HAL 1\.1: \d rules are broken/);
    expect(before.stdout).toContain("the oldest HAL version that it fits is 1.2:\n");
  });

  it("prints JSON", async () => {
    await put("add.tflite", addingModel());
    await put("wrong.json", example({ 0: { scale: 2 } }));
    expect(JSON.parse((await run(["validate", "add.tflite", "--json"])).stdout)).toEqual({
      valid: true,
      minimumVersion: "1.0",
      issues: [],
      requirements: [],
    });
    const wrong = await run(["validate", "wrong.json", "--json"]);
    expect(JSON.parse(wrong.stdout)).toEqual({
      valid: false,
      minimumVersion: null,
      issues: [{ code: "scale-none", path: "main.operands[0].scale", message: expect.any(String) }],
      requirements: [],
    });
    expect(wrong.exitCode).toBe(1);
  });

  it("finds every issue, not only the first few", async () => {
    const inputs = Array.from({ length: 50 }, (_, index) => [index, { scale: 2 }] as const);
    const base = addExample();
    const operand = elementAt(base.main.operands, 0);
    const many = {
      ...base,
      main: { ...base.main, operands: [...base.main.operands, ...Array.from({ length: 46 }, () => operand)] },
    };
    await put("many.json", toLine(withOperands(many, Object.fromEntries(inputs))));
    const { issues } = JSON.parse((await run(["validate", "many.json", "--json"])).stdout);
    expect(issues.filter(({ code }: { code: string }) => code === "scale-none").length).toBeGreaterThan(40);
  });

  it("applies the rules of drivers if asked to: they do not loop over unknown sizes", async () => {
    await put("loop.json", loopExample([0]));
    await put("known.json", loopExample([2]));
    const outcome = async (...args: readonly string[]) => (await run(["validate", ...args])).exitCode;
    expect(await outcome("loop.json")).toBe(0);
    expect(await outcome("loop.json", "--rules", "runtime")).toBe(0);
    expect(await outcome("loop.json", "--rules", "driver")).toBe(1);
    expect(await outcome("known.json", "--rules", "driver")).toBe(0);
    expect(await outcome("known.json", "--rules", "mine")).toBe(2);
  });

  it("lists what the HAL cannot express in a .tflite file, and exits with 1", async () => {
    await put("unknown.tflite", unknownOperatorModel());
    const { stdout, stderr, exitCode } = await run(["validate", "unknown.tflite", "--json"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 1 });
    expect(JSON.parse(stdout)).toEqual({
      valid: false,
      minimumVersion: null,
      issues: [
        {
          code: "tflite-blocked",
          path: "subgraphs[0].operators[0] (CUSTOM version 1)",
          message: 'the HAL has no counterpart of the custom operator "Frobnicate"',
          operator: { subgraph: 0, index: 0, name: "CUSTOM", customCode: "Frobnicate", version: 1 },
          help: expect.stringContaining("--extension"),
        },
      ],
      requirements: [],
    });
    expect((await run(["validate", "unknown.tflite"])).stdout).toMatch(
      /"Frobnicate"; give an extension with an operation of its name/,
    );
  });

  it("exits with 2 and one line for a file that holds no model", async () => {
    await put("truncated.tflite", addingModel().subarray(0, 40));
    await put("half.json", '{"name": "x"');
    await put("empty.json", "{}");
    await put("empty.tflite", "");
    for (const [file, problem] of [
      ["truncated.tflite", "the model truncated.tflite cannot be used: "],
      ["half.json", "the conformance example half.json cannot be used: not JSON"],
      ["empty.json", "the conformance example empty.json cannot be used: name: "],
      ["empty.tflite", "the model empty.tflite cannot be used: "],
      ["gone.tflite", "cannot read the model gone.tflite: the file does not exist"],
    ] as const) {
      const { stdout, stderr, exitCode } = await run(["validate", file]);
      expect({ file, stdout, exitCode }).toEqual({ file, stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/^nnhal validate: .*\n$/);
      expect(stderr).toContain(problem);
    }
    expect((await run(["validate", "empty.json", "--hal", "1.4"])).exitCode).toBe(2);
  });
});
