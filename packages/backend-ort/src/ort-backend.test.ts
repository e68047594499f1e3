import { type RunContext, viewModel } from "@nnhal/backend";
import { Model } from "@nnhal/runtime";
import { ErrorStatus } from "@nnhal/types";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backend, ortBackend } from "./ort-backend.ts";

/** RELU of a tensor whose extents are given; 0 is one that the request determines. */
function relu(dimensions: readonly number[]): Model {
  const model = new Model();
  const [input, output] = [0, 1].map(() => model.addOperand({ type: "TENSOR_FLOAT32", dimensions }));
  model.addOperation("RELU", [input ?? 0], [output ?? 1]);
  model.identifyInputsAndOutputs([input ?? 0], [output ?? 1]);
  model.finish();
  return model;
}

async function openSession(threads = 1) {
  const session = await ortBackend({ threads }).open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

const options = { preference: 1, priority: 1 } as const;
const context = { now: () => 0n, loopTimeoutDuration: 0n, measure: false, random: Math.random };
const bytesOf = (...numbers: number[]) => new Uint8Array(Float32Array.from(numbers).buffer);
const floatsIn = ({ buffer, byteOffset, length }: Uint8Array) => [...new Float32Array(buffer, byteOffset, length / 4)];

describe("the options of the ort backend", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([0, -1, 1.5, Number.NaN])("%s is not a number of threads", async (threads) => {
    expect(await ortBackend({ threads }).open()).toEqual({
      unavailable: `${threads} is not a valid number of threads`,
      remedy: "set threads or NNHAL_ORT_THREADS to a whole number of at least 1",
    });
  });

  it("takes the threads from the environment", async () => {
    vi.stubEnv("NNHAL_ORT_THREADS", "many");
    expect(await backend.open()).toMatchObject({ unavailable: "many is not a valid number of threads" });
    vi.stubEnv("NNHAL_ORT_THREADS", "1");
    expect(await backend.open()).toHaveProperty("version");
  });

  it("names the engine and the processor in its version", async () => {
    expect((await openSession()).version).toMatch(/^nnhal-ort-1 onnxruntime 1\.\d+\.\d+ on ./);
  });
});

describe("ADD of 8 bits", () => {
  it("rounds a sum next to a half as the reference does", async () => {
    // From a public MobileNet v2: the sum is 25.50002 steps, and 25.49999 with the multipliers of ADD, which have 21 bits.
    const type = "TENSOR_QUANT8_ASYMM_SIGNED";
    const [left, right, output] = [
      { scale: 0.02703838050365448, zeroPoint: -3 },
      { scale: 0.028132501989603043, zeroPoint: -1 },
      { scale: 0.035842496901750565, zeroPoint: -3 },
    ].map((facts) => ({ type, dimensions: [1], ...facts }) as const);
    const model = new Model();
    const [x = 0, y = 0, z = 0] = [left, right, output].map((operand) => operand && model.addOperand(operand));
    const activation = model.addOperand({ type: "INT32" });
    model.setOperandValue(activation, Int32Array.of(0));
    model.addOperation("ADD", [x, y, activation], [z]);
    model.identifyInputsAndOutputs([x, y], [z]);
    model.finish();
    const executable = await (await openSession()).compile(viewModel({ model: model.hal, pools: [] }), options);
    const result = new Int8Array(1);
    const inputs = [113, -80].map((number) => ({
      bytes: new Uint8Array(Int8Array.of(number).buffer),
      dimensions: [1],
    }));
    const outputs = [{ bytes: new Uint8Array(result.buffer), dimensions: [1] }];
    expect(await executable.run(inputs, outputs, context)).toMatchObject({ status: ErrorStatus.NONE });
    expect([...result]).toEqual([22]);
    executable.close();
  });
});

describe("layers of 8 bits", () => {
  // onnxruntime changes weights and their zero point together on some processors, and failed if two layers had the same constant.
  it("follow one another with the same zero point", async () => {
    const model = new Model();
    const type = "TENSOR_QUANT8_ASYMM";
    const [input, hidden, output] = [0, 1, 2].map(() =>
      model.addOperand({ type, dimensions: [1, 2], scale: 1, zeroPoint: 0 }),
    );
    const activation = model.addOperand({ type: "INT32" });
    model.setOperandValue(activation, Int32Array.of(0));
    const layers = [
      [input ?? 0, hidden ?? 0, [4, 3, 3, 5]],
      [hidden ?? 0, output ?? 0, [3, 4, 5, 3]],
    ] as const;
    for (const [from, to, stored] of layers) {
      const weights = model.addOperand({ type, dimensions: [2, 2], scale: 1, zeroPoint: 3 });
      const bias = model.addOperand({ type: "TENSOR_INT32", dimensions: [2], scale: 1 });
      model.setOperandValue(weights, Uint8Array.from(stored));
      model.setOperandValue(bias, Int32Array.of(1, 2));
      model.addOperation("FULLY_CONNECTED", [from, weights, bias, activation], [to]);
    }
    model.identifyInputsAndOutputs([input ?? 0], [output ?? 0]);
    model.finish();
    const executable = await (await openSession()).compile(viewModel({ model: model.hal, pools: [] }), options);
    const result = new Uint8Array(2);
    const { status } = await executable.run(
      [{ bytes: Uint8Array.of(10, 20), dimensions: [1, 2] }],
      [{ bytes: result, dimensions: [1, 2] }],
      context,
    );
    // [10 + 1, 2 · 20 + 2], then [42 + 1, 2 · 11 + 2].
    expect([status, ...result]).toEqual([ErrorStatus.NONE, 43, 24]);
    executable.close();
  });
});

describe("a subgraph without outputs", () => {
  it("is compiled, and runs in no time unless its deadline has passed", async () => {
    const { hal } = relu([3]);
    const model = { ...hal, main: { ...hal.main, outputIndexes: [] } };
    const executable = await (await openSession()).compile(viewModel({ model, pools: [] }), options);
    const run = (more: Partial<RunContext>) =>
      executable.run([{ bytes: bytesOf(1, 2, 3), dimensions: [3] }], [], { ...context, now: () => 0n, ...more });
    expect(await run({})).toEqual({ status: ErrorStatus.NONE, outputShapes: [] });
    expect(await run({ measure: true })).toEqual({ status: ErrorStatus.NONE, outputShapes: [], timeOnDevice: 0n });
    expect(await run({ deadline: 0n })).toMatchObject({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT });
    executable.close();
  });
});

describe("memory of requests", () => {
  it("is used in place, and copied if it is not aligned", async () => {
    const executable = await (await openSession()).compile(viewModel({ model: relu([3]).hal, pools: [] }), options);
    for (const offset of [0, 4, 1]) {
      const input = new Uint8Array(20).subarray(offset, offset + 12);
      input.set(bytesOf(-1, 2, 3));
      const output = new Uint8Array(20).subarray(offset, offset + 12);
      for (const sign of [1, -1]) {
        input.set(bytesOf(-1, 2 * sign, 3));
        const { status } = await executable.run(
          [{ bytes: input, dimensions: [3] }],
          [{ bytes: output, dimensions: [3] }],
          context,
        );
        const result = output.slice();
        expect([status, floatsIn(result)]).toEqual([ErrorStatus.NONE, [0, Math.max(0, 2 * sign), 3]]);
      }
    }
    executable.close();
  });

  it("is that of each request, also when several run at once", async () => {
    const executable = await (await openSession()).compile(viewModel({ model: relu([1]).hal, pools: [] }), options);
    const outputs = await Promise.all(
      Array.from({ length: 8 }, async (_, number) => {
        // Odd ones are not aligned, so they share copies.
        const bytes = new Uint8Array(8).subarray(number % 2, 4 + (number % 2));
        bytes.set(bytesOf(number));
        const output = new Uint8Array(8).subarray(number % 2, 4 + (number % 2));
        await executable.run([{ bytes, dimensions: [1] }], [{ bytes: output, dimensions: [1] }], context);
        return floatsIn(output.slice())[0];
      }),
    );
    expect(outputs).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("has the size of the values", async () => {
    const executable = await (await openSession()).compile(viewModel({ model: relu([3]).hal, pools: [] }), options);
    const run = (inputBytes: number, outputBytes: number, extents = [3]) =>
      executable.run(
        [{ bytes: new Uint8Array(inputBytes), dimensions: [3] }],
        [{ bytes: new Uint8Array(outputBytes), dimensions: extents }],
        context,
      );
    expect(await run(12, 12)).toMatchObject({ status: ErrorStatus.NONE });
    expect(await run(16, 16, [])).toMatchObject({ status: ErrorStatus.NONE });
    expect(await run(12, 11)).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions: [3], isSufficient: false }],
    });
    expect(await run(11, 12)).toMatchObject({ message: expect.stringContaining("needs 12 bytes, not 11") });
    expect(await run(12, 12, [4])).toMatchObject({ message: expect.stringContaining("is declared as 4") });
  });

  it("has a limit for the results of operations", async () => {
    const executable = await (await openSession()).compile(viewModel({ model: relu([4]).hal, pools: [] }), options);
    const request = () =>
      [[{ bytes: new Uint8Array(16), dimensions: [4] }], [{ bytes: new Uint8Array(16), dimensions: [4] }]] as const;
    const run = (temporaryLimit: number) => executable.run(...request(), { ...context, temporaryLimit });
    expect(await run(15)).toMatchObject({ status: ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT });
    expect(await run(16)).toMatchObject({ status: ErrorStatus.NONE });
    const [first, second] = await Promise.all([run(31), run(31)]);
    expect([first.status, second.status]).toEqual([ErrorStatus.NONE, ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT]);
    expect(await run(31)).toMatchObject({ status: ErrorStatus.NONE });
  });
});

describe("extents that a request determines", () => {
  it("get a session for each, of which more than are kept work too", async () => {
    const graph = viewModel({ model: relu([0, 2]).hal, pools: [] });
    const executable = await (await openSession()).compile(graph, options);
    for (const rows of [1, 2, 3, 4, 5, 6, 1]) {
      const numbers = Array.from({ length: rows * 2 }, (_, place) => place - 1);
      const bytes = new Uint8Array(rows * 8);
      const { status, outputShapes } = await executable.run(
        [{ bytes: bytesOf(...numbers), dimensions: [rows, 2] }],
        [{ bytes, dimensions: [0, 2] }],
        context,
      );
      expect([status, outputShapes]).toEqual([ErrorStatus.NONE, [{ dimensions: [rows, 2], isSufficient: true }]]);
      expect(floatsIn(bytes)).toEqual(numbers.map((number) => Math.max(0, number)));
    }
    executable.close();
  });
});

describe("an optimised model", () => {
  const graph = viewModel({ model: relu([3]).hal, pools: [] });

  it("is restored, and computes the same", async () => {
    const session = await openSession();
    const blobs = await (await session.compile(graph, options)).serialize?.();
    expect(blobs?.model.map(({ length }) => length)).toEqual([expect.any(Number), 8]);
    const restored = await session.restore?.(blobs ?? { model: [], data: [] }, graph, options);
    const output = new Uint8Array(12);
    await restored?.run(
      [{ bytes: bytesOf(-1, 2, -3), dimensions: [3] }],
      [{ bytes: output, dimensions: [3] }],
      context,
    );
    expect(floatsIn(output)).toEqual([0, 2, 0]);
  });

  it("that is absent, damaged or of another subgraph is refused", async () => {
    const session = await openSession();
    const other = new Model();
    const operands = [0, 1, 2].map(() => other.addOperand({ type: "TENSOR_FLOAT32", dimensions: [3] }));
    const [left = 0, right = 0, output = 0] = operands;
    other.addOperation("MAXIMUM", [left, right], [output]);
    other.identifyInputsAndOutputs([left, right], [output]);
    other.finish();
    const foreign = viewModel({ model: other.hal, pools: [] });
    const longer = viewModel({ model: relu([4]).hal, pools: [] });
    const blobsOf = async (of: typeof graph) =>
      (await (await session.compile(of, options)).serialize?.()) ?? { model: [], data: [] };
    const [optimised = new Uint8Array(), size = new Uint8Array()] = (await blobsOf(graph)).model;
    const restore = (...model: readonly Uint8Array[]) => session.restore?.({ model, data: [] }, graph, options);
    await expect(restore(optimised, size)).resolves.toHaveProperty("run");
    await expect(restore()).rejects.toThrow("has no optimised model");
    await expect(restore(optimised)).rejects.toThrow("has no size of the model's memory");
    await expect(restore(optimised, size.subarray(1))).rejects.toThrow("has no size of the model's memory");
    await expect(restore(new Uint8Array(99), size)).rejects.toThrow();
    await expect(restore(...(await blobsOf(foreign)).model)).rejects.toThrow("other inputs or outputs");
    await expect(restore(...(await blobsOf(longer)).model)).rejects.toThrow("other inputs or outputs");
  });
});

describe("deadlines of the ort backend", () => {
  it("end preparing and running", async () => {
    const compile = async (time: bigint) =>
      (await openSession()).compile(viewModel({ model: relu([3]).hal, pools: [] }), {
        ...options,
        now: () => time,
        deadline: 5n,
      });
    await expect(compile(5n)).rejects.toMatchObject({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT });
    await expect(compile(4n)).resolves.toHaveProperty("run");
    const executable = await (await openSession()).compile(viewModel({ model: relu([1]).hal, pools: [] }), options);
    const result = await executable.run(
      [{ bytes: new Uint8Array(4), dimensions: [1] }],
      [{ bytes: new Uint8Array(4), dimensions: [1] }],
      { ...context, now: () => 5n, deadline: 5n },
    );
    expect(result.status).toBe(ErrorStatus.MISSED_DEADLINE_TRANSIENT);
  });
});

it("refuses an option that does not exist, and names the nearest one", () => {
  const given: object = { thread: 1 };
  expect(() => ortBackend(given)).toThrow('ortBackend: unknown option "thread": did you mean "threads"?');
});
