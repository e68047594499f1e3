import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { referenceBackend } from "@nnhal/backend-reference";
import { defineExtension, defineOperation, tensor as operand } from "@nnhal/operations/authoring";
import { describe, expect, it } from "vitest";
import type { NetworkError } from "./error.ts";
import { load } from "./load.ts";
import type { Model } from "./model.ts";
import {
  addingModel,
  demoFolder,
  modelOf,
  passingModel,
  quantise,
  rememberingModel,
  tensor,
  unknownOperatorModel,
} from "./models.test-helper.ts";
import type { Inputs } from "./run-inputs.ts";
import { portOfWorker } from "./workers-node.ts";

/** A test must not depend on the engines that are installed. */
const options = { engines: [] };
const open = (bytes: Uint8Array) => load(bytes, options);
const errorOf = async (
  work: Promise<unknown>,
): Promise<Pick<NetworkError, "name" | "code" | "message" | "problems">> => {
  const error = await work.then(
    () => undefined,
    (reason: NetworkError) => reason,
  );
  if (error === undefined) throw new Error("it has not failed");
  const { name, code, message, problems } = error;
  return { name, code, message, problems };
};

const labelFile = join(demoFolder, "labels.txt");

describe("load", () => {
  it("takes a path, a file URL, bytes, a view, a Blob and an address", async () => {
    const file = join(demoFolder, "digits-uint8.tflite");
    const bytes = addingModel();
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    for (const source of [file, pathToFileURL(file), pathToFileURL(file).href]) {
      const model = await load(source, options);
      expect(model.inputs).toMatchObject([{ name: "picture", type: "uint8", shape: [1, 32, 32, 3] }]);
      await model.close();
    }
    for (const source of [
      bytes,
      bytes.slice().buffer,
      new DataView(shifted.buffer, 3),
      new Blob([new Uint8Array(bytes)]),
    ]) {
      const model = await load(source, options);
      expect(model.inputs.map(({ name }) => name)).toEqual(["left", "right"]);
    }
    const server = createServer((request, response) => {
      if (request.url === "/model") response.end(bytes);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const address = server.address();
      const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
      expect((await load(`${origin}/model`, options)).outputs).toHaveLength(1);
      expect(await errorOf(load(new URL(`${origin}/other`), options))).toMatchObject({
        code: "CANNOT_READ",
        message: expect.stringContaining("the server answered 404"),
      });
    } finally {
      server.close();
    }
  });

  it("tells how far it is, and what it warns of", async () => {
    const stages: unknown[] = [];
    await load(addingModel(), { ...options, onProgress: ({ stage }) => stages.push(stage) });
    expect(stages).toEqual(["import", "devices", "prepare"]);
    const read: unknown[] = [];
    await load(join(demoFolder, "digits-uint8.tflite"), { ...options, onProgress: (progress) => read.push(progress) });
    expect(read[0]).toEqual({ stage: "read", loaded: 14224, total: 14224 });
  });

  it("ends with the reason of a signal, before and while it loads", async () => {
    const reason = new Error("enough");
    await expect(load(addingModel(), { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const loading = load(addingModel(), {
      ...options,
      signal: controller.signal,
      onProgress: ({ stage }) => stage === "devices" && controller.abort(reason),
    });
    await expect(loading).rejects.toBe(reason);
  });

  it.each([
    ["/no/such/file.tflite", "CANNOT_READ", "cannot read the model /no/such/file.tflite: the file does not exist"],
    [demoFolder, "CANNOT_READ", "it is a folder"],
    [labelFile, "NOT_A_MODEL", `the model ${labelFile} cannot be used: it is a text`],
    [new Uint8Array(0), "NOT_A_MODEL", "the model cannot be used: it is empty"],
    [addingModel().subarray(0, 100), "NOT_A_MODEL", "the model cannot be used: "],
    [5, "WRONG_TYPE", "the model is a number; give a path, an address, a URL, bytes or a Blob"],
    [Promise.resolve(addingModel()), "WRONG_TYPE", "a promise, which must be awaited"],
  ])("refuses %s: %s", async (source, code, message) => {
    expect(await errorOf(load(source as string, options))).toMatchObject({
      name: "NetworkError",
      code,
      message: expect.stringContaining(message),
    });
  });

  it("names what a model has that no device can run", async () => {
    const { code, message, problems } = await errorOf(open(unknownOperatorModel()));
    expect({ code, count: problems.length }).toEqual({ code: "CANNOT_RUN", count: 1 });
    expect(message).toContain("Frobnicate");
    expect(problems[0]).toContain("Frobnicate");
  });

  it("runs custom operators by an extension", async () => {
    const frobnicate = defineOperation({
      name: "Frobnicate",
      code: 1,
      summary: "Negates.",
      params: [operand("input", "TENSOR_FLOAT32")],
      outputs: [operand("output", "TENSOR_FLOAT32")],
      types: [["1.2"]],
      infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
      reference({ input }, { output }) {
        for (const [index, value] of input.data.entries()) output.data[index] = -value;
      },
    });
    const mine = defineExtension({ name: "com.example.mine", operations: [frobnicate] });
    const model = await load(unknownOperatorModel(), { ...options, extensions: [mine] });
    expect((await model.run([1, -2])).output.data).toEqual(Float32Array.of(-1, 2));
    expect((await model.explain()).operations).toMatchObject([{ operation: "com.example.mine Frobnicate" }]);
    await model.close();
  });

  it.each([
    [{ signature: "other" }, "BAD_OPTION", 'there is no signature "other"'],
    [{ inputShapes: { other: [1] } }, "BAD_OPTION", 'there is no input "other"'],
    [{ devices: "quantum" }, "NO_DEVICE", 'there is no device "quantum"; there are: nnhal-reference'],
    [{ devices: [] }, "BAD_OPTION", "devices: it is an empty list"],
    [{ devices: "reference,nnhal-reference" }, "BAD_OPTION", "devices: nnhal-reference is listed twice"],
    [{ engines: ["@nnhal/no-such-engine"] }, "NO_DEVICE", "@nnhal/no-such-engine is not installed"],
    [{ engines: ["./no-such-engine.mjs"] }, "NO_DEVICE", "loading ./no-such-engine.mjs failed"],
    [{ engines: [async () => ({})] }, "BAD_OPTION", "is not a backend, nor a module that exports one as backend"],
    [{ worker: true, engines: [async () => ({})] }, "BAD_OPTION", "are passed to a worker by name"],
    [{ threads: 2 }, "BAD_OPTION", "threads: 2: it must be an integer above 0, for `worker: true`"],
    [{ worker: true, threads: 0 }, "BAD_OPTION", "threads: 0: it must be an integer above 0"],
  ])("refuses the options %j", async (more, code, message) => {
    expect(await errorOf(load(addingModel(), { ...options, ...more }))).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("takes engines: backends, functions, modules, and names of modules", async () => {
    const backend = { ...referenceBackend, name: "mine" };
    const folder = mkdtempSync(join(tmpdir(), "nnhal-engine-"));
    try {
      const file = join(folder, "engine.mjs");
      // It refuses to open, which is known only if it was loaded.
      writeFileSync(
        file,
        'export const backend = { name: "other", deviceType: 2, open: async () => ({ unavailable: "I am tired" }) };',
      );
      for (const engine of [backend, async () => backend, async () => ({ backend })]) {
        const model = await load(addingModel(), { engines: [engine], devices: "mine" });
        expect(model.devices).toEqual(["nnhal-mine"]);
        await model.close();
      }
      expect((await load(addingModel(), { engines: [file] })).devices).toEqual(["nnhal-reference"]);
      const named = {
        engines: [{ name: "other", deviceType: 2, open: async () => ({ unavailable: "I am tired" }) }],
      } as const;
      expect(await errorOf(load(addingModel(), { ...named, devices: "other" }))).toMatchObject({
        code: "NO_DEVICE",
        message: "the device other cannot work here: I am tired",
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("takes shapes of inputs", async () => {
    const model = await load(passingModel({ shape: [1, 2], shapeSignature: [-1, 2] }), {
      ...options,
      inputShapes: { given: [3, 2] },
    });
    expect(model.inputs[0]?.shape).toEqual([3, 2]);
    expect((await model.run([1, 2, 3, 4, 5, 6])).output.data).toEqual(Float32Array.of(1, 2, 3, 4, 5, 6));
  });

  it("names tensors by their signature, and finds them by their own names too", async () => {
    const shape = [2];
    const bytes = modelOf(
      {
        tensors: [tensor("serving_a:0", { shape }), tensor("serving_b:0", { shape })],
        inputs: [0],
        outputs: [1],
        operators: [{ name: "ABS", version: 1, inputs: [0], outputs: [1], options: {} }],
      },
      [
        {
          key: "serving_default",
          subgraph: 0,
          inputs: [{ name: "a", tensor: 0 }],
          outputs: [{ name: "b", tensor: 1 }],
        },
      ],
    );
    const model = await load(bytes, { ...options, signature: "serving_default" });
    expect(model.signatures).toEqual(["serving_default"]);
    expect(model.inputs).toEqual([{ name: "a", otherNames: ["serving_a:0"], type: "float32", shape }]);
    for (const name of ["a", "serving_a:0", "input"]) {
      const outputs = await model.run({ [name]: [-1, 2] });
      expect(Object.keys(outputs)).toEqual(["b"]);
      expect(outputs.b).toBe(outputs["serving_b:0"]);
      expect(outputs.b).toBe(outputs.output);
      expect([...(outputs.b?.data ?? [])]).toEqual([1, 2]);
    }
  });
});

describe("run", () => {
  const add = { left: [1, 2, 3, 4], right: [10, 20, 30, 40] };

  it("computes in true shapes", async () => {
    await using model = await open(addingModel());
    const { sum } = await model.run(add);
    expect(sum).toEqual({ name: "sum", type: "float32", shape: [2, 2], data: Float32Array.of(11, 22, 33, 44) });
  });

  it("goes on several times at once", async () => {
    const model = await open(addingModel());
    const all = await Promise.all([1, 2, 3, 4, 5].map((n) => model.run({ left: [n, n, n, n], right: [1, 1, 1, 1] })));
    expect(all.map(({ output }) => output.data[0])).toEqual([2, 3, 4, 5, 6]);
  });

  const wrong: [unknown, string, string][] = [
    [{ left: add.left }, "WRONG_NAME", 'the input "right" (float32 [2, 2]) is missing'],
    [{ ...add, other: 1 }, "WRONG_NAME", 'there is no input "other"; there are: "left" (float32 [2, 2]), "right"'],
    [{}, "WRONG_NAME", 'the input "left" (float32 [2, 2]) is missing'],
    [[1, 2, 3, 4], "WRONG_NAME", "the model has 2 inputs: give them by name"],
    [{ ...add, left: new Int32Array(4) }, "WRONG_TYPE", 'the input "left" (float32 [2, 2]) takes'],
    [{ ...add, left: [1, 2, 3] }, "WRONG_SIZE", 'the input "left" (float32 [2, 2]) has 4 elements; 3 were given'],
    [{ ...add, left: { data: [1, 2, 3, 4], shape: [4, 1] } }, "WRONG_SHAPE", "the shape [4, 1]"],
    [undefined, "WRONG_NAME", "give them by name"],
    [new Map(), "WRONG_TYPE", "inputs: an object of the class Map has no inputs"],
  ];
  it.each(wrong)("refuses %j: %s", async (inputs, code, message) => {
    await using model = await open(addingModel());
    expect(await errorOf(model.run(inputs as Inputs))).toMatchObject({
      name: "NetworkError",
      code,
      message: expect.stringContaining(message),
    });
    expect((await model.run(add)).output.data[0]).toBe(11);
  });

  it("returns real numbers, or elements if they are asked for", async () => {
    const model = await open(passingModel({ shape: [2], type: "UINT8", ...quantise(0.5, 10) }));
    expect((await model.run([1.5, -2])).output).toMatchObject({ type: "uint8", data: Float32Array.of(1.5, -2) });
    expect((await model.run([1.5, -2], { raw: true })).output.data).toEqual(Uint8Array.of(13, 6));
    expect(model.outputs[0]?.quantization).toEqual({ scale: 0.5, zeroPoint: 10 });
  });

  it("writes to the caller's arrays", async () => {
    const model = await open(passingModel({ shape: [2], type: "UINT8", ...quantise(0.5, 10) }));
    const real = new Float32Array(2);
    expect((await model.run([1.5, -2], { outputs: { passed: real } })).output.data).toBe(real);
    expect(real).toEqual(Float32Array.of(1.5, -2));
    const raw = new Uint8Array(4).subarray(1, 3);
    expect((await model.run([1.5, -2], { raw: true, outputs: { output: raw } })).output.data).toBe(raw);
    expect(raw).toEqual(Uint8Array.of(13, 6));
  });

  it.each([
    [{ other: new Float32Array(4) }, "WRONG_NAME", 'there is no output "other"'],
    [{ sum: new Int32Array(4) }, "WRONG_TYPE", "needs a Float32Array for its real values"],
    [{ sum: new Float64Array(4) }, "WRONG_TYPE", "needs a Float32Array"],
    [{ sum: new Float32Array(3) }, "WRONG_SIZE", "has 4 elements; its buffer has room for 3"],
    [{ sum: new Float32Array(5) }, "WRONG_SIZE", "has 4 elements; its buffer has room for 5"],
  ])("refuses memory that does not fit: %j", async (outputs, code, message) => {
    await using model = await open(addingModel());
    expect(await errorOf(model.run(add, { outputs }))).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("finds open extents, of inputs and of outputs", async () => {
    const model = await load(passingModel({ shape: [1, 2], shapeSignature: [-1, 2] }), {
      ...options,
      dynamicShapes: true,
    });
    expect(model.inputs[0]?.shape).toEqual([0, 2]);
    const { output } = await model.run([
      [1, 2],
      [3, 4],
    ]);
    expect(output).toMatchObject({ shape: [4], data: Float32Array.of(1, 2, 3, 4) });
    const small = new Float32Array(3);
    expect(await errorOf(model.run([1, 2, 3, 4], { outputs: { output: small } }))).toMatchObject({
      code: "WRONG_SIZE",
    });
    const right = new Float32Array(4);
    await model.run([1, 2, 3, 4], { outputs: { output: right } });
    expect(right).toEqual(Float32Array.of(1, 2, 3, 4));
  });

  it("says which outputs there are, if none has scores", async () => {
    const { scores } = await (await open(passingModel({ shape: [3] }))).run([1, 2, 3]);
    expect(scores.data).toHaveLength(3);
    const outputs = await (await open(addingModel())).run(add);
    expect(() => outputs.scores).toThrow(expect.objectContaining({ code: "WRONG_NAME" }));
    expect(Object.keys(outputs)).toEqual(["sum"]);
    expect(outputs.other).toBeUndefined();
  });

  it("ends with the reason of a signal", async () => {
    const model = await open(addingModel());
    const reason = new Error("enough");
    await expect(model.run(add, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const running = model.run(add, { signal: controller.signal });
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect((await model.run(add)).output.data[0]).toBe(11);
  });

  it("is refused once the model is closed, and closing waits for runs", async () => {
    const model = await open(addingModel());
    const running = model.run(add);
    // The run has to have started: it first encodes its inputs.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await model.close();
    await model.close();
    expect((await running).output.data[0]).toBe(11);
    const { state } = model;
    for (const call of [
      () => model.run(add),
      () => model.explain(),
      () => model.profile(),
      () => state.read(),
      () => state.reset(),
    ]) {
      expect(await errorOf(call())).toMatchObject({ name: "NetworkError", code: "CLOSED" });
    }
  });
});

/** The same of a model in this thread and of one in a worker. */
const places: [string, (bytes: Uint8Array) => Promise<Model>][] = [
  ["in this thread", open],
  [
    "in a worker",
    (bytes) =>
      load(bytes, {
        ...options,
        worker: () =>
          portOfWorker(
            new Worker(fileURLToPath(new URL("./worker-node.ts", import.meta.url)), {
              execArgv: ["--import", new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href],
            }),
          ),
      }),
  ],
];

describe.each(places)("a model %s", (place, openHere) => {
  it("runs, explains and measures itself", async () => {
    await using model = await openHere(addingModel());
    expect(model.devices).toEqual(["nnhal-reference"]);
    const out = new Float32Array(4);
    const { sum } = await model.run(
      { left: [1, 2, 3, 4], right: Float32Array.of(1, 1, 1, 1) },
      { outputs: { sum: out } },
    );
    expect(sum?.data).toBe(out);
    expect(out).toEqual(Float32Array.of(2, 3, 4, 5));
    const { operations, steps, predictedTime } = await model.explain();
    expect(operations).toMatchObject([{ index: 0, operation: "ADD", operator: "ADD", device: "nnhal-reference" }]);
    expect(steps).toEqual([{ device: "nnhal-reference", operations: [0], predictedTime }]);
    const profile = await model.profile({ runs: 2 });
    expect(profile.operations).toMatchObject([{ operation: "ADD", time: expect.any(Number) }]);
    expect(profile.time).toBeGreaterThan(0);
    expect(await errorOf(model.profile({ runs: 0 }))).toMatchObject({ code: "BAD_OPTION" });
  });

  it("takes the memory of inputs with `transfer`, also if they share it, and leaves it without", async () => {
    await using model = await openHere(addingModel());
    const both = Float32Array.of(1, 2, 3, 4, 10, 20, 30, 40);
    const inputs = { left: both.subarray(0, 4), right: both.subarray(4) };
    const { sum } = await model.run(inputs);
    expect([[...(sum?.data ?? [])], both.length]).toEqual([[11, 22, 33, 44], 8]);
    const moved = await model.run(inputs, { transfer: true });
    expect([...(moved.sum?.data ?? [])]).toEqual([11, 22, 33, 44]);
    expect(both.length).toBe(place === "in a worker" ? 0 : 8);
  });

  it("carries its state from run to run, which can be read, set and reset", async () => {
    const model = await openHere(rememberingModel());
    expect(model.inputs).toHaveLength(1);
    expect(model.outputs).toHaveLength(1);
    expect(model.state.infos).toMatchObject([{ name: "state", shape: [1, 4] }]);
    const step = async (value: number) => [...(await model.run([value])).output.data];
    // Runs at the same time follow one another.
    expect(await Promise.all([step(1), step(2), step(3)])).toEqual([
      [1, 2],
      [12, 24],
      [23, 46],
    ]);
    const { state } = await model.state.read();
    expect([...(state?.data ?? [])]).toEqual([3, 0, 3, 0]);
    await model.profile({ inputs: [7], runs: 1 });
    expect(await step(4)).toEqual([34, 68]);
    await model.state.reset();
    expect(await step(4)).toEqual([4, 8]);
    await model.state.write({ state: [5, 0, 5, 0] });
    expect(await step(1)).toEqual([51, 102]);
    expect(await errorOf(model.state.write({ other: [1] }))).toMatchObject({ code: "WRONG_NAME" });
    expect(await errorOf(model.state.write({ state: [1] }))).toMatchObject({ code: "WRONG_SIZE" });
    expect(await errorOf(model.state.reset(["other"]))).toMatchObject({ code: "WRONG_NAME" });
    await model.close();
  });

  it("refuses what cannot run with the same error", async () => {
    expect(await errorOf(openHere(unknownOperatorModel()))).toMatchObject({
      name: "NetworkError",
      code: "CANNOT_RUN",
      problems: [expect.stringContaining("Frobnicate")],
    });
  });
});

describe("a worker", () => {
  it("that ends makes its runs fail", async () => {
    const worker = new Worker("require('node:worker_threads').parentPort.once('message', () => process.exit(3))", {
      eval: true,
    });
    expect(await errorOf(load(addingModel(), { ...options, worker: () => portOfWorker(worker) }))).toMatchObject({
      code: "FAILED",
      message: "the worker failed: the worker ended with the code 3",
    });
  });
});
