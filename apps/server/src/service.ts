/** The work on requests that both protocols share. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Holding } from "./budget.ts";
import { RequestError } from "./errors.ts";
import { checkOutputs, inputsFor, outputsFor } from "./inference.ts";
import type { IndexEntry, Models } from "./models.ts";
import type { ReadyModel } from "./open-model.ts";
import { type InferRequest, type InferResponse, shortest } from "./request.ts";
import type { TensorMetadata } from "./runner.ts";
import type { Protocol, Telemetry } from "./telemetry.ts";
import { footprintOf } from "./tensors.ts";

/** Options that all requests share. */
export interface ServiceOptions {
  readonly models: Models;
  readonly telemetry: Telemetry;
  readonly version: string;
  /** Token that clients must present; undefined: none. */
  readonly token: string | undefined;
  /** True if clients may load and unload models. */
  readonly mayLoad: boolean;
  /** If true, the server is ready only if all its models are. */
  readonly isStrict: boolean;
  /** Maximum milliseconds of a request; undefined: no limit. */
  readonly timeout: number | undefined;
}

/** Description of the server. */
export interface ServerMetadata {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

/** Description of a model. */
export interface ModelMetadata {
  readonly name: string;
  readonly versions: readonly string[];
  readonly platform: string;
  readonly inputs: readonly TensorMetadata[];
  readonly outputs: readonly TensorMetadata[];
  readonly properties: Readonly<Record<string, string>>;
}

/** Protocol, model and limits of a request. */
export interface Arrival {
  readonly protocol: Protocol;
  readonly model: string;
  /** Version of the model; undefined or empty: the server chooses. */
  readonly version: string | undefined;
  /** Memory of the request. */
  readonly holding: Holding;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** Milliseconds that the client waits. */
  readonly timeout: number | undefined;
  /** True if the tensors' buffers may be transferred to the worker. */
  readonly isOwned: boolean;
}

/** All methods throw, or reject with, a RequestError. */
export interface Service {
  readonly isReady: boolean;
  /** Marks the models as loaded. */
  begin(): void;
  /** Marks the server as ending: it is not ready any more, and serves on. */
  drain(): void;
  readonly isDraining: boolean;
  readonly metadata: ServerMetadata;
  authorize(header: string | undefined): void;
  isModelReady(name: string, version: string | undefined): boolean;
  modelMetadata(name: string, version: string | undefined): ModelMetadata;
  /** Returns true if a model has a version that is ready; undefined if there is no such model. Does not throw. */
  hasReadyModel(name: string): boolean | undefined;
  /**
   * Computes. `read` reads the request; it throws, or rejects with, a RequestError if that is not valid. It is not called if the model has as
   * many requests as it takes; the request takes its place when it has been read. `answer` writes the response; its result is that of the method.
   */
  infer<Answer>(
    arrival: Arrival,
    read: () => InferRequest | Promise<InferRequest>,
    answer: (response: InferResponse) => Answer,
  ): Promise<Answer>;
  index(isReadyOnly: boolean): Promise<readonly IndexEntry[]>;
  load(name: string): Promise<void>;
  unload(name: string): Promise<void>;
  metrics: Telemetry["metrics"];
}

const extensions = ["binary_tensor_data", "classification", "model_repository"];

export function createService(options: ServiceOptions): Service {
  const { models, telemetry, version, token, mayLoad, isStrict, timeout: limit } = options;
  let phase: "starting" | "serving" | "draining" = "starting";
  const expected = token === undefined ? undefined : digestOf(`Bearer ${token}`);
  const expectControl = () => {
    if (!mayLoad) throw new RequestError("forbidden", "this server does not let clients load or unload models");
  };
  /** Returns the model of a request that is still arriving, if it takes more. */
  const admit = (protocol: Protocol, name: string, wanted: string | undefined): ReadyModel => {
    try {
      const model = models.find(name, wanted);
      model.scheduler.expectPlace();
      return model;
    } catch (error) {
      telemetry.countRefused(protocol, error instanceof RequestError ? error.kind : "failed");
      throw error;
    }
  };
  return {
    get isReady() {
      return phase === "serving" && (!isStrict || models.entries.every(({ state }) => state === "READY"));
    },
    begin() {
      if (phase === "starting") phase = "serving";
    },
    drain() {
      phase = "draining";
    },
    get isDraining() {
      return phase === "draining";
    },
    metadata: { name: "nnhal-server", version, extensions },
    authorize(header) {
      if (expected === undefined || timingSafeEqual(digestOf(header ?? ""), expected)) return;
      throw header === undefined || header === ""
        ? new RequestError("unauthorized", "this server needs the header Authorization with Bearer and its token")
        : new RequestError("wrongToken", "the header Authorization does not have Bearer and the token of this server");
    },
    isModelReady(name, wanted) {
      try {
        models.find(name, wanted);
        return true;
      } catch (error) {
        if (error instanceof RequestError && error.kind === "unavailable") return false;
        throw error;
      }
    },
    modelMetadata(name, wanted) {
      const { description } = models.find(name, wanted);
      const { inputs, outputs, devices } = description;
      return {
        name,
        versions: models.versionsOf(name),
        platform: "tensorflow_tflite",
        inputs: inputs.map(metadataOf),
        outputs: outputs.map(metadataOf),
        properties: { devices: devices.join(","), ...quantizationsOf([...inputs, ...outputs]) },
      };
    },
    hasReadyModel: (name) => models.hasReady(name),
    async infer({ protocol, model: name, version: wanted, headers, signal, holding, timeout, isOwned }, read, answer) {
      const observed = telemetry.observe(protocol, admit(protocol, name, wanted), headers);
      try {
        const request = await read();
        holding.markArrived();
        // It may have been loaded again while the request arrived.
        const model = models.find(name, wanted);
        const inputs = inputsFor(model.description, request);
        checkOutputs(model.description, request);
        const bytes = footprintOf(inputs);
        holding.hold(bytes);
        const done = await model.scheduler.run(model.scheduler.enter(), {
          inputs,
          bytes,
          isOwned,
          signal,
          measure: observed.isTraced,
          timeout: shortest([request.timeout, timeout, limit]),
        });
        holding.keep(footprintOf(done.outputs));
        const outputs = outputsFor(model.description, request, done.outputs);
        const answered = answer({ model: model.name, version: model.version, id: request.id, outputs });
        // The client does not wait for the counting.
        observed.recordDone(done);
        return answered;
      } catch (error) {
        observed.recordFailed(error);
        throw error;
      }
    },
    async index(isReadyOnly) {
      const all = await models.index();
      return isReadyOnly ? all.filter(({ state }) => state === "READY") : all;
    },
    async load(name) {
      expectControl();
      await models.load(name);
    },
    async unload(name) {
      expectControl();
      await models.unload(name);
    },
    metrics: () => telemetry.metrics(),
  };
}

/** Digests of texts have one length. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function metadataOf({ name, datatype, shape }: TensorMetadata): TensorMetadata {
  return { name, datatype, shape };
}

/** Lists the scales and zero points of inputs: real = (element - zero point) * scale. */
function quantizationsOf(tensors: ReadyModel["description"]["inputs"]): Record<string, string> {
  const pairs = tensors.flatMap(({ name, info: { quantization } }) =>
    quantization === undefined
      ? []
      : [
          [`${name}.scale`, String(quantization.scale)],
          [`${name}.zero_point`, String(quantization.zeroPoint)],
        ],
  );
  return Object.fromEntries(pairs);
}
