/**
 * A device whose every call is watched, and every answer held against the contract: also of all that it makes, from prepared
 * models to fences.
 */
import type {
  AllocateResult,
  Device,
  FencedExecuteOptions,
  FencedResult,
  IBuffer,
  IBurstContext,
  IFencedExecutionCallback,
  Model,
  PreparedModel,
  PrepareResult,
  ReusableExecution,
  SyncFence,
} from "@nnhal/types";
import {
  type Asked,
  allocateProblem,
  burstProblem,
  cacheFilesProblem,
  capabilitiesProblem,
  deviceStatusProblem,
  executionProblem,
  extensionsProblem,
  fencedProblem,
  infoProblem,
  outcomeProblem,
  prepareProblem,
  reusableProblem,
  stateProblem,
  supportProblem,
  typeProblem,
  versionProblem,
  waitProblem,
} from "./answers.ts";
import type { Watch } from "./watch.ts";

/** Options for watching a device. */
export interface WatchOptions {
  readonly watch: Watch;
  /** See `Asked`. */
  readonly mayOmitShapes: boolean;
}

/** The objects behind watched ones: a device knows only those that it made itself. */
const originals = new WeakMap<object, object>();

/** Remembers which object a watched one stands for. */
export function standsFor<Watched extends object>(watched: Watched, own: object): Watched {
  originals.set(watched, own);
  return watched;
}

/** The object behind a watched one, or the object itself. */
export function originalOf<Value extends object>(value: Value): Value {
  // A watched object has the type of the one that it stands for.
  return (originals.get(value) as Value | undefined) ?? value;
}

/** The device, watched. */
export function watchDevice(device: Device, options: WatchOptions): Device {
  const { watch } = options;
  const { name, halVersion } = device;
  const load = device.prepareModelFromCache?.bind(device);
  const allocate = device.allocate?.bind(device);
  const prepare = (result: PrepareResult, model: Model | undefined): PrepareResult =>
    result.preparedModel === null
      ? result
      : { ...result, preparedModel: watchPreparedModel(result.preparedModel, model, options) };
  return {
    name,
    ...(halVersion !== undefined && { halVersion }),
    getCapabilities: () => watch.now("getCapabilities", () => device.getCapabilities(), capabilitiesProblem),
    getType: () => watch.now("getType", () => device.getType(), typeProblem),
    getVersionString: () => watch.now("getVersionString", () => device.getVersionString(), versionProblem),
    getSupportedExtensions: () =>
      watch.now("getSupportedExtensions", () => device.getSupportedExtensions(), extensionsProblem),
    getNumberOfCacheFilesNeeded: () =>
      watch.now("getNumberOfCacheFilesNeeded", () => device.getNumberOfCacheFilesNeeded(), cacheFilesProblem),
    getStatus: () => watch.now("getStatus", () => device.getStatus(), deviceStatusProblem),
    getSupportedOperations: (model) =>
      watch.later(
        "getSupportedOperations",
        async () => device.getSupportedOperations(model),
        (answer) => supportProblem(answer, operationsOf(model)),
      ),
    prepareModel: async (model, prepareOptions) =>
      prepare(
        await watch.later("prepareModel", () => device.prepareModel(model, prepareOptions), prepareProblem),
        model,
      ),
    ...(load && {
      prepareModelFromCache: async (cache, loadOptions) =>
        prepare(await watch.later("prepareModelFromCache", () => load(cache, loadOptions), prepareProblem), undefined),
    }),
    ...(allocate && {
      allocate: async (desc, preparedModels, inputRoles, outputRoles) => {
        const call = () => allocate(desc, ownOnes(preparedModels), inputRoles, outputRoles);
        return watchAllocated(await watch.later("allocate", call, allocateProblem), watch);
      },
    }),
  };
}

/** A hostile argument may be anything. */
function operationsOf(model: Model): number | undefined {
  try {
    return model.main.operations.length;
  } catch {
    return undefined;
  }
}

/** A list of prepared models or fences with those of the device itself. One that is hostile stays as it is. */
export function ownOnes<Own extends object>(preparedModels: readonly (Own | null)[]): readonly (Own | null)[] {
  try {
    const isWhole = Object.keys(preparedModels).length === preparedModels.length;
    return isWhole ? preparedModels.map((one) => (one === null ? null : originalOf(one))) : preparedModels;
  } catch {
    return preparedModels;
  }
}

/** The buffer of an answer, watched. */
export function watchAllocated(result: AllocateResult, watch: Watch): AllocateResult {
  return result.buffer === null ? result : { ...result, buffer: watchBuffer(result.buffer, watch) };
}

function watchBuffer(buffer: IBuffer, watch: Watch): IBuffer {
  return {
    copyTo: (dst) => watch.later("copyTo", () => buffer.copyTo(dst), outcomeProblem),
    copyFrom: (src, dimensions) => watch.later("copyFrom", () => buffer.copyFrom(src, dimensions), outcomeProblem),
    ...(buffer.close && { close: () => watch.silent("IBuffer.close", () => buffer.close?.()) }),
  };
}

/** Watches a prepared model. `model`: the model that it was prepared from. */
export function watchPreparedModel(
  own: PreparedModel,
  model: Model | undefined,
  { watch, mayOmitShapes }: WatchOptions,
): PreparedModel {
  const fenced = own.executeFenced?.bind(own);
  const configure = own.configureExecutionBurst?.bind(own);
  const reusable = own.createReusableExecution?.bind(own);
  const watched: PreparedModel = {
    execute: (request, options) =>
      watch.later(
        "execute",
        () => own.execute(request, options),
        (result, milliseconds) => executionProblem(result, { request, options, model, mayOmitShapes, milliseconds }),
      ),
    ...(fenced && {
      executeFenced: async (request, waitFor, options) => {
        const start = performance.now();
        const launched = await watch.later(
          "executeFenced",
          () => fenced(request, ownOnes(waitFor), options),
          fencedProblem,
        );
        return watchLaunched(launched, options, start, watch);
      },
    }),
    ...(configure && {
      configureExecutionBurst: async (callback, requestChannel, resultChannel) => {
        const { context, ...outcome } = await watch.later(
          "configureExecutionBurst",
          () => configure(callback, requestChannel, resultChannel),
          burstProblem,
        );
        return { ...outcome, context: context === null ? null : watchContext(context, watch) };
      },
    }),
    ...(reusable && {
      async createReusableExecution(request, options) {
        const { execution, ...outcome } = await watch.later(
          "createReusableExecution",
          () => reusable(request, options),
          reusableProblem,
        );
        const asked = { request, options, model, mayOmitShapes };
        return { ...outcome, execution: execution && watchReusable(execution, asked, watch) };
      },
    }),
    close: () => watch.silent("PreparedModel.close", () => own.close()),
  };
  return standsFor(watched, own);
}

/** A reusable execution, watched. `asked`: what it was set up with. */
function watchReusable(own: ReusableExecution, asked: Omit<Asked, "milliseconds">, watch: Watch): ReusableExecution {
  return {
    execute: (times) =>
      watch.later(
        "ReusableExecution.execute",
        () => own.execute(times),
        (result, milliseconds) => executionProblem(result, { ...asked, milliseconds }),
      ),
    async executeFenced(waitFor, times) {
      const start = performance.now();
      const launched = await watch.later(
        "ReusableExecution.executeFenced",
        () => own.executeFenced(ownOnes(waitFor), times),
        fencedProblem,
      );
      return watchLaunched(launched, asked.options, start, watch);
    },
    ...(own.close && { close: () => watch.silent("ReusableExecution.close", () => own.close?.()) }),
  };
}

/** The context of a burst, watched. */
export function watchContext(context: IBurstContext, watch: Watch): IBurstContext {
  const execute = context.execute?.bind(context);
  return {
    ...(execute && {
      execute: (request, measure) =>
        watch.later(
          "IBurstContext.execute",
          () => execute(request, measure),
          (result, milliseconds) =>
            executionProblem(result, {
              request,
              options: { measure },
              model: undefined,
              mayOmitShapes: true,
              milliseconds,
            }),
        ),
    }),
    freeMemory: (slot) => watch.silent("IBurstContext.freeMemory", () => context.freeMemory(slot)),
    ...(context.close && { close: () => watch.silent("IBurstContext.close", () => context.close?.()) }),
  };
}

/** The fence and the callback of a fenced execution, watched. `start`: when it was launched. */
export function watchLaunched(
  { syncFence, callback, ...outcome }: FencedResult,
  options: FencedExecuteOptions | undefined,
  start: number,
  watch: Watch,
): FencedResult {
  const fence = syncFence === null ? null : watchFence(syncFence, watch);
  return {
    ...outcome,
    syncFence: fence,
    callback: callback === null ? null : watchCallback(callback, fence, options, start, watch),
  };
}

function watchFence(own: SyncFence, watch: Watch): SyncFence {
  const watched: SyncFence = {
    get state() {
      return watch.now("SyncFence.state", () => own.state, stateProblem);
    },
    async wait() {
      const state = await watch.later("SyncFence.wait", () => own.wait(), waitProblem);
      watch.now(
        "SyncFence.state",
        () => own.state,
        (now) => (now === state ? undefined : `the fence was ${state} and is ${now}`),
      );
      return state;
    },
  };
  return standsFor(watched, own);
}

function watchCallback(
  own: IFencedExecutionCallback,
  fence: SyncFence | null,
  options: FencedExecuteOptions | undefined,
  start: number,
  watch: Watch,
): IFencedExecutionCallback {
  return {
    async getExecutionInfo() {
      const state = fence?.state;
      return watch.later(
        "getExecutionInfo",
        () => own.getExecutionInfo(),
        (info) => infoProblem(info, { state, options, milliseconds: performance.now() - start }),
      );
    },
  };
}
