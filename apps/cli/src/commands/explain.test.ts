import { referenceBackend } from "@nnhal/backend-reference";
import { describe, expect, it } from "vitest";
import type { Engine } from "../backend-module.ts";
import {
  addingModel,
  passingModel,
  referenceEngine,
  rememberingModel,
  unknownOperatorModel,
  useFolder,
} from "../program.test-helper.ts";

const { run, put, get, path } = useFolder();

/** An engine that takes one kind of operation, at half the time and three times the power of the reference. */
function engineFor(name: string, operation: string, compileFails = false): Engine {
  return {
    device: `nnhal-${name}`,
    module: `@x/${name}`,
    load: async () => ({
      name,
      deviceType: 4,
      async open() {
        const session = await referenceBackend.open();
        if ("unavailable" in session) return session;
        const info = { execTime: 0.5, powerUsage: 3 };
        const operandPerformance = session.capabilities.operandPerformance.map(({ type }) => ({ type, info }));
        return {
          ...session,
          capabilities: { ...session.capabilities, operandPerformance },
          supports: ({ definition }) =>
            definition.name === operation
              ? { supported: true }
              : { supported: false, reason: `${definition.name}: only ${operation} <here>` },
          ...(compileFails && { compile: () => Promise.reject(new Error("out of order")) }),
        };
      },
    }),
  };
}

const engines = [engineFor("adder", "ADD"), referenceEngine];
const json = async (...args: readonly string[]) =>
  JSON.parse((await run(["explain", "add.tflite", "--json", ...args], { engines })).stdout);

describe("nnhal explain", () => {
  it("prints JSON of the promised form", async () => {
    await put("add.tflite", addingModel());
    const { operations, steps, ...facts } = await json("--policy", "android");
    expect(operations).toMatchObject([
      {
        index: 0,
        type: "ADD",
        devices: { "nnhal-adder": { supported: true }, "nnhal-reference": { supported: true } },
        device: "nnhal-adder",
        step: 0,
        reason: "nnhal-adder is the fastest",
        inputs: [
          { type: "TENSOR_FLOAT32", shape: [2, 2] },
          { type: "TENSOR_FLOAT32", shape: [2, 2] },
          { type: "INT32" },
        ],
        outputs: [{ type: "TENSOR_FLOAT32", shape: [2, 2] }],
      },
    ]);
    expect(steps).toEqual([
      {
        device: "nnhal-adder",
        operations: [0],
        inputBytes: 32,
        outputBytes: 16,
        predictedMs: expect.any(Number),
        inputs: [
          { operand: 0, name: "left", type: "TENSOR_FLOAT32", shape: [2, 2], bytes: 16 },
          { operand: 1, name: "right", type: "TENSOR_FLOAT32", shape: [2, 2], bytes: 16 },
        ],
        outputs: [{ operand: expect.any(Number), name: "sum", type: "TENSOR_FLOAT32", shape: [2, 2], bytes: 16 }],
      },
    ]);
    expect(facts).toEqual({
      model: "add.tflite",
      policy: "android",
      preference: "FAST_SINGLE_ANSWER",
      devices: ["nnhal-adder", "nnhal-reference"],
      halVersions: { "nnhal-adder": "aidl4", "nnhal-reference": "aidl4" },
      minimumVersion: "1.0",
      predictedMs: steps[0].predictedMs,
      memory: { peak: 0, lowerBound: 0 },
    });
  });

  it("says which HAL version a model needs, also if it is one of AIDL", async () => {
    await put("whole.tflite", passingModel({ type: "INT32", shape: [2, 2] }));
    const { stdout } = await run(["explain", "whole.tflite"], { engines });
    expect(stdout).toContain("\nHAL      the model needs aidl2; devices of aidl4\n");
  });

  it("looks at the power if that is preferred", async () => {
    await put("add.tflite", addingModel());
    expect((await json("--preference", "low-power")).operations[0].device).toBe("nnhal-reference");
    expect((await json("--preference", "SUSTAINED_SPEED")).operations[0].device).toBe("nnhal-adder");
  });

  it("prints the answer of each device and the device of each operation", async () => {
    await put("pass.tflite", passingModel({ shape: [2, 2] }));
    const { stdout, stderr, exitCode } = await run(["explain", "pass.tflite", "--verbose"], { engines });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout.split("\n")).toEqual([
      "model    pass.tflite",
      "devices  nnhal-adder, nnhal-reference",
      "HAL      the model needs 1.0; devices of aidl4",
      "policy   cost, FAST_SINGLE_ANSWER",
      expect.stringMatching(/^plan {5}1 operation in 1 step, predicted 0\.01 ms$/),
      "memory   nothing between steps",
      "",
      "Operations",
      "  1  RESHAPE  TENSOR_FLOAT32 [2, 2], TENSOR_INT32 [2] → TENSOR_FLOAT32 [1, 4]",
      "     nnhal-adder      no   RESHAPE: only ADD <here>",
      "     nnhal-reference  yes",
      "     → nnhal-reference, step 1: only nnhal-reference supports it",
      "",
      "Steps",
      expect.stringMatching(/^ {2}1 {2}nnhal-reference: operation 1, predicted 0\.01 ms$/),
      '     in   16 bytes: "given" TENSOR_FLOAT32 [2, 2]',
      '     out  16 bytes: "passed" TENSOR_FLOAT32 [1, 4]',
      "",
    ]);
  });

  it("says why there is no plan and exits with 1", async () => {
    await put("pass.tflite", passingModel({ shape: [2, 2] }));
    const args = ["explain", "pass.tflite", "--device", "adder"];
    const { stdout, exitCode } = await run(args, { engines });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^plan {5}none: no device supports operation 1 of 1\. nnhal-adder: RESHAPE: only ADD <here>$/m,
    );
    expect(stdout).toContain("\nnnhal-adder does not take\n  1  RESHAPE  RESHAPE: only ADD <here>\n");
    const asJson = JSON.parse((await run([...args, "--json"], { engines })).stdout);
    expect(asJson).toMatchObject({
      operations: [{ device: null, step: null }],
      steps: [],
      problem: expect.any(String),
    });
  });

  it("times steps and operations with --run, state and all", async () => {
    await put("state.tflite", rememberingModel());
    const { stdout, stderr } = await run(["explain", "state.tflite", "--run", "--json"], { engines });
    const { measuredMs, operations, steps } = JSON.parse(stdout);
    expect(stderr).toBe("");
    // The clock of the tests goes on by 1 ms at each look; steps are timed by the process's own.
    expect(measuredMs).toBe(1);
    for (const part of [...operations, ...steps]) expect(part.measuredMs).toBeGreaterThan(0);
    expect((await run(["explain", "state.tflite", "--run", "--verbose"], { engines })).stdout).toMatch(
      /measured .* ms by itself$/m,
    );
    expect((await run(["explain", "state.tflite", "--run"], { engines })).stdout).toMatch(
      /^Slowest operations, .*\n {2}1 {2}SVDF {2}/m,
    );
  });

  it("notes a device that fails, and explains the plan that ran", async () => {
    await put("add.tflite", addingModel());
    const broken = [engineFor("adder", "ADD", true), referenceEngine];
    const { stdout, stderr } = await run(["explain", "add.tflite", "--run", "--json"], { engines: broken });
    expect(stderr).toContain("nnhal explain: note: the whole model is prepared on nnhal-reference: nnhal-adder: ");
    expect(JSON.parse(stdout)).toMatchObject({
      devices: ["nnhal-adder", "nnhal-reference"],
      operations: [{ device: "nnhal-reference" }],
      steps: [{ device: "nnhal-reference" }],
    });
  });

  it("draws a picture in which nothing from a device or file is markup", async () => {
    await put("pass.tflite", passingModel({ shape: [2, 2] }));
    await run(["explain", "pass.tflite", "--svg", "pass.svg"], { engines });
    const svg = new TextDecoder().decode(await get("pass.svg"));
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="[\d.]+" height="[\d.]+"/);
    expect(svg).toContain("nnhal-reference: 1 of 1 operations");
    expect(svg).toContain(">1 RESHAPE</text>");
    expect(svg).toContain("nnhal-adder: no, RESHAPE: only ADD &lt;here&gt;");
    const opened = svg.match(/<(svg|g|title|path|text)[\s>]/g)?.length;
    expect(svg.match(/<\/(svg|g|title|path|text)>/g)?.length).toBe(opened);
  });

  it("refuses what is wrong and exits with 2", async () => {
    await put("add.tflite", addingModel());
    const lineFor = async (...args: readonly string[]) => {
      const { stdout, stderr, exitCode } = await run(["explain", ...args], { engines });
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/^nnhal explain: [^\n]+\n$/);
      return stderr;
    };
    expect(await lineFor("gone.tflite")).toContain("the file does not exist");
    expect(await lineFor("add.tflite", "--preference", "FAST")).toContain("LOW_POWER");
    expect(await lineFor("add.tflite", "--policy", "best")).toContain("cost, android");
    expect(await lineFor("add.tflite", "--device", "adder,toaster")).toContain('there is no device "toaster"');
    expect(await lineFor("add.tflite", "--svg", path("."))).toContain("it is a folder");
  });
});

describe("--device", () => {
  const device = async (...args: readonly string[]) => {
    const { stdout } = await run(["run", "add.tflite", "--random", "1", "--json", ...args], { engines });
    return JSON.parse(stdout).device;
  };
  const copy: Engine = { ...referenceEngine, device: "nnhal-copy", module: "@x/copy" };

  it("is auto by default: the best of all, with the reference behind them", async () => {
    await put("add.tflite", addingModel());
    expect(await device()).toBe("nnhal-adder");
    expect(await device("--device", "auto")).toBe("nnhal-adder");
    const broken = [engineFor("adder", "ADD", true), referenceEngine];
    const fallen = await run(["run", "add.tflite", "--random", "1", "--json"], { engines: broken });
    expect(JSON.parse(fallen.stdout).device).toBe("nnhal-reference");
    expect(fallen.stderr).toMatch(/^nnhal run: note: the whole model is prepared on nnhal-reference: [^\n]+\n$/);
  });

  it("takes a list, of which nothing falls back to another", async () => {
    await put("add.tflite", addingModel());
    const broken = [engineFor("adder", "ADD", true), referenceEngine];
    const args = ["run", "add.tflite", "--random", "1", "--device", "adder,reference"];
    expect(await run(args, { engines: broken })).toMatchObject({
      stderr: expect.stringContaining("out of order"),
      exitCode: 1,
    });
  });

  it("gives equals to the first of a list, but to the reference with auto", async () => {
    await put("add.tflite", addingModel());
    const deviceOf = async (names: string) => {
      const args = ["run", "add.tflite", "--random", "1", "--json", "--device", names];
      return JSON.parse((await run(args, { engines: [copy, referenceEngine] })).stdout).device;
    };
    expect(await deviceOf("copy,reference")).toBe("nnhal-copy");
    expect(await deviceOf("reference, copy")).toBe("nnhal-reference");
    expect(await deviceOf("auto")).toBe("nnhal-reference");
  });

  it("refuses a device that is listed twice", async () => {
    await put("add.tflite", addingModel());
    const args = ["run", "add.tflite", "--random", "1", "--device", "adder,nnhal-adder"];
    expect(await run(args, { engines })).toEqual({
      stdout: "",
      stderr: "nnhal run: the device nnhal-adder is listed twice\n",
      exitCode: 2,
    });
  });

  it("shows the operators of a file that cannot become a HAL model, and why, and exits with 1", async () => {
    await put("custom.tflite", unknownOperatorModel());
    const { stdout, stderr, exitCode } = await run(["explain", "custom.tflite", "--svg", "none.svg"], { engines });
    expect(exitCode).toBe(1);
    expect(stderr).toBe("nnhal explain: note: there is no plan to draw; nnhal graph draws the file\n");
    const reason = 'the HAL has no counterpart of the custom operator "Frobnicate"';
    const help =
      "give an extension with an operation of its name: --extension, extensions of load, customOperators of importTflite";
    expect(stdout).toContain("plan     none: the file cannot become a HAL model: 1 problem\n");
    expect(stdout).toContain(`Operators of the file\n  1  CUSTOM Frobnicate  blocked: ${reason}\n`);
    expect(stdout).toContain(`Problems\n  subgraphs[0].operators[0] (CUSTOM version 1): ${reason}; ${help}\n`);
    const printed = JSON.parse((await run(["explain", "custom.tflite", "--json"], { engines })).stdout);
    expect(printed).toMatchObject({ operations: [], steps: [], fileOperators: [{ status: "blocked", reason }] });
    expect(printed.problems).toHaveLength(1);
  });
});
