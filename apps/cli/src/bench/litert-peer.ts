/**
 * The peer LiteRT.js: TensorFlow Lite's runtime in WebAssembly with XNNPACK, which loads the .tflite file itself.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Unavailable } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { messageOf } from "../failure.ts";
import { oneLine } from "../text.ts";
import { CannotRun, type Contestant, type Ready, type Task } from "./contestant.ts";
import { withBrowserNames } from "./litert-shim.ts";
import { packageVersion } from "./peer-packages.ts";

const module: string = "@litertjs/core";

/**
 * The part of the library that this file uses. Its own declarations are for browsers, and change the types of arrays for every file.
 */
interface Litert {
  loadLiteRt(folder: string, options: { readonly threads: boolean }): Promise<Runtime>;
  unloadLiteRt(): void;
  loadAndCompile(file: Uint8Array, options: CompileOptions): Promise<Model>;
  readonly Tensor: new (data: Float32Array | Int32Array | Uint8Array, shape: Int32Array) => Tensor;
}

interface CompileOptions {
  readonly accelerator: "wasm";
  readonly cpuOptions: { readonly numThreads: number };
}

interface Runtime {
  readonly liteRtWasm: {
    readonly HEAPU8: Uint8Array;
    readonly LiteRtTensorBufferLockMode: { readonly READ: LockMode; readonly WRITE: LockMode };
  };
}

type LockMode = { readonly value: number };

interface Tensor {
  readonly liteRtTensorBuffer: {
    /** The address of the elements. */
    lock(mode: LockMode): number;
    unlock(): void;
    packedSize(): number;
  };
  delete(): void;
}

interface Model {
  getInputDetails(): readonly { readonly dtype: string; readonly shape: Int32Array }[];
  run(inputs: readonly Tensor[]): Promise<readonly Tensor[]>;
  readonly isFullyAccelerated: boolean;
  delete(): void;
}

/** Opens the peer. Loads the build with threads if there is more than one to use. */
export async function openLitert({ bytes, inputs, threads }: Task): Promise<Contestant | Unavailable> {
  const litert = (await import(module)) as Litert; // The part of it that is described above.
  const folder = join(dirname(createRequire(import.meta.url).resolve(`${module}/package.json`)), "wasm");
  // There is one in a process: another task begins with a new one.
  litert.unloadLiteRt();
  const load = () => quietly(() => litert.loadLiteRt(`${folder}/`, { threads: threads > 1 }));
  const runtime = await withBrowserNames(threads, load);
  return {
    version: `LiteRT.js ${packageVersion(module)}`,
    settings: [
      "XNNPACK, WebAssembly with relaxed SIMD",
      threads > 1 ? `the build with threads, ${threads} of them` : "the build without threads",
      "inputs written into the memory of the module, outputs copied out of it once",
    ],
    threads,
    prepare: () => prepare(litert, runtime, bytes, inputs, threads),
  };
}

async function prepare(
  litert: Litert,
  runtime: Runtime,
  bytes: Uint8Array,
  given: readonly Uint8Array[],
  threads: number,
): Promise<Ready> {
  let model: Model;
  try {
    model = await quietly(() =>
      litert.loadAndCompile(bytes, { accelerator: "wasm", cpuOptions: { numThreads: threads } }),
    );
  } catch (error) {
    throw new CannotRun(`LiteRT.js refuses the file: ${oneLine(messageOf(error))}`, { cause: error });
  }
  const wasm = runtime.liteRtWasm;
  const details = model.getInputDetails();
  if (details.length !== given.length) {
    throw new CannotRun(`LiteRT.js sees ${details.length} inputs, and the network has ${given.length}`);
  }
  const inputs = details.map(({ dtype, shape }) => {
    const count = shape.reduce((product, extent) => product * extent, 1);
    if (dtype === "float32") return new litert.Tensor(new Float32Array(count), shape);
    return new litert.Tensor(dtype === "int32" ? new Int32Array(count) : new Uint8Array(count), shape);
  });
  let results: Uint8Array[] = [];
  return {
    keeps: false,
    async run() {
      for (let place = 0; place < inputs.length; place++) {
        const buffer = elementAt(inputs, place).liteRtTensorBuffer;
        const start = buffer.lock(wasm.LiteRtTensorBufferLockMode.WRITE);
        wasm.HEAPU8.set(elementAt(given, place), start);
        buffer.unlock();
      }
      const outputs = await model.run(inputs);
      for (let place = 0; place < outputs.length; place++) {
        const output = elementAt(outputs, place);
        const buffer = output.liteRtTensorBuffer;
        const start = buffer.lock(wasm.LiteRtTensorBufferLockMode.READ);
        const size = buffer.packedSize();
        results[place] ??= new Uint8Array(size);
        elementAt(results, place).set(wasm.HEAPU8.subarray(start, start + size));
        buffer.unlock();
        output.delete();
      }
    },
    outputs: () => results,
    close() {
      results = [];
      for (const input of inputs) input.delete();
      model.delete();
    },
  };
}

/** Runs work without the lines that the library writes to the console. */
async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const { log, info, warn, error } = console;
  const doNothing = () => {};
  Object.assign(console, { log: doNothing, info: doNothing, warn: doNothing, error: doNothing });
  try {
    return await work();
  } finally {
    Object.assign(console, { log, info, warn, error });
  }
}
