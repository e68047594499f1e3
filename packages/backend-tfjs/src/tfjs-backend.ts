/**
 * The tfjs backend: a table of kernels over an engine of tfjs.
 */

import {
  type Backend,
  capabilitiesOf,
  type Kernel,
  type KernelEngine,
  type KernelTable,
  kernelBackend,
  kernelsByName,
  type OpenOptions,
  powerBasisOf,
  type Steps,
  type Unavailable,
} from "@nnhal/backend";
import { currentProcessor, proveEngine, type TableEngine } from "@nnhal/backend/proof";
import {
  createData,
  elementCount,
  expectKnownOptions,
  isFloat,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import * as tf from "@tensorflow/tfjs-core";
import { timesOf } from "./capabilities.ts";
import { type Engine, type EngineName, engineNames, loadEngine } from "./engine.ts";
import { isTensorInfo } from "./kernels/_kernel.ts";
import { isQuantised } from "./kernels/_quantised.ts";
import { kernels } from "./kernels/index.ts";

/** Options of `tfjsBackend`. */
export interface TfjsBackendOptions {
  /** The only engine to use. Default: the environment variable NNHAL_TFJS_ENGINE, else the first that is available. */
  readonly engine?: EngineName | undefined;
}

/** Creates a tfjs backend. */
export function tfjsBackend(options: TfjsBackendOptions = {}): Backend {
  expectKnownOptions("tfjsBackend", options, { engine: true });
  const { engine } = options;
  return kernelBackend({ name: "tfjs", deviceType: DeviceType.CPU, open: (opening) => openEngine(engine, opening) });
}

/** The tfjs backend on the best engine that is available. */
export const backend: Backend = tfjsBackend();

async function openEngine(
  option: EngineName | undefined,
  options: OpenOptions = {},
): Promise<KernelEngine<tf.Tensor> | Unavailable> {
  const wanted = option ?? engineOfEnvironment();
  if (wanted !== undefined && !isEngineName(wanted)) {
    const known = engineNames.join(", ");
    return {
      unavailable: `there is no engine "${wanted}" of tfjs`,
      remedy: `set NNHAL_TFJS_ENGINE to one of ${known}`,
    };
  }
  const engine = await loadEngine(wanted);
  if ("unavailable" in engine) return engine;
  return proveEngine(kernelEngine(engine), { ...options, processor: currentProcessor() });
}

function engineOfEnvironment(): string | undefined {
  return globalThis.process?.env?.NNHAL_TFJS_ENGINE || undefined;
}

function isEngineName(name: string): name is EngineName {
  return engineNames.some((known) => known === name);
}

/** An engine for kernels over an engine of tfjs, before its self-check. */
export function kernelEngine(engine: Engine): TableEngine<tf.Tensor> {
  return {
    version: `nnhal-tfjs-1 ${engine.name} ${engine.version}`,
    capabilities: capabilitiesOf(timesOf[engine.name]),
    powerBasis: powerBasisOf(timesOf[engine.name]),
    missing: engine.missing,
    kernels: makeKernels(engine),
    upload(info, data) {
      engine.select();
      ensureMemory(bytesOf([info]), engine);
      return upload(info, data, engine);
    },
    download: (tensor, info) => download(tensor, info),
    release: (tensor) => tensor.dispose(),
    close() {},
  };
}

/** The size in bytes up to which the room for tensors is not checked. */
const smallTensors = 2 ** 24;

/** Throws a RangeError if an engine has no room for so many bytes. */
function ensureMemory(bytes: number, { memoryLimit, name }: Engine): void {
  if (bytes <= smallTensors) return;
  const used = tf.memory().numBytes;
  if (used + bytes <= memoryLimit) return;
  throw new RangeError(`tensors take ${bytes} bytes, more than the ${memoryLimit - used} left in the engine ${name}`);
}

/** An upper bound: elements take 4 bytes, and booleans 1. */
function bytesOf(tensors: readonly TensorInfo[]): number {
  return tensors.reduce((bytes, { dimensions }) => bytes + 4 * elementCount(dimensions), 0);
}

/** The kernels for an engine. Each call selects it, since tfjs may have computed with another one in between. */
function makeKernels(engine: Engine): KernelTable<tf.Tensor> {
  const table: { [name: string]: Kernel<tf.Tensor> } = {};
  for (const [name, kernel] of Object.entries(kernelsByName(kernels))) {
    if (kernel === undefined) continue;
    table[name] = {
      ...kernel,
      prepare(args, outputs, setup) {
        engine.select();
        // Besides its result, a kernel needs about the same amount for intermediate tensors.
        const bytes = 2 * bytesOf(Object.values(outputs).flat().filter(isTensorInfo));
        ensureMemory(bytes, engine);
        const run = kernel.prepare(args, outputs, setup);
        return (read, context) => {
          engine.select();
          ensureMemory(bytes, engine);
          const outcome = run(read, context);
          return "next" in outcome ? selectBeforeSteps(engine, outcome) : outcome;
        };
      },
    };
  }
  return table;
}

/** A computation in steps that selects its engine before each step: other computations may run during its pauses. */
function* selectBeforeSteps(engine: Engine, steps: Steps<readonly tf.Tensor[]>): Steps<readonly tf.Tensor[]> {
  try {
    for (;;) {
      engine.select();
      const step = steps.next();
      if (step.done) return step.value;
      yield step.value;
    }
  } finally {
    steps.return([]);
  }
}

/**
 * Elements are copied, here or by the engine, because a client may write to their memory afterwards. Constants may be uploaded while a
 * kernel runs, and must outlive it.
 */
function upload({ type, dimensions }: TensorInfo, data: TensorData, { copiesAtOnce }: Engine): tf.Tensor {
  const shape = [...dimensions];
  if (type === "TENSOR_BOOL8" || type === "BOOL") return tf.keep(tf.tensor(new Uint8Array(data), shape, "bool"));
  if (isFloat(type) || isQuantised(type)) {
    const elements = copiesAtOnce && data instanceof Float32Array ? data : new Float32Array(data);
    return tf.keep(tf.tensor(elements, shape, "float32"));
  }
  return tf.keep(tf.tensor(new Int32Array(data), shape, "int32"));
}

function download(tensor: tf.Tensor, { type, dimensions }: TensorInfo): TensorData {
  const elements = tensor.dataSync();
  if (isFloat(type) && elements instanceof Float32Array) return elements;
  const data = createData(type, elementCount(dimensions));
  data.set(elements);
  return data;
}
