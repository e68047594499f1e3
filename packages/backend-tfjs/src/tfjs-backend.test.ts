import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { viewOperands, viewOperation } from "@nnhal/backend";
import { memoryOf } from "@nnhal/driver-core/memory";
import { operationByCode } from "@nnhal/operations";
import {
  ErrorStatus,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
} from "@nnhal/types";
import * as tf from "@tensorflow/tfjs-core";
import { describe, expect, it } from "vitest";
import { deviceOn, runnerOf } from "./_devices.test-helper.ts";
import { backend, tfjsBackend } from "./index.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, INT32, TENSOR_QUANT8_ASYMM, TENSOR_QUANT16_SYMM } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE, CONSTANT_COPY } = OperandLifeTime;

const operand = (type: number, lifetime: number, dimensions: number[], more: Partial<Operand> = {}): Operand => ({
  type,
  dimensions,
  numberOfConsumers: 1,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
  ...more,
});

const constant = (type: number, dimensions: number[], offset: number, length: number) =>
  operand(type, CONSTANT_COPY, dimensions, { location: { poolIndex: 0, offset, length } });

function modelOf(operands: Operand[], operations: Operation[], operandValues = new Uint8Array(0)): Model {
  const withLifetime = (lifetime: number) =>
    operands.flatMap((one, index) => (one.lifetime === lifetime ? [index] : []));
  const uses = operands.map(
    (_, index) => operations.flatMap(({ inputs }) => inputs).filter((one) => one === index).length,
  );
  return {
    main: {
      operands: operands.map((one, index) => ({ ...one, numberOfConsumers: uses[index] })),
      operations,
      inputIndexes: withLifetime(SUBGRAPH_INPUT),
      outputIndexes: withLifetime(SUBGRAPH_OUTPUT),
    },
    referenced: [],
    operandValues,
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

/** x · [[1, 2], [3, 4]]ᵀ + [10, 20], then RELU6, then √. */
function network(): Model {
  const values = new Uint8Array(28);
  values.set(new Uint8Array(Float32Array.of(1, 2, 3, 4, -1, 1).buffer));
  new DataView(values.buffer).setInt32(24, 3, true);
  return modelOf(
    [
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [1, 2]),
      constant(TENSOR_FLOAT32, [2, 2], 0, 16),
      constant(TENSOR_FLOAT32, [2], 16, 8),
      constant(INT32, [], 24, 4),
      operand(TENSOR_FLOAT32, TEMPORARY_VARIABLE, [1, 2]),
      operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1, 2]),
    ],
    [
      { type: OperationType.FULLY_CONNECTED, inputs: [0, 1, 2, 3], outputs: [4] },
      { type: OperationType.SQRT, inputs: [4], outputs: [5] },
    ],
    values,
  );
}

describe.each(["wasm", "cpu"] as const)("the tfjs backend on %s", (engine) => {
  it("says so", async () => {
    expect((await deviceOn(engine)).getVersionString().version).toMatch(new RegExp(`^nnhal-tfjs-\\d+ ${engine} \\d`));
  });

  it("computes", async () => {
    const run = await runnerOf(network(), await deviceOn(engine));
    const [output] = await run([new Uint8Array(Float32Array.of(1, 2).buffer)]);
    const [first, second] = new Float32Array(output.buffer);
    // 1 + 4 − 1 = 4; 3 + 8 + 1 = 12, cut off at 6
    expect(first).toBeCloseTo(2, 6);
    expect(second).toBeCloseTo(Math.sqrt(6), 6);
  });

  it("keeps as many tensors after 1,000 runs as after one, and none when the model is closed", async () => {
    const device = await deviceOn(engine);
    const before = tf.memory().numTensors;
    const { preparedModel } = await device.prepareModel(network());
    if (preparedModel === null) throw new Error("not prepared");
    const compiled = tf.memory().numTensors;
    // Weights, turned round, and bias: the constants themselves are not held beside what was made of them.
    expect(compiled - before).toBe(2);
    const location = (offset: number) => ({ poolIndex: 0, offset, length: 8 });
    const request = {
      inputs: [{ hasNoValue: false, location: location(0), dimensions: [] }],
      outputs: [{ hasNoValue: false, location: location(8), dimensions: [] }],
      pools: [{ kind: "memory" as const, memory: memoryOf(new Uint8Array(16)) }],
    };
    for (let run = 0; run < 1000; run++) {
      const { status, message } = await preparedModel.execute(request);
      expect({ status, message }).toEqual({ status: ErrorStatus.NONE, message: undefined });
    }
    expect(tf.memory().numTensors).toBe(compiled);
    preparedModel.close();
    expect(tf.memory().numTensors).toBe(before);
  });

  it("releases everything where an execution fails", async () => {
    const gather = modelOf(
      [
        operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2]),
        constant(INT32, [], 0, 4),
        operand(TENSOR_INT32, SUBGRAPH_INPUT, [1]),
        operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1]),
      ],
      [{ type: OperationType.GATHER, inputs: [0, 1, 2], outputs: [3] }],
      new Uint8Array(4),
    );
    const run = await runnerOf(gather, await deviceOn(engine));
    const before = tf.memory().numTensors;
    const values = new Uint8Array(Float32Array.of(5, 6).buffer);
    const at = (index: number) => [values, new Uint8Array(Int32Array.of(index).buffer)];
    expect([...new Float32Array((await run(at(1)))[0].buffer)]).toEqual([6]);
    for (const index of [-1, 2, 2 ** 31 - 1]) {
      await expect(run(at(index))).rejects.toThrow(/indexes reach from .* outside \[0, 2\)/);
    }
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe("the tfjs backend", () => {
  it("works on the best engine there is", async () => {
    const session = await backend.open();
    expect(session).toHaveProperty("version");
  });

  it("says what is missing, and how to add it", async () => {
    // Without its native library tfjs-node may be absent or unable to load; either way there is a reason.
    const node = await tfjsBackend({ engine: "node" }).open();
    if (!("unavailable" in node)) {
      expect(node.version).toMatch(/ node /);
      return;
    }
    expect(node.unavailable).toMatch(/^no engine of tfjs works here\. @tensorflow\/tfjs-node: ./);
    expect(node.unavailable).not.toContain("\n");
    expect(node.remedy).toBe("npm install @tensorflow/tfjs-node");
  });

  it("gives a reason for each operation that it refuses", async () => {
    const session = await tfjsBackend({ engine: "cpu" }).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    const supportOf = (model: Model) => {
      const source = { model, pools: [], operationByCode };
      const view = viewOperation(model.main, 0, viewOperands(model.main, source), source);
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
    const args = ["--import", "tsx", "--conditions=@nnhal/source", "--input-type=module", "-e", script];
    const cwd = fileURLToPath(new URL("../../..", import.meta.url));
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
    expect({ stdout, stderr, status }).toEqual({ stdout: "0\n", stderr: "", status: 0 });
  });

  it.each([
    ["cpu", / cpu /],
    ["wasm", / wasm /],
    ["fpga", /there is no engine "fpga" of tfjs/],
  ])("takes the engine %s from the environment", (engine, expected) => {
    const script = `
      import { backend } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
      const session = await backend.open();
      console.log(session.version ?? session.unavailable);`;
    const args = ["--import", "tsx", "--conditions=@nnhal/source", "--input-type=module", "-e", script];
    const cwd = fileURLToPath(new URL("../../..", import.meta.url));
    const env = { ...process.env, NNHAL_TFJS_ENGINE: engine };
    expect(spawnSync(process.execPath, args, { cwd, env, encoding: "utf8" }).stdout).toMatch(expected);
  });
});
