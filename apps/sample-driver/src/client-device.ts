/**
 * A device as the daemon presents it to one client: it counts the client's objects and calls, and refuses those over its
 * limits. The limits of waiting executions and of bytes of buffers are those of the driver core.
 */
import type { ClientDevice } from "@nnhal/driver-core/device";
import {
  type AllocateResult,
  ErrorStatus,
  type IBuffer,
  type Outcome,
  type PreparedModel,
  type PrepareResult,
  type ReusableExecution,
} from "@nnhal/types";
import type { Counters } from "./counters.ts";

/** Limits of one client. */
export interface ClientLimits {
  /** Most prepared models, with those that are being prepared. */
  readonly models: number;
  /** Most device buffers. */
  readonly buffers: number;
  /** Most bytes of device buffers. */
  readonly bufferBytes: number;
  /** Most bytes of memories that the client has passed. */
  readonly mappedBytes: number;
  /** Most executions and preparations that wait. */
  readonly queue: number;
}

/** The limits of a client, if the daemon is not told others. */
export const defaultLimits: ClientLimits = {
  models: 256,
  buffers: 1024,
  bufferBytes: 2 ** 30,
  mappedBytes: 2 ** 34,
  queue: 256,
};

/** Parts that a client's device needs. */
export interface ClientDeviceContext {
  readonly limits: Pick<ClientLimits, "models" | "buffers">;
  readonly counters: Counters;
  /** A monotonic clock in nanoseconds. */
  readonly now: () => bigint;
}

/** See the file's head. Closing it closes the client's device. */
export function limitedDevice(device: ClientDevice, { limits, counters, now }: ClientDeviceContext): ClientDevice {
  const held = { models: 0, buffers: 0 };
  /** The device's own prepared models, by those that the client has. */
  const inner = new WeakMap<PreparedModel, PreparedModel>();
  let isClosed = false;
  counters.add("clients", 1);

  /** Takes a place for an object. The result gives it back; undefined if there is none. */
  const take = (what: keyof typeof held): (() => void) | undefined => {
    if (held[what] >= limits[what]) return undefined;
    held[what]++;
    counters.add(what, 1);
    let isTaken = true;
    return () => {
      if (!isTaken || isClosed) return;
      isTaken = false;
      held[what]--;
      counters.add(what, -1);
    };
  };
  const refuse = (what: keyof typeof held) =>
    ({
      status: ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT,
      message: `${device.name}: this client has ${limits[what]} ${what}, which is the limit`,
    }) as const;
  const count = async <Result extends Outcome>(work: Promise<Result>): Promise<Result> => {
    const start = now();
    const result = await work;
    counters.countExecution(Number(now() - start) / 1e9, result.status !== ErrorStatus.NONE);
    return result;
  };
  const countRuns = (execution: ReusableExecution): ReusableExecution => ({
    execute: (times) => count(execution.execute(times)),
    executeFenced: (waitFor, times) => count(execution.executeFenced(waitFor, times)),
    close: () => execution.close?.(),
  });
  const prepared = async (prepare: () => Promise<PrepareResult>): Promise<PrepareResult> => {
    const release = take("models");
    if (release === undefined) return { ...refuse("models"), preparedModel: null };
    const { preparedModel: model, ...outcome } = await prepare();
    if (model === null) {
      release();
      return { ...outcome, preparedModel: null };
    }
    const { executeFenced, configureExecutionBurst, createReusableExecution } = model;
    const counted: PreparedModel = {
      execute: (request, options) => count(model.execute(request, options)),
      ...(executeFenced && {
        executeFenced: (request, waitFor, options) => count(executeFenced.call(model, request, waitFor, options)),
      }),
      ...(createReusableExecution && {
        async createReusableExecution(request, options) {
          const { execution, ...result } = await createReusableExecution.call(model, request, options);
          return { ...result, execution: execution && countRuns(execution) };
        },
      }),
      ...(configureExecutionBurst && {
        configureExecutionBurst: (...queues) => configureExecutionBurst.apply(model, queues),
      }),
      close() {
        release();
        model.close();
      },
    };
    inner.set(counted, model);
    return { ...outcome, preparedModel: counted };
  };
  return {
    ...device,
    prepareModel: (model, options) => prepared(() => device.prepareModel(model, options)),
    prepareModelFromCache: (cache, options) => prepared(() => device.prepareModelFromCache(cache, options)),
    async allocate(desc, preparedModels, inputRoles, outputRoles): Promise<AllocateResult> {
      const release = take("buffers");
      if (release === undefined) return { ...refuse("buffers"), buffer: null, token: 0 };
      const models = preparedModels.map((model) => (model === null ? null : (inner.get(model) ?? model)));
      const { buffer, ...outcome } = await device.allocate(desc, models, inputRoles, outputRoles);
      if (buffer === null) {
        release();
        return { ...outcome, buffer };
      }
      const counted: IBuffer = {
        copyTo: (memory) => buffer.copyTo(memory),
        copyFrom: (memory, dimensions) => buffer.copyFrom(memory, dimensions),
        close() {
          release();
          buffer.close?.();
        },
      };
      return { ...outcome, buffer: counted };
    },
    async close() {
      if (!isClosed) {
        isClosed = true;
        counters.add("clients", -1);
        counters.add("models", -held.models);
        counters.add("buffers", -held.buffers);
      }
      await device.close();
    },
  };
}
