/**
 * The peer onnxruntime-node on processors, called directly: a session over an ONNX file, with inputs and outputs bound to arrays once.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { elementAt } from "@nnhal/operations";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { messageOf } from "../failure.ts";
import { oneLine } from "../text.ts";
import { CannotRun, type Contestant, type Ready, type Task } from "./contestant.ts";
import { matrixProduct } from "./onnx-product.ts";
import { packageVersion } from "./peer-packages.ts";

/** Opens the peer. The first session starts the engine. A tiny one is run first, so that its cost is charged to no network. */
export async function openOnnxruntime(task: Task): Promise<Contestant> {
  const { threads } = task;
  const session = await InferenceSession.create(matrixProduct("float", 1), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  await session.run({ a: new Tensor("float32", new Float32Array(1), [1, 1]) });
  await session.release();
  return {
    version: `onnxruntime-node ${packageVersion("onnxruntime-node")}`,
    settings: [
      `the provider for processors, all graph optimisations, sequential, ${threads === 1 ? "one thread" : `${threads} threads`}`,
      "inputs and outputs are arrays that it reads and fills in place",
    ],
    threads,
    prepare: () => prepare(task),
  };
}

async function prepare({ inputs: given, threads, onnx, cache }: Task): Promise<Ready> {
  if ("cannot" in onnx) throw new CannotRun(onnx.cannot);
  const kept = cache === undefined ? undefined : join(cache, "onnxruntime.onnx");
  const options: InferenceSession.SessionOptions = {
    executionProviders: ["cpu"],
    graphOptimizationLevel: "all",
    executionMode: "sequential",
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  };
  const optimised = kept === undefined ? undefined : await readFile(kept).catch(() => undefined);
  let session: InferenceSession;
  try {
    session =
      optimised === undefined
        ? await InferenceSession.create(
            onnx,
            kept === undefined ? options : { ...options, optimizedModelFilePath: kept },
          )
        : await InferenceSession.create(optimised, { ...options, graphOptimizationLevel: "disabled" });
  } catch (error) {
    throw new CannotRun(`onnxruntime refuses the ONNX file: ${oneLine(messageOf(error))}`, { cause: error });
  }
  return bind(session, given, cache !== undefined);
}

function bind(session: InferenceSession, given: readonly Uint8Array[], keeps: boolean): Ready {
  const names = session.inputNames;
  if (names.length !== given.length) {
    throw new CannotRun(`the ONNX file has ${names.length} inputs, and the network has ${given.length}`);
  }
  const feeds = Object.fromEntries(
    session.inputMetadata.map((info, place): [string, Tensor] => {
      if (!info.isTensor) throw new CannotRun(`the input ${info.name} of the ONNX file is not a tensor`);
      const shape = info.shape.map((extent) => (typeof extent === "number" ? extent : 1));
      return [info.name, tensorOf(info.type, elementAt(given, place), shape)];
    }),
  );
  // The first run lets it make the outputs, whose shapes may be open; later runs fill the same ones.
  let results: InferenceSession.ReturnType | undefined;
  return {
    keeps,
    async run() {
      results = results === undefined ? await session.run(feeds) : await session.run(feeds, results);
    },
    outputs: () =>
      session.outputNames.map((name) => {
        const data = results?.[name]?.data;
        if (!ArrayBuffer.isView(data))
          throw new Error(`the output ${name} of the ONNX file is not a tensor of numbers`);
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      }),
    close: () => session.release(),
  };
}

function tensorOf(type: Tensor.Type, bytes: Uint8Array, shape: readonly number[]): Tensor {
  // Typed arrays of wider elements need bytes that are aligned.
  const { buffer } = bytes.slice();
  const make = () => {
    switch (type) {
      case "float32":
        return new Tensor("float32", new Float32Array(buffer), shape);
      case "uint8":
        return new Tensor("uint8", new Uint8Array(buffer), shape);
      case "int8":
        return new Tensor("int8", new Int8Array(buffer), shape);
      case "int32":
        return new Tensor("int32", new Int32Array(buffer), shape);
      case "int64":
        return new Tensor("int64", new BigInt64Array(buffer), shape);
      case "bool":
        return new Tensor("bool", new Uint8Array(buffer), shape);
      default:
        throw new CannotRun(`an input of the ONNX file has the type ${type}`);
    }
  };
  try {
    return make();
  } catch (error) {
    if (error instanceof CannotRun) throw error;
    throw new CannotRun(`an input of the ONNX file does not fit that of the network: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
