/**
 * A build of TensorFlow Lite in a process of its own that runs one model after the other: the command beside the builds runs one, and takes most
 * of its time to begin.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OracleEngine } from "../oracle.ts";

/** A model to run. */
export interface OracleRequest {
  readonly model: Uint8Array;
  readonly inputs: readonly Uint8Array[];
}

/** The bytes of each output, or why there are none. */
export type OracleAnswer = readonly Uint8Array[] | string;

/** TensorFlow Lite in another process. */
export interface OracleProcess {
  run(request: OracleRequest): Promise<OracleAnswer>;
  close(): void;
}

/** The answer where a model ends the process. */
const ENDED = "the process ended";

/** Milliseconds for one model. */
const TIME_LIMIT = 30_000;

/** Opens a process of `file`, a program that calls `serveOracle`. One that ends is begun again for the next model. */
export function openOracle(
  file: string,
  engine: OracleEngine,
  builds: string,
  execArgv: readonly string[] = process.execArgv,
): OracleProcess {
  let child: ReturnType<typeof fork> | undefined;
  const start = () => {
    const begun = fork(file, ["--oracle", engine, "--builds", builds], {
      serialization: "advanced",
      execArgv: [...execArgv],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    for (const event of ["exit", "disconnect"] as const)
      begun.once(event, () => {
        if (child === begun) child = undefined;
      });
    return begun;
  };
  return {
    run: (request) =>
      new Promise((resolve) => {
        child ??= start();
        const asked = child;
        const done = (answer: OracleAnswer) => {
          clearTimeout(timer);
          asked.off("message", onMessage);
          asked.off("disconnect", onExit);
          resolve(answer);
        };
        // The process is a program of this folder.
        const onMessage = (answer: unknown) => {
          done(answer as OracleAnswer);
        };
        const onExit = () => done(ENDED);
        const timer = setTimeout(() => {
          asked.kill("SIGKILL");
          done(`it took more than ${TIME_LIMIT / 1000} s`);
        }, TIME_LIMIT);
        asked.on("message", onMessage);
        asked.on("disconnect", onExit);
        asked.send(request, (error) => {
          if (error !== null) onExit();
        });
      }),
    close() {
      child?.kill();
      child = undefined;
    },
  };
}

/** Answers the requests of the parent process. */
export async function serveOracle(engine: OracleEngine, builds: string): Promise<void> {
  const compute = engine === "litert" ? await openLitert(builds) : await openTfjs(builds);
  process.on("message", async (request: OracleRequest) => {
    try {
      process.send?.(await compute(request));
    } catch (error) {
      // A trap may leave a broken module behind.
      const end = error instanceof Error && error.name === "RuntimeError" ? () => process.exit(0) : () => {};
      process.send?.(error instanceof Error ? error.message : String(error), undefined, undefined, end);
    }
  });
}

type Compute = (request: OracleRequest) => Promise<readonly Uint8Array[]>;

const require = createRequire(import.meta.url);

const typedArrays = {
  ...{ float32: Float32Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array, int16: Int16Array },
  ...{ int64: BigInt64Array, bool: Uint8ClampedArray },
} as const;

function typedArrayOf(dtype: string, bytes: Uint8Array) {
  const array = Object.entries(typedArrays).find(([name]) => name === dtype)?.[1];
  if (array === undefined) throw new Error(`there is no array of ${dtype}`);
  return new array(bytes.slice().buffer);
}

function bytesOfView({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
}

/** LiteRT.js is made for pages. */
async function openLitert(builds: string): Promise<Compute> {
  const wasm = join(builds, "litert/wasm");
  let printed: string[] = [];
  const onPrint = (line: string) => printed.push(line);
  const scope: Record<string, unknown> = globalThis as unknown as Record<string, unknown>;
  scope.self ??= globalThis;
  Object.defineProperty(globalThis, "navigator", {
    value: { hardwareConcurrency: 1, userAgent: "node" },
    configurable: true,
  });
  scope.GPUBuffer ??= class GPUBuffer {};
  scope.importScripts = (path: string) => {
    scope.ModuleFactory = (module: object = {}) =>
      require(path.replace(/[.]cjs[/].*$/, ".cjs"))({
        locateFile: (name: string) => join(wasm, name),
        print: onPrint,
        printErr: onPrint,
        ...module,
      });
  };
  // The library has no types here.
  const library = (await import(pathToFileURL(join(builds, "litert/index.mjs")).href)) as LitertLibrary;
  const runtime = await library.loadLiteRt(join(wasm, "litert_wasm_compat_internal.cjs"), {});
  return async ({ model, inputs }) => {
    printed = [];
    const compiled = await runtime.loadAndCompile(model, { accelerator: "wasm", cpuOptions: { numThreads: 1 } });
    const details = compiled.getInputDetails();
    const tensors = details.map(
      ({ dtype, shape }, at) => new library.Tensor(typedArrayOf(dtype, inputs[at] ?? new Uint8Array(0)), [...shape]),
    );
    const outputs = await compiled.run(tensors);
    const bytes = outputs.map((output) => bytesOfView(output.toTypedArray()));
    for (const tensor of [...tensors, ...outputs]) tensor.delete?.();
    compiled.delete?.();
    // A model that cannot run leaves its outputs as they are, and says why.
    const errors = printed.filter((line) => line.startsWith("ERROR: ") && !line.includes(".cc:"));
    if (errors.length > 0) throw new Error(errors.join(" ").replaceAll("ERROR: ", ""));
    return bytes;
  };
}

interface LitertLibrary {
  readonly Tensor: new (data: ArrayBufferView, shape: readonly number[]) => LitertTensor;
  loadLiteRt(
    path: string,
    options: object,
  ): Promise<{ loadAndCompile(model: Uint8Array, options: object): Promise<LitertModel> }>;
}

interface LitertTensor {
  toTypedArray(): ArrayBufferView;
  delete?(): void;
}

interface LitertModel {
  getInputDetails(): readonly { readonly dtype: string; readonly shape: readonly number[] }[];
  run(tensors: readonly LitertTensor[]): Promise<readonly LitertTensor[]>;
  delete?(): void;
}

/** The older build. */
async function openTfjs(builds: string): Promise<Compute> {
  const wasm = join(builds, "node_modules/@tensorflow/tfjs-tflite/wasm");
  // The library has no types here.
  const open = require(join(wasm, "tflite_web_api_cc_simd.js")) as (options: object) => Promise<TfjsModule>;
  const module = await open({
    locateFile: (name: string) => join(wasm, name),
    wasmBinary: readFileSync(join(wasm, "tflite_web_api_cc_simd.wasm")),
    print() {},
    printErr() {},
  });
  const options = { numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 1024 };
  return async ({ model, inputs }) => {
    const place = module._malloc(model.length);
    module.HEAPU8.set(model, place);
    const status = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(place, model.length, options);
    if (!status.ok()) throw new Error(status.errorMessage());
    const runner = status.value();
    const given = listOf(runner.GetInputs());
    for (const [at, tensor] of given.entries()) {
      const data = tensor.data();
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength).set(inputs[at] ?? new Uint8Array(0));
    }
    if (!runner.Infer()) throw new Error("the interpreter failed");
    const bytes = listOf(runner.GetOutputs()).map((tensor) => bytesOfView(tensor.data()));
    runner.delete?.();
    module._free(place);
    return bytes;
  };
}

interface TfjsList {
  size(): number;
  get(at: number): { data(): ArrayBufferView };
}

interface TfjsModule {
  readonly HEAPU8: Uint8Array;
  _malloc(size: number): number;
  _free(place: number): void;
  readonly TFLiteWebModelRunner: {
    CreateFromBufferAndOptions(
      place: number,
      length: number,
      options: object,
    ): {
      ok(): boolean;
      errorMessage(): string;
      value(): { GetInputs(): TfjsList; GetOutputs(): TfjsList; Infer(): boolean; delete?(): void };
    };
  };
}

function listOf(list: TfjsList) {
  return Array.from({ length: list.size() }, (_, at) => list.get(at));
}
