/**
 * `load`: from a source to a model that runs.
 */
import type { OptionNames } from "@nnhal/operations";
import { warnOnce } from "#platform";
import { startWorker } from "#workers";
import { buffersOf } from "./bytes.ts";
import { check } from "./error.ts";
import { apart } from "./load-apart.ts";
import { openLocalSession, type SessionOptions, type Stage } from "./local-session.ts";
import { createModel, type Model } from "./model.ts";
import { checkOptions, wrapErrors } from "./options.ts";
import type { Port } from "./port.ts";
import { nameOf, type Source } from "./read.ts";
import { readModel } from "./read-model.ts";

/** Progress of the loading of a model. */
export interface LoadProgress {
  readonly stage: "read" | Stage;
  /** Bytes that are read, while it reads. */
  readonly loaded?: number;
  /** All bytes, if that is known. */
  readonly total?: number;
}

/** Options of loading a model. */
export interface LoadOptions extends SessionOptions {
  /**
   * The devices to divide the model among: a name such as `reference` or `tfjs`, names with commas between them, a list of names and
   * devices, in the order in which they win ties, or `auto` for all that work here, with fallback to the reference. Default: auto.
   */
  readonly devices?: SessionOptions["devices"];
  /** Engines besides the reference, best first. Default: @nnhal/backend-wasm, and in Node.js the others of this project that are installed. */
  readonly engines?: SessionOptions["engines"];
  /**
   * Extensions for custom operators of the file, which the reference then runs: definitions, functions that load a module, or names of modules,
   * such as `@nnhal/extension-mediapipe`. Default: none.
   */
  readonly extensions?: SessionOptions["extensions"];
  /**
   * A folder that keeps prepared models, and what engines found when they checked themselves, for the next start (Node.js). It is made if
   * it is not there. Default: nothing is kept.
   */
  readonly cache?: SessionOptions["cache"];
  /** The key of the signature to run. Default: the first subgraph. */
  readonly signature?: SessionOptions["signature"];
  /** Shapes of inputs by tensor name, or by place in decimal. Default: those that the file stores. */
  readonly inputShapes?: SessionOptions["inputShapes"];
  /**
   * Computes in a worker thread (Node.js) or web worker, so that this thread stays free. Engines, devices and extensions are then given by
   * name, or the worker has its own: see `provide` of `@nnhal/network/worker`. A function returns the port of a worker that runs `@nnhal/network/worker`, for bundlers that do not find it. Default: no.
   */
  readonly worker?: boolean | (() => Port) | undefined;
  /**
   * The threads with which an engine in a worker may compute, if it has threads of its own (ort, wasm). Default: the environment variable of the engine,
   * else one for each core.
   */
  readonly threads?: number | undefined;
  /**
   * The files with constants that the model names its external buffers, by these names: paths, addresses, bytes or Blobs. Default: files of
   * these names beside the model, if that has a path or an address.
   */
  readonly externalBuffers?: Readonly<Record<string, Source>> | undefined;
  /**
   * The part to load of a container, a `.task` or `.litertlm` file, by its name (`nnhal info` lists the parts). Default: the only model of the
   * container.
   */
  readonly part?: string | undefined;
  /**
   * The most bytes of the model, with those that are read of other files. A larger one, and a body without end, is refused with
   * CANNOT_READ. Default: 2 GiB; 16 GiB with constants outside of the FlatBuffer.
   */
  readonly maxBytes?: number | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /**
   * Receives warnings: a device that failed, labels that cannot be read, an engine that is installed and does not work. Default: the last
   * kind is shown once as a warning of the process, others are dropped.
   */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** When it aborts, the loading rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

const loadOptions: OptionNames<LoadOptions> = {
  devices: true,
  engines: true,
  extensions: true,
  cache: true,
  signature: true,
  inputShapes: true,
  dynamicShapes: true,
  worker: true,
  threads: true,
  externalBuffers: true,
  part: true,
  maxBytes: true,
  onProgress: true,
  onWarning: true,
  signal: true,
};

/** Loads a .tflite model. Rejects with a NetworkError, or with the reason of the signal. */
export function load(source: Source, options: LoadOptions = {}): Promise<Model> {
  return wrapErrors("load", options, () => loadModel(source, options));
}

async function loadModel(source: Source, options: LoadOptions): Promise<Model> {
  checkOptions("load", options, loadOptions);
  const { worker = false, threads, externalBuffers, part, maxBytes, onProgress, onWarning, signal, ...given } = options;
  check(
    threads === undefined || (worker === true && Number.isInteger(threads) && threads > 0),
    "BAD_OPTION",
    () => `threads: ${threads}: it must be an integer above 0, for \`worker: true\``,
  );
  const { bytes, outside } = await readModel(source, {
    externalBuffers,
    part,
    signal,
    maxBytes,
    onProgress: (loaded, total) => onProgress?.({ stage: "read", loaded, ...(total !== undefined && { total }) }),
  });
  const session = { ...given, ...(outside && { outside }), named: nameOf(source) };
  const opening = {
    onStage: (stage: Stage) => onProgress?.({ stage }),
    onWarning,
    onEngineWarning: onWarning ?? warnOnce,
    signal,
  };
  if (worker === false) return createModel(await openLocalSession(bytes, session, opening), apart);
  const { openWorkerSession } = await import("./worker-session.ts");
  const port = worker === true ? () => startWorker(threads) : worker;
  // Bytes that were read for this model are transferred; those of the caller are not.
  const kept = Object.values(externalBuffers ?? {});
  const read = (outside ?? []).filter(({ bytes: { buffer } }) =>
    kept.every((one) => one !== buffer && (!ArrayBuffer.isView(one) || one.buffer !== buffer)),
  );
  return createModel(await openWorkerSession(port, bytes, session, opening, buffersOf(read)), apart);
}
