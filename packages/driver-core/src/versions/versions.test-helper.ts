/**
 * Fixtures that the tests of faces and lifts share: a small model and its request, and callbacks that record their arguments.
 */
import { floorModel } from "@nnhal/test-kit/models";
import type { ErrorStatus, Model, OutputShape, Request, Timing, V1_0, V1_3 } from "@nnhal/types";
import { memoryOf } from "../memory/memory.ts";

/** FLOOR twice, of two float32 values: of HAL 1.0. */
export const model: Model = floorModel();

export const measured: Timing = { timeOnDevice: 1n, timeInDriver: 2n };

/** A request of `model`. Pool 0 is the input, pool 1 the output. */
export function requestOf(bytes = new Uint8Array(8), output = new Uint8Array(8)): Request {
  const argument = (poolIndex: number) => ({
    hasNoValue: false,
    location: { poolIndex, offset: 0, length: 8 },
    dimensions: [],
  });
  return {
    inputs: [argument(0)],
    outputs: [argument(1)],
    pools: [bytes, output].map((view) => ({ kind: "memory", memory: memoryOf(view) })),
  };
}

/** A request as HAL 1.0 – 1.2 write it. */
export function oldRequestOf(request: Request = requestOf()): V1_0.Request {
  const { inputs, outputs, pools } = request;
  return { inputs, outputs, pools: pools.flatMap((pool) => (pool.kind === "memory" ? [pool.memory] : [])) };
}

/** A callback's calls, in order, by the name of the method. */
export interface Calls<Call> {
  readonly calls: Call[];
  /** Resolves with the first call. */
  readonly first: Promise<Call>;
}

export interface PreparedCall {
  readonly method: "notify" | "notify_1_2" | "notify_1_3";
  readonly status: ErrorStatus;
  readonly preparedModel: V1_0.IPreparedModel | null;
}

export interface ExecutionCall {
  readonly method: PreparedCall["method"];
  readonly status: ErrorStatus;
  readonly outputShapes?: readonly OutputShape[];
  readonly timing?: Timing;
}

function recorder<Call>(): Calls<Call> & { readonly record: (call: Call) => void } {
  const calls: Call[] = [];
  let resolve: (call: Call) => void = () => {};
  const first = new Promise<Call>((settle) => {
    resolve = settle;
  });
  return {
    calls,
    first,
    record(call) {
      calls.push(call);
      resolve(call);
    },
  };
}

/** A callback of a preparation. */
export function preparedCallback(): V1_3.IPreparedModelCallback & Calls<PreparedCall> {
  const { calls, first, record } = recorder<PreparedCall>();
  const method = (name: PreparedCall["method"]) => (status: ErrorStatus, preparedModel: V1_0.IPreparedModel | null) =>
    record({ method: name, status, preparedModel });
  return {
    calls,
    first,
    notify: method("notify"),
    notify_1_2: method("notify_1_2"),
    notify_1_3: method("notify_1_3"),
  };
}

/** A callback of an execution. */
export function executionCallback(): V1_3.IExecutionCallback & Calls<ExecutionCall> {
  const { calls, first, record } = recorder<ExecutionCall>();
  const method =
    (name: ExecutionCall["method"]) =>
    (status: ErrorStatus, outputShapes: readonly OutputShape[], timing: Timing): void =>
      record({ method: name, status, outputShapes, timing });
  return {
    calls,
    first,
    notify: (status) => record({ method: "notify", status }),
    notify_1_2: method("notify_1_2"),
    notify_1_3: method("notify_1_3"),
  };
}

/** Lets everything that is ready to run run. */
export function settleAll(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
