/** Faults of reusable executions: each breaks one rule. */
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import {
  ErrorStatus,
  type Memory,
  type PreparedModel,
  type Request,
  type ReusableExecution,
  type ReusableResult,
} from "@nnhal/types";
import type { FaultRow } from "./faulty-device.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
const nothing: ReusableResult = { status: INVALID_ARGUMENT, execution: null };
const group = "prepared-model/reusable";

/** Runs that repeat ordinary executions of a request, and do something before each. */
function repeat(
  right: PreparedModel,
  before: (runs: number, request: Request) => Request = (_, request) => request,
  options: Parameters<PreparedModel["execute"]>[1] = {},
): NonNullable<PreparedModel["createReusableExecution"]> {
  return async (request, given): Promise<ReusableResult> => {
    let runs = 0;
    const next = () => before(runs++, request);
    const execution: ReusableExecution = {
      execute: (times) => right.execute(next(), { ...given, ...times, ...options }),
      executeFenced: (waitFor, times) =>
        right.executeFenced?.(next(), waitFor, { ...given, ...times, ...options }) ??
        Promise.reject(new Error("the reference has fenced executions")),
    };
    return { status: NONE, execution };
  };
}

/** A request on copies of its memories as they are now. */
function copyOf(request: Request): Request {
  const pools = request.pools.map((pool) =>
    pool.kind === "memory" ? { ...pool, memory: copyMemory(pool.memory) } : pool,
  );
  return { ...request, pools };
}

function copyMemory(memory: Memory): Memory {
  const copy = allocateMemory(memory.size);
  const [from, to] = [mapMemory(memory), mapMemory(copy)];
  if ("unmappable" in from || "unmappable" in to) throw new Error("memory of this process can be mapped");
  to.set(from);
  return copy;
}

export const reusableFaults: readonly FaultRow[] = [
  [
    "has reusable executions that begin while another run lasts",
    { preparedModel: (right) => ({ createReusableExecution: repeat(right) }) },
    group,
    /execute beside a run: expected GENERAL_FAILURE, got NONE/,
  ],
  [
    "has reusable executions that compute each run on the values of the first",
    {
      preparedModel(right) {
        let first: Request | undefined;
        return {
          createReusableExecution: repeat(right, (runs, request) => {
            if (runs === 0)
              first = { ...request, pools: [...copyOf(request).pools.slice(0, 1), ...request.pools.slice(1)] };
            return first ?? request;
          }),
        };
      },
    },
    group,
    /run 2: output 0: expected/,
  ],
  [
    "has reusable executions that write to memory of their own",
    { preparedModel: (right) => ({ createReusableExecution: repeat(right, (_, request) => copyOf(request)) }) },
    group,
    /run 1: output 0: expected/,
  ],
  [
    "has reusable executions that end after one run",
    {
      reusable(right) {
        let runs = 0;
        return {
          execute: async (times) =>
            runs++ === 0
              ? right.execute(times)
              : { ...(await right.execute({ deadline: 0n })), status: INVALID_ARGUMENT },
        };
      },
    },
    group,
    /ReusableExecution.execute: expected NONE, got INVALID_ARGUMENT/,
  ],
  [
    "has reusable executions that end when a run fails",
    {
      reusable(right) {
        let hasFailed = false;
        return {
          async execute(times) {
            const result = await right.execute(hasFailed ? { deadline: 0n } : times);
            hasFailed ||= result.status !== NONE;
            return result;
          },
        };
      },
    },
    group,
    /execute after a failure: expected NONE, got MISSED_DEADLINE/,
  ],
  [
    "has reusable executions that ignore their deadlines",
    { reusable: (right) => ({ execute: () => right.execute() }) },
    group,
    /execute after its deadline: expected MISSED_DEADLINE_PERSISTENT or MISSED_DEADLINE_TRANSIENT, got NONE/,
  ],
  [
    "has reusable executions that do not wait for fences",
    { reusable: (right) => ({ executeFenced: (_waitFor, times) => right.executeFenced([], times) }) },
    group,
    /executeFenced, run 1: its fence is \w+ before that which it waits for/,
  ],
  [
    "has reusable executions that take fences which have failed",
    {
      reusable: (right) => ({
        executeFenced: (waitFor, times) =>
          right.executeFenced(
            waitFor.filter((fence) => fence?.state !== "ERROR"),
            times,
          ),
      }),
    },
    group,
    /executeFenced with a failed fence: expected INVALID_ARGUMENT or GENERAL_FAILURE, got NONE/,
  ],
  [
    "has reusable executions of wrong requests, which fail with another status",
    {
      preparedModel: (right) => ({
        async createReusableExecution(request, options) {
          const result = (await right.createReusableExecution?.(request, options)) ?? nothing;
          return result.status === NONE ? result : { ...result, status: GENERAL_FAILURE };
        },
      }),
    },
    group,
    /createReusableExecution: expected INVALID_ARGUMENT, got GENERAL_FAILURE/,
  ],
  [
    "has reusable executions that measure what they are not asked to",
    {
      preparedModel: (right) => ({
        createReusableExecution: (request, options) =>
          right.createReusableExecution?.(request, { ...options, measure: 1 }) ?? Promise.reject(new Error("planted")),
      }),
    },
    group,
    /expected no durations, got/,
  ],
  [
    "has reusable executions of outputs without known dimensions that run behind fences",
    {
      preparedModel: (right) => ({
        async createReusableExecution(request, options) {
          const outputs = request.outputs.map((output) => ({ ...output, dimensions: [2, 3] }));
          const known = await right.createReusableExecution?.({ ...request, outputs }, options);
          const result = await right.createReusableExecution?.(request, options);
          if (!result?.execution || !known?.execution) return result ?? nothing;
          const { executeFenced } = known.execution;
          return { ...result, execution: { ...result.execution, executeFenced } };
        },
      }),
    },
    group,
    /executeFenced with an open output: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "has reusable executions that are used after their prepared model is closed",
    {
      preparedModel: () => ({ close() {} }),
    },
    group,
    /after close: expected INVALID_ARGUMENT, got NONE/,
  ],
];
