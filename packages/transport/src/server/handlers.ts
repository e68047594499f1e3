/** The server's implementation of each row of the table of methods. */
import {
  type CompilationCache,
  type Device,
  ErrorStatus,
  type ExecuteOptions,
  type FencedResult,
  type FmqDescriptor,
  type Hints,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareResult,
  type Request,
} from "@nnhal/types";
import type { ValueOf } from "@nnhal/utils/codec";
import type { MemoryPassing, NotPassed, TakenFile } from "../memory/passing.ts";
import type { Range } from "../memory/pieces.ts";
import type { ServerMemories } from "../memory/server-memories.ts";
import { type Handler, makeMessageHandler, makeMethodHandler } from "../protocol/answers.ts";
import type { Connection } from "../protocol/connection.ts";
import { textOf } from "../protocol/frames.ts";
import * as table from "../protocol/methods.ts";
import { Refused } from "../protocol/refused.ts";
import type { cache as cacheCodec, WiredModel, WiredRequest } from "../protocol/values.ts";
import type { ClientFences } from "./client-fences.ts";
import type { ClientObjects, ServedExecution } from "./objects.ts";

/** The handlers' view of their client. */
export interface ClientContext {
  /** The client's device. Throws before the handshake is over. */
  current(): Device;
  readonly objects: ClientObjects;
  readonly memories: ServerMemories;
  readonly fences: ClientFences;
  readonly passing: MemoryPassing;
  connection(): Connection;
}

/** Makes the handler of a method. An error that it throws becomes the outcome of the call. */
function serve<Arguments, Result>(
  method: table.Method<Arguments, Result>,
  work: (object: number, given: Arguments) => Promise<Result> | Result,
): Handler {
  return makeMethodHandler(method, async (object, given) => {
    try {
      return await work(object, given);
    } catch (error) {
      if (error instanceof Refused) return method.answerFailure(error.outcome);
      return method.answerFailure({ status: ErrorStatus.GENERAL_FAILURE, message: `${method.name}: ${textOf(error)}` });
    }
  });
}

/** The outcome of an answer without its other fields. */
function outcomeOf({ status, message }: Outcome): Outcome {
  return { status, ...(message !== undefined && { message }) };
}

/** The handlers of all methods that a client calls. */
export function clientHandlers(context: ClientContext): readonly Handler[] {
  const { objects, memories } = context;
  return [
    ...factHandlers(context),
    ...deviceHandlers(context),
    ...executionHandlers(context),
    serve(table.buffer.copyTo, async (id, { memory }) => {
      const buffer = objects.get("buffer", id);
      const outcome = outcomeOf(await buffer.copyTo(memories.get(memory)));
      if (outcome.status === ErrorStatus.NONE) await memories.send(memory, [whole]);
      return { outcome };
    }),
    serve(table.buffer.copyFrom, async (id, { memory, dimensions }) => {
      const buffer = objects.get("buffer", id);
      return { outcome: outcomeOf(await buffer.copyFrom(memories.get(memory), dimensions)) };
    }),
    serve(table.fencedCallback.getExecutionInfo, async (id) => {
      const info = await objects.get("fencedCallback", id).getExecutionInfo();
      return { outcome: outcomeOf(info), timingLaunched: info.timingLaunched, timingFenced: info.timingFenced };
    }),
    serve(table.burst.freeMemory, async (id, { slot }) => {
      await objects.get("burst", id).freeMemory(slot);
      return { outcome: { status: ErrorStatus.NONE } };
    }),
    makeMessageHandler(table.notices.release, ({ object }) => objects.release(object)),
  ];
}

const whole: Range = { offset: 0, length: Number.POSITIVE_INFINITY };

function factHandlers({ current }: ClientContext): Handler[] {
  return [
    serve(table.device.getCapabilities, () => {
      const answer = current().getCapabilities();
      return { outcome: outcomeOf(answer), capabilities: answer.capabilities };
    }),
    serve(table.device.getType, () => {
      const answer = current().getType();
      return { outcome: outcomeOf(answer), type: answer.type };
    }),
    serve(table.device.getVersionString, () => {
      const answer = current().getVersionString();
      return { outcome: outcomeOf(answer), version: answer.version };
    }),
    serve(table.device.getSupportedExtensions, () => {
      const answer = current().getSupportedExtensions();
      return { outcome: outcomeOf(answer), extensions: answer.extensions };
    }),
    serve(table.device.getNumberOfCacheFilesNeeded, () => {
      const { numModelCache, numDataCache, ...answer } = current().getNumberOfCacheFilesNeeded();
      return { outcome: outcomeOf(answer), numModelCache, numDataCache };
    }),
    serve(table.device.getStatus, () => ({ status: current().getStatus() })),
  ];
}

type PrepareArguments = ValueOf<typeof table.device.prepareModel.arguments>;
type ExecuteArguments = ValueOf<typeof table.preparedModel.execute.arguments>;
type FencedArguments = ValueOf<typeof table.preparedModel.executeFenced.arguments>;

function deviceHandlers({ current, objects, memories, passing }: ClientContext): Handler[] {
  const prepare = (answer: PrepareResult) => {
    const { preparedModel } = answer;
    if (preparedModel === null) return { outcome: outcomeOf(answer), preparedModel: null };
    const id = objects.add({ kind: "preparedModel", value: preparedModel });
    return {
      outcome: outcomeOf(answer),
      preparedModel: {
        id,
        executeFenced: preparedModel.executeFenced !== undefined,
        configureExecutionBurst: preparedModel.configureExecutionBurst !== undefined,
      },
    };
  };
  const prepareFrom = async ({
    model,
    cache,
    ...options
  }: PrepareArguments & { readonly hints?: Hints | undefined }) => {
    objects.checkCount();
    const own = modelOf(model, memories);
    // Files that cannot be used do not fail a preparation: nothing is kept.
    const found = cache === undefined ? undefined : filesOf(cache, passing);
    const files = found === undefined || "refused" in found ? undefined : found;
    try {
      return prepare(await current().prepareModel(own, { ...options, ...(files && { cache: files.cache }) }));
    } finally {
      files?.close();
    }
  };
  return [
    serve(table.device.getSupportedOperations, async (_, { model }) => {
      const { supported, reasons, dispatches, ...answer } = await current().getSupportedOperations(
        modelOf(model, memories),
      );
      return { outcome: outcomeOf(answer), supported, reasons, dispatches };
    }),
    serve(table.device.prepareModel, (_, given) => prepareFrom(given)),
    serve(table.device.prepareModelWithHints, (_, given) => prepareFrom(given)),
    serve(table.device.prepareModelFromCache, async (_, { cache, deadline }) => {
      objects.checkCount();
      const device = current();
      const files = filesOf(cache, passing);
      if ("refused" in files) throw new Refused(ErrorStatus.GENERAL_FAILURE, files.refused);
      if (device.prepareModelFromCache === undefined) {
        files.close();
        throw new Refused(ErrorStatus.GENERAL_FAILURE, "the device has no cache");
      }
      try {
        return prepare(await device.prepareModelFromCache(files.cache, { deadline }));
      } finally {
        files.close();
      }
    }),
    serve(table.device.allocate, async (_, { dimensions, preparedModels, inputRoles, outputRoles }) => {
      objects.checkCount();
      const device = current();
      if (device.allocate === undefined) {
        throw new Refused(ErrorStatus.GENERAL_FAILURE, "the device does not allocate buffers");
      }
      const models = preparedModels.map((id) => (id === null ? null : objects.get("preparedModel", id)));
      const answer = await device.allocate({ dimensions }, models, inputRoles, outputRoles);
      const { buffer, token, inHostMemory = false } = answer;
      if (buffer === null) return { outcome: outcomeOf(answer), buffer: null, token: 0, inHostMemory: false };
      const id = objects.add({ kind: "buffer", value: buffer });
      return { outcome: outcomeOf(answer), buffer: id, token, inHostMemory };
    }),
  ];
}

const noFences = new Refused(ErrorStatus.GENERAL_FAILURE, "the prepared model has no fenced executions");

function executionHandlers({ objects, memories, fences, connection }: ClientContext): Handler[] {
  const execute = async (
    id: number,
    { request, ...options }: ExecuteArguments & { readonly hints?: Hints | undefined },
  ) => {
    const model = objects.get("preparedModel", id);
    const answer = await model.execute(requestOf(request, memories), options);
    if (answer.status === ErrorStatus.NONE) await sendOutputs(request, memories);
    return { outcome: outcomeOf(answer), outputShapes: answer.outputShapes, timing: answer.timing };
  };
  /** The answer to a launch. Outputs are sent before its fence is signalled. */
  const launched = async (request: WiredRequest, answer: FencedResult) => {
    const { syncFence, callback } = answer;
    if (answer.status !== ErrorStatus.NONE || callback === null) {
      return { outcome: outcomeOf(answer), syncFence: null, callback: null };
    }
    const callbackId = objects.add({ kind: "fencedCallback", value: callback });
    const state = syncFence?.state ?? "SIGNALED";
    if (syncFence !== null && state === "ACTIVE") {
      const settle = async () => {
        const end = await syncFence.wait();
        if (end === "SIGNALED") await sendOutputs(request, memories);
        connection().send(table.notices.fenceSettled, { id: callbackId, state: end });
      };
      settle().catch(() => connection().send(table.notices.fenceSettled, { id: callbackId, state: "ERROR" }));
    } else if (state === "SIGNALED") await sendOutputs(request, memories);
    const fence = syncFence === null ? null : { id: callbackId, state };
    return { outcome: outcomeOf(answer), syncFence: fence, callback: callbackId };
  };
  const executeFenced = async (
    id: number,
    { request, waitFor, ...options }: FencedArguments & { readonly hints?: Hints | undefined },
  ) => {
    objects.checkCount();
    const model = objects.get("preparedModel", id);
    if (model.executeFenced === undefined) throw noFences;
    const waited = waitFor.map((fence) => (fence === null ? null : fences.fenceOf(fence)));
    return launched(request, await model.executeFenced(requestOf(request, memories), waited, options));
  };
  return [
    serve(table.preparedModel.execute, execute),
    serve(table.preparedModel.executeWithConfig, execute),
    serve(table.preparedModel.executeFenced, executeFenced),
    serve(table.preparedModel.executeFencedWithConfig, executeFenced),
    serve(table.preparedModel.createReusableExecution, async (id, { request, ...options }) => {
      objects.checkCount();
      const { execution, ...answer } = await createReusable(
        objects.get("preparedModel", id),
        request,
        options,
        memories,
      );
      if (execution === null) return { outcome: outcomeOf(answer), execution: null };
      return { outcome: outcomeOf(answer), execution: objects.add({ kind: "reusable", value: execution }) };
    }),
    serve(table.reusable.execute, async (id, times) => {
      const execution = objects.get("reusable", id);
      const answer = await execution.execute(times);
      if (answer.status === ErrorStatus.NONE) await sendOutputs(execution.request, memories);
      return { outcome: outcomeOf(answer), outputShapes: answer.outputShapes, timing: answer.timing };
    }),
    serve(table.reusable.executeFenced, async (id, { waitFor, ...times }) => {
      objects.checkCount();
      const execution = objects.get("reusable", id);
      const waited = waitFor.map((fence) => (fence === null ? null : fences.fenceOf(fence)));
      return launched(execution.request, await execution.executeFenced(waited, times));
    }),
    serve(table.preparedModel.configureExecutionBurst, async (id, { callback, requestChannel, resultChannel }) => {
      objects.checkCount();
      const model = objects.get("preparedModel", id);
      if (model.configureExecutionBurst === undefined) {
        throw new Refused(ErrorStatus.GENERAL_FAILURE, "the prepared model has no bursts");
      }
      const answer = await model.configureExecutionBurst(
        callback === null ? null : { getMemories: (slots) => askMemories(callback, slots) },
        channelOf(requestChannel, "FmqRequestDatum"),
        channelOf(resultChannel, "FmqResultDatum"),
      );
      const { context } = answer;
      if (context === null) return { outcome: outcomeOf(answer), context: null };
      const burst = objects.add({ kind: "burst", value: context });
      if ("ended" in context && context.ended instanceof Promise) {
        void context.ended.then(() => connection().send(table.notices.burstEnded, { burst }));
      }
      return { outcome: outcomeOf(answer), context: burst };
    }),
  ];

  async function askMemories(callback: number, slots: readonly number[]) {
    const { outcome, memories: ids } = await connection().call(table.burstCallback.getMemories, callback, { slots });
    if (outcome.status !== ErrorStatus.NONE) return { ...outcome, buffers: [] };
    return { ...outcome, buffers: ids.map((id) => memories.get(id)) };
  }

  function channelOf<Datum extends "FmqRequestDatum" | "FmqResultDatum">(
    { memory, capacity, datum }: { readonly memory: number; readonly capacity: number; readonly datum: string },
    wanted: Datum,
  ): FmqDescriptor<Datum> {
    if (datum === wanted) return { datum: wanted, memory: memories.get(memory), capacity };
    throw new Refused(ErrorStatus.INVALID_ARGUMENT, `expected a queue of ${wanted}, got one of ${datum}`);
  }
}

/** Of a device that has none, each run executes the request anew. */
async function createReusable(
  model: PreparedModel,
  wired: WiredRequest,
  options: Pick<ExecuteOptions, "measure" | "loopTimeoutDuration" | "hints">,
  memories: ServerMemories,
): Promise<Outcome & { readonly execution: ServedExecution | null }> {
  const request = requestOf(wired, memories);
  if (model.createReusableExecution === undefined) {
    const execution: ServedExecution = {
      request: wired,
      execute: (times) => model.execute(request, { ...options, ...times }),
      executeFenced: (waitFor, times) =>
        model.executeFenced?.(request, waitFor, { ...options, ...times }) ?? Promise.reject(noFences),
    };
    return { status: ErrorStatus.NONE, execution };
  }
  const { execution, ...outcome } = await model.createReusableExecution(request, options);
  if (execution === null) return { ...outcome, execution: null };
  const served: ServedExecution = {
    request: wired,
    execute: (times) => execution.execute(times),
    executeFenced: (waitFor, times) => execution.executeFenced(waitFor, times),
    close: () => execution.close?.(),
  };
  return { ...outcome, execution: served };
}

function modelOf({ structure, operandValues, pools }: WiredModel, memories: ServerMemories): Model {
  return { ...structure, operandValues, pools: pools.map((id) => memories.get(id)) };
}

function requestOf({ inputs, outputs, pools }: WiredRequest, memories: ServerMemories): Request {
  return {
    inputs,
    outputs,
    pools: pools.map((pool) => (pool.kind === "memory" ? { kind: "memory", memory: memories.get(pool.memory) } : pool)),
  };
}

/** Sends the outputs of a request that lie in copied memories. Undefined if there are none. */
function sendOutputs({ outputs, pools }: WiredRequest, memories: ServerMemories): Promise<unknown> | undefined {
  const sent = pools.flatMap((pool, index) => {
    if (pool.kind !== "memory" || !memories.isCopied(pool.memory)) return [];
    const ranges = outputs.filter(({ hasNoValue, location }) => !hasNoValue && location.poolIndex === index);
    return [
      memories.send(
        pool.memory,
        ranges.map(({ location }) => location),
      ),
    ];
  });
  return sent.length === 0 ? undefined : Promise.all(sent);
}

/** The files of a cache, which are closed after the call, or why they cannot be used. */
function filesOf(
  { modelCache, dataCache, token }: ValueOf<typeof cacheCodec>,
  { takeFile }: MemoryPassing,
): { readonly cache: CompilationCache; close(): void } | NotPassed {
  if (takeFile === undefined) return { refused: "the service cannot use the files of a cache" };
  const taken: TakenFile[] = [];
  let refused: string | undefined;
  // All that have come are taken, also after one that cannot be used.
  const take = (handles: readonly (readonly number[])[]) =>
    handles.map((ids) => ({
      fds: ids.map((id) => {
        const file = takeFile(id);
        if ("refused" in file) {
          refused ??= `a file of the cache: ${file.refused}`;
          return -1;
        }
        taken.push(file);
        return file.fd;
      }),
    }));
  const cache = { modelCache: take(modelCache), dataCache: take(dataCache), token: new Uint8Array(token) };
  const close = () => {
    for (const file of taken) file.close();
  };
  if (refused === undefined) return { cache, close };
  close();
  return { refused };
}
