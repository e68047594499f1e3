/**
 * The ways to execute a request: the plain call, a launch with a callback, behind a fence, through a burst, with every
 * argument in memory that the device has allocated, on a model that was prepared from a cache, and by an execution that is set up once. In
 * each way the outputs end where the request wants them.
 */

import { createLocalBurst } from "@nnhal/driver-core/burst";
import { createFence } from "@nnhal/driver-core/fence";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type Operand, type Outcome, operandTypeNames, operandTypes } from "@nnhal/types";
import { executeOnDeviceMemory } from "./device-memory.ts";
import type { PathRequest, PathResult } from "./path-request.ts";

/**
 * The ways to execute a request. `async`: `execute_1_3` of a model that `prepareModel_1_3` launched, each with its callback;
 * `cached`: the plain call, after a preparation from a cache; `reusable`: an execution that is set up once and runs twice (AIDL 4).
 */
export const executionPaths = ["sync", "async", "fenced", "burst", "device-memory", "cached", "reusable"] as const;
export type ExecutionPath = (typeof executionPaths)[number];

/** Executes a request in one of the ways. */
export function executeBy(path: ExecutionPath, request: PathRequest): Promise<PathResult> {
  return ways[path](request);
}

const execute = ({ preparedModel, request, options }: PathRequest): Promise<PathResult> =>
  preparedModel.execute(request, options);

const ways: Readonly<Record<ExecutionPath, (request: PathRequest) => Promise<PathResult>>> = {
  sync: execute,
  // The model is one that launches.
  async: execute,
  fenced: executeFenced,
  burst: executeInBurst,
  "device-memory": executeOnDeviceMemory,
  cached: execute,
  reusable: executeTwice,
};

async function executeTwice({ preparedModel, request, options }: PathRequest): Promise<PathResult> {
  if (preparedModel.createReusableExecution === undefined)
    return { unsupported: "the device has no executions that are set up once" };
  const { execution, ...created } = await preparedModel.createReusableExecution(request, options);
  if (execution === null) return withoutShapes(created);
  try {
    const first = await execution.execute();
    // Results of the first run must not matter.
    return first.status === ErrorStatus.NONE ? await execution.execute() : first;
  } finally {
    execution.close?.();
  }
}

async function executeFenced({ preparedModel, model, request, options }: PathRequest): Promise<PathResult> {
  if (preparedModel.executeFenced === undefined) return { unsupported: "the device has no fenced executions" };
  const outputs = model.main.outputIndexes.map((index) => elementAt(model.main.operands, index));
  if (!outputs.every(isFullyKnown)) {
    return { unsupported: "fenced executions need to know the dimensions of all outputs beforehand" };
  }
  const start = createFence();
  const { callback, syncFence, ...launched } = await preparedModel.executeFenced(request, [start.fence], options);
  start.signal();
  if (callback === null) return withoutShapes(launched);
  const state = syncFence === null ? "SIGNALED" : await syncFence.wait();
  const { status, message } = await callback.getExecutionInfo();
  if ((state === "SIGNALED") !== (status === ErrorStatus.NONE)) {
    const contradiction = `the fence is in state ${state}, but the callback says status ${status}`;
    return withoutShapes({ status: ErrorStatus.GENERAL_FAILURE, message: contradiction });
  }
  if (status !== ErrorStatus.NONE) return withoutShapes({ status, ...(message !== undefined && { message }) });
  return { status, outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })) };
}

/** Returns true if a fenced execution may have the operand as an output. */
function isFullyKnown({ type, dimensions }: Operand): boolean {
  const name = operandTypeNames.get(type);
  if (name !== undefined && operandTypes[name].kind !== "tensor") return true;
  return dimensions.length > 0 && !dimensions.includes(0);
}

async function executeInBurst({ preparedModel, request, options }: PathRequest): Promise<PathResult> {
  const { burst, ...created } = await createLocalBurst(preparedModel, { direct: false });
  if (burst === null) return withoutShapes(created);
  try {
    const { fallback, ...result } = await burst.compute(request, options);
    return fallback ? await preparedModel.execute(request, options) : result;
  } finally {
    await burst.close();
  }
}

function withoutShapes({ status, message }: Outcome): PathResult {
  return { status, ...(message !== undefined && { message }), outputShapes: [] };
}
