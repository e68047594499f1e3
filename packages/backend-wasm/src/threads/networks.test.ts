/** Networks on several threads have the results of one, to the bit. */
import { readFileSync } from "node:fs";
import { findTrainedExamples, modelRunner } from "@nnhal/conformance";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { Model } from "@nnhal/runtime";
import { modelsFolder as folder } from "@nnhal/test-kit/folders";
import { runExample } from "@nnhal/test-kit/run-example";
import { importTflite } from "@nnhal/tflite";
import type { Model as HalModel } from "@nnhal/types";
import { afterEach, describe, expect, it, vi } from "vitest";
import { wasmBackend } from "../wasm-backend.ts";

async function deviceOn(threads: number): Promise<OpenedDevice> {
  const device = await openDevice({ backend: wasmBackend({ threads }) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** Elements that are the same in each run. */
const some = (count: number, scale = 1) =>
  Float32Array.from({ length: count }, (_, at) => (((at * 37) % 101) / 50 - 1) * scale);

/** A convolution of an image with weights, one of its channels, a maximum, and a product: the kinds of steps that have much work. */
function layers(): HalModel {
  const model = new Model();
  const tensor = (dimensions: number[], data?: Float32Array) => {
    const index = model.addOperand({ type: "TENSOR_FLOAT32", dimensions });
    if (data !== undefined) model.setOperandValue(index, data);
    return index;
  };
  const int = (value: number) => {
    const index = model.addOperand({ type: "INT32" });
    model.setOperandValue(index, value);
    return index;
  };
  const [same, one, two, none, relu] = [int(1), int(1), int(2), int(0), int(1)];
  const input = tensor([1, 33, 31, 8]);
  const convolved = tensor([1, 33, 31, 24]);
  const weights = [tensor([24, 3, 3, 8], some(24 * 72, 0.1)), tensor([24], some(24))] as const;
  model.addOperation("CONV_2D", [input, ...weights, same, one, one, relu], [convolved]);
  const deep = tensor([1, 33, 31, 24]);
  const filters = [tensor([1, 3, 3, 24], some(216, 0.3)), tensor([24], some(24))] as const;
  model.addOperation("DEPTHWISE_CONV_2D", [convolved, ...filters, same, one, one, one, none], [deep]);
  const pooled = tensor([1, 16, 15, 24]);
  model.addOperation("MAX_POOL_2D", [deep, int(2), two, two, two, two, none], [pooled]);
  const result = tensor([240, 40]);
  const matrix = [tensor([40, 24], some(960, 0.2)), tensor([40], some(40))] as const;
  model.addOperation("FULLY_CONNECTED", [pooled, ...matrix, none], [result]);
  model.identifyInputsAndOutputs([input], [result]);
  model.finish();
  return model.hal;
}

async function resultsOn(threads: number, model: HalModel, inputs: readonly Uint8Array[]) {
  const device = await deviceOn(threads);
  try {
    const run = await modelRunner(model, [device]);
    // A second run finds threads that sleep, or that are still awake.
    const [first, second] = [await run(inputs), await run(inputs)];
    expect(second).toEqual(first);
    return first;
  } finally {
    await device.close();
  }
}

afterEach(() => vi.unstubAllEnvs());

describe("networks on several threads", { timeout: 60_000 }, () => {
  it.each([2, 3, 7])("have the same results on %i", async (threads) => {
    const inputs = [new Uint8Array(some(33 * 31 * 8).buffer)];
    expect(await resultsOn(threads, layers(), inputs)).toEqual(await resultsOn(1, layers(), inputs));
  });

  const examples = findTrainedExamples(folder);
  it("have the same results if they are trained", async ({ skip }) => {
    skip(examples.length === 0, `there are no models at ${folder}; set NNHAL_MODELS to their folder`);
    const models = new Map(examples.map((example) => [example.model, example]));
    for (const { path, inputs } of models.values()) {
      const { model } = importTflite(new Uint8Array(readFileSync(path)));
      const given = inputs.map((input) => new Uint8Array(readFileSync(input.path)));
      expect(await resultsOn(2, model, given)).toEqual(await resultsOn(1, model, given));
    }
  });

  it("say how many threads there are, and keep what they prepare apart", async () => {
    const open = async (threads?: number) => {
      const session = await wasmBackend(threads === undefined ? {} : { threads }).open();
      if ("unavailable" in session) throw new Error(session.unavailable);
      await session.close();
      return session;
    };
    const [one, two] = [await open(), await open(2)];
    expect(one.choices?.filter(({ subject }) => subject === "threads")).toEqual([]);
    expect(two.choices).toContainEqual({ subject: "threads", chosen: "2" });
    expect(two.choices?.filter(({ reason }) => reason !== undefined)).toEqual([]);
    expect([one.version, two.version]).toEqual([
      expect.not.stringContaining("threads"),
      expect.stringContaining("threads 2"),
    ]);
    vi.stubEnv("NNHAL_WASM_THREADS", "2");
    expect((await open()).version).toBe(two.version);
    expect((await open(1)).version).toBe(one.version);
  });

  it("do not keep a process alive that has not closed them", async () => {
    const code = `import { wasmBackend } from "@nnhal/backend-wasm";
const session = await wasmBackend({ threads: 3 }).open();
console.log("choices" in session && session.choices[0]);
`;
    expect((await runExample(code)).stdout).toBe("{ subject: 'threads', chosen: '3' }\n");
  });

  it.each([0, 65, 1.5, Number.NaN])("are refused for %d threads", async (threads) => {
    expect(await wasmBackend({ threads }).open()).toEqual({
      unavailable: `${threads} is not a valid number of threads`,
      remedy: "set threads or NNHAL_WASM_THREADS to a whole number from 1 to 64",
    });
  });

  it("are refused if the environment variable is not a number", async () => {
    vi.stubEnv("NNHAL_WASM_THREADS", "many");
    expect(await wasmBackend().open()).toMatchObject({ unavailable: "many is not a valid number of threads" });
  });

  it("compute on one thread where there is no shared memory, and say so", async () => {
    const shared = globalThis.SharedArrayBuffer;
    Reflect.deleteProperty(globalThis, "SharedArrayBuffer");
    try {
      const session = await wasmBackend({ threads: 2 }).open();
      expect("choices" in session && session.choices?.[0]).toEqual({
        subject: "threads",
        chosen: "1",
        reason: expect.stringContaining("2 threads were asked for: there is no SharedArrayBuffer"),
      });
    } finally {
      Object.defineProperty(globalThis, "SharedArrayBuffer", { value: shared, configurable: true, writable: true });
    }
  });
});
