import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readTflite, type TfliteModel, writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { modelOfBytes } from "../model/load.ts";
import { addingModel, passingModel, quantise, rememberingModel } from "../program.test-helper.ts";
import { CannotRun, type Contestant, type Task } from "./contestant.ts";
import { onnxFormOf } from "./onnx-form.ts";
import { openOnnxruntime } from "./onnxruntime-peer.ts";
import { whyNoPeer } from "./peer-packages.ts";
import { openTfjs } from "./tfjs-peer.ts";

const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
const task = (bytes: Uint8Array, inputs: readonly Uint8Array[]): Task => ({
  path: "m.tflite",
  bytes,
  inputs,
  threads: 1,
  hybrid: "quantised",
  onnx: { cannot: "no form" },
});
const adding = task(addingModel(), [floats(1, 2, 3, 4), floats(10, 20, 30, 40)]);

async function runTwice(contestant: Contestant): Promise<readonly Uint8Array[]> {
  const ready = await contestant.prepare();
  await ready.run();
  await ready.run();
  const outputs = ready.outputs().map((bytes) => bytes.slice());
  await ready.close();
  return outputs;
}

describe("a peer", () => {
  it("computes a network in tfjs", async () => {
    expect(await runTwice(await openTfjs(adding))).toEqual([floats(11, 22, 33, 44)]);
  });

  it("says which operator tfjs cannot express", async () => {
    const { prepare } = await openTfjs(
      task(passingModel({ shape: [2], type: "UINT8", ...quantise(1, 0) }), [new Uint8Array(2)]),
    );
    await expect(prepare()).rejects.toThrow(
      new CannotRun("the graph in tfjs has RESHAPE on FLOAT32 only, and here it is on UINT8"),
    );
    const { prepare: other } = await openTfjs(
      task(withOperator("SPACE_TO_DEPTH"), [floats(1, 2, 3, 4), floats(1, 2, 3, 4)]),
    );
    await expect(other()).rejects.toThrow(new CannotRun("the graph in tfjs has no SPACE_TO_DEPTH"));
  });

  it("computes the ONNX form of a network in onnxruntime", async () => {
    const onnx = await onnxFormOf(modelOfBytes("m.tflite", addingModel()));
    expect(await runTwice(await openOnnxruntime({ ...adding, onnx }))).toEqual([floats(11, 22, 33, 44)]);
  });

  it("keeps the optimised model in the cache, and loads it from there", async () => {
    const cache = await mkdtemp(join(tmpdir(), "nnhal-bench-test-"));
    try {
      const onnx = await onnxFormOf(modelOfBytes("m.tflite", addingModel()));
      expect(await runTwice(await openOnnxruntime({ ...adding, onnx, cache }))).toEqual([floats(11, 22, 33, 44)]);
      // Bytes that cannot be a model show that the file is not read again.
      const again = { ...adding, onnx: Uint8Array.of(1), cache };
      expect(await runTwice(await openOnnxruntime(again))).toEqual([floats(11, 22, 33, 44)]);
    } finally {
      await rm(cache, { recursive: true });
    }
  });

  it("has no ONNX form of a network with state", async () => {
    expect(await onnxFormOf(modelOfBytes("m.tflite", rememberingModel()))).toEqual({
      cannot: "the ONNX form of a network has no state between executions",
    });
  });

  it("says why a file is not an ONNX file", async () => {
    const { prepare } = await openOnnxruntime(adding);
    await expect(prepare()).rejects.toThrow(new CannotRun("no form"));
    const { prepare: other } = await openOnnxruntime({ ...adding, onnx: Uint8Array.of(1, 2, 3) });
    await expect(other()).rejects.toThrow(/^onnxruntime refuses the ONNX file: /);
  });
});

function withOperator(name: string): Uint8Array {
  const model: TfliteModel = readTflite(addingModel());
  const subgraphs = model.subgraphs.map((subgraph) => ({
    ...subgraph,
    operators: subgraph.operators.map((operator) => ({ ...operator, name, options: {} })),
  }));
  return writeTflite({ ...model, subgraphs });
}

describe("whyNoPeer", () => {
  it("is undefined if all packages are there", () => {
    expect(whyNoPeer("litert", () => "found")).toBeUndefined();
  });

  it("names the missing packages and how to add them", () => {
    const without = (missing: string) => (module: string) => {
      if (module === missing) throw new Error("no such module");
    };
    expect(whyNoPeer("tfjs", without("@tensorflow/tfjs-backend-wasm"))).toEqual({
      unavailable: "@tensorflow/tfjs-backend-wasm is not installed",
      remedy: "npm install @tensorflow/tfjs-backend-wasm",
    });
    expect(whyNoPeer("onnxruntime", without("onnxruntime-node"))?.remedy).toBe("npm install onnxruntime-node");
  });
});
