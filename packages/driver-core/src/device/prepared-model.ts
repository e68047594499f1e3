/**
 * A prepared model: requests are validated, their pools mapped, and the backend's executable run on the bytes.
 */
import {
  type CompileOptions,
  type Executable,
  type GraphSource,
  type GraphView,
  type InputBuffer,
  type OutputBuffer,
  type RunResult,
  viewModel,
} from "@nnhal/backend";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  LoopTimeoutDurationNs,
  MeasureTiming,
  type Model,
  type PreparedModel,
  type PrepareResult,
  type Request,
  type RequestArgument,
  TIMING_NOT_MEASURED,
  type Timing,
} from "@nnhal/types";
import { requestIssues } from "@nnhal/validation";
import { formatIssues, mapAll, type Refusal } from "./check-model.ts";
import type { DeviceContext } from "./device.ts";

const notMeasured: Timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };

/** Compiles a checked model. */
export async function prepareModel(
  source: GraphSource,
  options: CompileOptions,
  deadline: bigint | undefined,
  context: DeviceContext,
): Promise<PrepareResult> {
  try {
    const graph = viewModel(source);
    const executable = await context.session.compile(graph, options);
    if (deadline !== undefined && context.now() >= deadline) {
      executable.close();
      return {
        status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
        message: "the deadline passed while the model was prepared",
        preparedModel: null,
      };
    }
    return { status: ErrorStatus.NONE, preparedModel: preparedModel(source.model, graph, executable, context) };
  } catch (error) {
    return {
      status: ErrorStatus.GENERAL_FAILURE,
      message: `preparing the model: ${messageOf(error)}`,
      preparedModel: null,
    };
  }
}

function preparedModel(model: Model, graph: GraphView, executable: Executable, context: DeviceContext): PreparedModel {
  let closed = false;
  let underWay = 0;
  const closeWhenIdle = () => {
    if (closed && underWay === 0) executable.close();
  };
  return {
    async execute(request, options = {}) {
      if (closed) return failed({ status: ErrorStatus.INVALID_ARGUMENT, message: "the prepared model is closed" });
      underWay++;
      try {
        return await execute(model, graph, executable, request, options, context);
      } catch (error) {
        return failed({ status: ErrorStatus.GENERAL_FAILURE, message: `executing: ${messageOf(error)}` });
      } finally {
        underWay--;
        closeWhenIdle();
      }
    },
    close() {
      if (closed) return;
      closed = true;
      closeWhenIdle();
    },
  };
}

async function execute(
  model: Model,
  graph: GraphView,
  executable: Executable,
  request: Request,
  options: ExecuteOptions,
  { now, random }: DeviceContext,
): Promise<ExecutionResult> {
  const start = now();
  const { deadline, measure = MeasureTiming.NO, loopTimeoutDuration = LoopTimeoutDurationNs.DEFAULT } = options;
  const issues = requestIssues(request, model, { allowUnspecifiedOutput: true });
  if (issues.length > 0) {
    return failed({
      status: ErrorStatus.INVALID_ARGUMENT,
      message: `the request is not valid: ${formatIssues(issues)}`,
    });
  }
  const pools = mapRequestPools(request);
  if ("status" in pools) return failed(pools);
  if (deadline !== undefined && now() >= deadline) {
    return failed({
      status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
      message: "the deadline had passed before the execution",
    });
  }
  const result = await executable.run(
    request.inputs.map((argument, index) =>
      inputBuffer(argument, dimensionsOf(graph, graph.inputs[index], argument), pools),
    ),
    request.outputs.map((argument, index) =>
      outputBuffer(argument, dimensionsOf(graph, graph.outputs[index], argument), pools),
    ),
    {
      now,
      random,
      ...(deadline !== undefined && { deadline }),
      loopTimeoutDuration:
        loopTimeoutDuration < LoopTimeoutDurationNs.MAXIMUM ? loopTimeoutDuration : LoopTimeoutDurationNs.MAXIMUM,
      measure: measure === MeasureTiming.YES,
    },
  );
  return answer(result, measure === MeasureTiming.YES ? now() - start : undefined);
}

/** The HAL's answer: shapes only with NONE and OUTPUT_INSUFFICIENT_SIZE, timing only with NONE and where measured. */
function answer(
  { status, message, outputShapes, timeOnDevice }: RunResult,
  timeInDriver: bigint | undefined,
): ExecutionResult {
  const hasShapes = status === ErrorStatus.NONE || status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
  const isTimed = status === ErrorStatus.NONE && timeInDriver !== undefined;
  return {
    status,
    ...(message !== undefined && { message }),
    outputShapes: hasShapes ? outputShapes : [],
    timing: isTimed
      ? {
          timeOnDevice: timeOnDevice === undefined ? TIMING_NOT_MEASURED : timeOnDevice / 1000n,
          timeInDriver: timeInDriver / 1000n,
        }
      : notMeasured,
  };
}

function failed(refusal: Refusal): ExecutionResult {
  return { ...refusal, outputShapes: [], timing: notMeasured };
}

function mapRequestPools(request: Request): Uint8Array[] | Refusal {
  const memories = [];
  for (const [index, pool] of request.pools.entries()) {
    if (pool.kind === "token") {
      return {
        status: ErrorStatus.INVALID_ARGUMENT,
        message: `request pool ${index}: token ${pool.token} is no buffer of this device`,
      };
    }
    memories.push(pool.memory);
  }
  return mapAll(memories, "request");
}

/** The extents of an argument: the request's, else the model's. */
function dimensionsOf(graph: GraphView, operand: number, { dimensions }: RequestArgument): readonly number[] {
  return dimensions.length > 0 ? dimensions : (graph.operands[operand]?.dimensions ?? []);
}

function inputBuffer(
  { hasNoValue, location }: RequestArgument,
  dimensions: readonly number[],
  pools: readonly Uint8Array[],
): InputBuffer | undefined {
  return hasNoValue ? undefined : { bytes: bytesAt(location, pools), dimensions };
}

function outputBuffer(
  { hasNoValue, location }: RequestArgument,
  dimensions: readonly number[],
  pools: readonly Uint8Array[],
): OutputBuffer {
  return { bytes: hasNoValue ? new Uint8Array(0) : bytesAt(location, pools), dimensions };
}

function bytesAt({ poolIndex, offset, length }: RequestArgument["location"], pools: readonly Uint8Array[]): Uint8Array {
  return pools[poolIndex].subarray(offset, offset + length);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
