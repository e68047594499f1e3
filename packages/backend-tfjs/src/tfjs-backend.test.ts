import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { viewSubgraph } from "@nnhal/backend";
import { modelRunner } from "@nnhal/conformance";
import { fromSource } from "@nnhal/test-kit/from-source";
import { ErrorStatus, type Model, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import * as tf from "@tensorflow/tfjs-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";
import { constant, modelOf, network, operand } from "./_models.test-helper.ts";
import { backend, tfjsBackend } from "./index.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, INT32, TENSOR_QUANT8_ASYMM, TENSOR_QUANT16_SYMM } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;

describe.each(["wasm", "cpu"] as const)("the tfjs backend on %s", (engine) => {
  it("says so", async () => {
    expect((await deviceOn(engine)).getVersionString().version).toMatch(new RegExp(`^nnhal-tfjs-\\d+ ${engine} \\d`));
  });

  it("computes", async () => {
    const run = await modelRunner(network(), [await deviceOn(engine)]);
    const [output] = await run([new Uint8Array(Float32Array.of(1, 2).buffer)]);
    const [first, second] = new Float32Array(output.buffer);
    // 1 + 4 − 1 = 4; 3 + 8 + 1 = 12, cut off at 6
    expect(first).toBeCloseTo(2, 6);
    expect(second).toBeCloseTo(Math.sqrt(6), 6);
  });

  it("computes after another engine has computed", async () => {
    const values = new Uint8Array(Float32Array.of(-3).buffer);
    const abs = modelOf(
      [constant(TENSOR_FLOAT32, [1], 0, 4), operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1])],
      [{ type: OperationType.ABS, inputs: [0], outputs: [1] }],
      values,
    );
    const run = await modelRunner(abs, [await deviceOn(engine)]);
    const other = await modelRunner(network(), [await deviceOn(engine === "cpu" ? "wasm" : "cpu")]);
    await other([new Uint8Array(8)]);
    // Nothing is uploaded for it.
    expect(await run([])).toEqual([new Uint8Array(Float32Array.of(3).buffer)]);
    expect(tf.getBackend()).toBe(engine);
  });
});

describe("a sequence that pauses", () => {
  it("continues with its engine while another one computes", async () => {
    const devices = await Promise.all((["wasm", "cpu"] as const).map((engine) => deviceOn(engine)));
    const steps = 500;
    // Adds up the inputs: weights 1 and 1, bias and state 0, no activation, time first.
    const model = modelOf(
      [
        operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [steps, 1, 1]),
        constant(TENSOR_FLOAT32, [1, 1], 0, 4),
        constant(TENSOR_FLOAT32, [1, 1], 4, 4),
        constant(TENSOR_FLOAT32, [1], 8, 4),
        constant(TENSOR_FLOAT32, [1, 1], 12, 4),
        constant(INT32, [], 16, 4),
        constant(INT32, [], 20, 4),
        operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [steps, 1, 1]),
      ],
      [{ type: OperationType.UNIDIRECTIONAL_SEQUENCE_RNN, inputs: [0, 1, 2, 3, 4, 5, 6], outputs: [7] }],
      new Uint8Array([
        ...new Uint8Array(Float32Array.of(1, 1, 0, 0).buffer),
        ...new Uint8Array(Int32Array.of(0, 1).buffer),
      ]),
    );
    const inputs = [new Uint8Array(new Float32Array(steps).fill(1).buffer)];
    const runs = await Promise.all(devices.map((device) => modelRunner(model, [device])));
    const results = await Promise.all([...runs, ...runs].map((run) => run(inputs)));
    for (const [output] of results) {
      expect([...new Float32Array(output.buffer)]).toEqual(Array.from({ length: steps }, (_, index) => index + 1));
    }
  });
});

describe("preparing for tfjs", () => {
  it("keeps a deadline, and leaves no tensor behind", async () => {
    let time = 0n;
    const device = await deviceOn("wasm", { now: () => time++ });
    const before = tf.memory();
    const { status, preparedModel } = await device.prepareModel(network(), { deadline: time + 8n });
    expect([status, preparedModel]).toEqual([ErrorStatus.MISSED_DEADLINE_TRANSIENT, null]);
    expect(tf.memory()).toEqual(before);
    expect((await device.prepareModel(network(), { deadline: time + 100_000n })).status).toBe(ErrorStatus.NONE);
  });

  it("does not run a model that takes hundreds of megabytes", async () => {
    // TILE to 2^27 elements takes a second.
    const model = modelOf(
      [
        constant(TENSOR_FLOAT32, [1], 0, 4),
        constant(TENSOR_INT32, [1], 4, 4),
        operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [0]),
      ],
      [{ type: OperationType.TILE, inputs: [0, 1], outputs: [2] }],
      new Uint8Array(Int32Array.of(0, 2 ** 27).buffer),
    );
    const device = await deviceOn("wasm");
    const { kernelNames } = await tf.profile(async () => {
      const { preparedModel } = await device.prepareModel(model);
      preparedModel?.close();
      return tf.scalar(0);
    });
    expect(kernelNames).not.toContain("Concat");
  });
});

describe("the tfjs backend", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("reports what is missing, and how to add it", async () => {
    // Without its native library tfjs-node may be absent or unable to load; either way there is a reason.
    const node = await tfjsBackend({ engine: "node" }).open();
    if (!("unavailable" in node)) {
      expect(node.version).toMatch(/ node /);
      return;
    }
    expect(node.unavailable).toMatch(/^no engine of tfjs is available\. @tensorflow\/tfjs-node ./);
    expect(node.unavailable).not.toContain("\n");
    expect(node.remedy).toMatch(/^npm (install|rebuild) @tensorflow\/tfjs-node$/);
  });

  it("has a reason for each operation that it refuses", async () => {
    const session = await tfjsBackend({ engine: "cpu" }).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    const supportOf = (model: Model) => {
      const source = { model, pools: [] };
      const view = viewSubgraph(model.main, source).operations[0];
      if ("unknown" in view) throw new Error(view.unknown);
      return session.supports(view);
    };
    const lsh = modelOf(
      [
        operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2, 2]),
        operand(TENSOR_INT32, SUBGRAPH_INPUT, [2]),
        operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2]),
        constant(INT32, [], 0, 4),
        operand(TENSOR_INT32, SUBGRAPH_OUTPUT, [2]),
      ],
      [{ type: OperationType.LSH_PROJECTION, inputs: [0, 1, 2, 3], outputs: [4] }],
      new Uint8Array(4),
    );
    expect(supportOf(lsh)).toEqual({ supported: false, reason: "LSH_PROJECTION: tfjs has no kernel for it" });
    const abs = (type: number) =>
      modelOf(
        [operand(type, SUBGRAPH_INPUT, [2]), operand(type, SUBGRAPH_OUTPUT, [2])],
        [{ type: OperationType.ABS, inputs: [0], outputs: [1] }],
      );
    expect(supportOf(abs(TENSOR_FLOAT32))).toEqual({ supported: true });
    expect(supportOf(abs(TENSOR_INT32))).toEqual({ supported: true });
    const cast = (from: number, to: number) =>
      modelOf(
        [operand(from, SUBGRAPH_INPUT, [2]), operand(to, SUBGRAPH_OUTPUT, [2])],
        [{ type: OperationType.CAST, inputs: [0], outputs: [1] }],
      );
    expect(supportOf(cast(TENSOR_FLOAT32, TENSOR_QUANT8_ASYMM))).toEqual({ supported: true });
    expect(supportOf(cast(TENSOR_QUANT16_SYMM, TENSOR_QUANT16_SYMM))).toEqual({ supported: true });
  });

  it("writes nothing to the console and leaves the process's listeners as they were", () => {
    const script = `
      import { tfjsBackend } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
      const count = () => process.listenerCount("uncaughtException") + process.listenerCount("unhandledRejection");
      const before = count();
      for (const engine of ["cpu", "wasm"]) await tfjsBackend({ engine }).open();
      console.log(count() - before);`;
    const args = [...fromSource, "--input-type=module", "-e", script];
    const cwd = fileURLToPath(new URL("../../..", import.meta.url));
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
    expect({ stdout, stderr, status }).toEqual({ stdout: "0\n", stderr: "", status: 0 });
  });

  it.each([
    ["cpu", / cpu /],
    ["wasm", / wasm /],
    ["fpga", /there is no engine "fpga" of tfjs/],
  ])("takes the engine %s from the environment", async (engine, expected) => {
    vi.stubEnv("NNHAL_TFJS_ENGINE", engine);
    const session = await backend.open();
    expect("unavailable" in session ? session.unavailable : session.version).toMatch(expected);
  });
});

it("refuses an option that does not exist, and names the nearest one", () => {
  const given: object = { engines: 1 };
  expect(() => tfjsBackend(given)).toThrow('tfjsBackend: unknown option "engines": did you mean "engine"?');
});
