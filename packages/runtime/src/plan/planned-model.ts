/**
 * A prepared plan as a prepared model: what executes a request need not know how many devices work on it.
 */
import { mapMemory } from "@nnhal/driver-core/memory";
import {
  type Device,
  ErrorStatus,
  type ExecutionResult,
  type Model,
  type PreparedModel,
  type PrepareOptions,
  type Request,
  type RequestArgument,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { type Logger, noTracer, silentLogger, type Tracer } from "@nnhal/utils";
import { requestIssues } from "@nnhal/validation";
import type { Place } from "./place.ts";
import { closePlan, type PreparedPlan } from "./prepare.ts";
import { isRecoverable, type RunOptions, runPlan, type StepOutcome, type StepTime } from "./run.ts";

/** What a failing step falls back to. */
export interface Fallback {
  /** The device that takes every model. */
  readonly cpu: Device;
  readonly options: PrepareOptions;
  /** Told of each step or model that had to be run again. */
  readonly onFallback?: (message: string) => void;
}

/** What there is beside the plan. */
export interface PlannedModelOptions {
  readonly fallback?: Fallback;
  /** Told of each step that ran. */
  readonly onStep?: (time: StepTime) => void;
  /** Default: silent. */
  readonly log?: Logger;
  /** Default: off. */
  readonly trace?: Tracer;
}

const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };

/**
 * The prepared model of a plan. `fallback`: a step that fails on its device is run again on the CPU, and where that fails
 * too, the whole model; never after OUTPUT_INSUFFICIENT_SIZE, an invalid request or a missed deadline.
 */
export function plannedModel(
  prepared: PreparedPlan,
  now: () => bigint,
  { fallback, onStep, log = silentLogger, trace = noTracer }: PlannedModelOptions = {},
): PreparedModel {
  const { model } = prepared.plan;
  const onCpu = fallback && cpuModels(fallback, log);
  let closed = false;
  let underWay = 0;
  const closeWhenIdle = () => {
    if (!closed || underWay > 0) return;
    closePlan(prepared);
    onCpu?.close();
  };
  return {
    async execute(request, options = {}) {
      if (closed) return refused(ErrorStatus.INVALID_ARGUMENT, "the prepared model is closed");
      const issues = requestIssues(request, model, { allowUnspecifiedOutput: true });
      if (issues.length > 0) {
        const [{ path, message }] = issues;
        return refused(ErrorStatus.INVALID_ARGUMENT, `the request is not valid: ${path}: ${message}`);
      }
      const section = trace.begin("LR", "PE", "run plan");
      underWay++;
      try {
        return await execute(prepared, request, { ...options, now, section, log, ...(onStep && { onStep }) }, onCpu);
      } catch (error) {
        return refused(ErrorStatus.GENERAL_FAILURE, `executing: ${error instanceof Error ? error.message : error}`);
      } finally {
        section.end();
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
  prepared: PreparedPlan,
  request: Request,
  options: RunOptions,
  onCpu: CpuModels | undefined,
): Promise<ExecutionResult> {
  const { model } = prepared.plan;
  const { operands, inputIndexes, outputIndexes } = model.main;
  const token = request.pools.findIndex((pool) => pool.kind === "token");
  if (token >= 0) {
    const message = `request pool ${token} is the memory of one device, which a model over several cannot use`;
    return refused(ErrorStatus.GENERAL_FAILURE, message);
  }
  const inputs = request.inputs.map((argument, index) =>
    placeOf(argument, request, operands[inputIndexes[index]].dimensions),
  );
  const outputs = request.outputs.map((argument, index) =>
    placeOf(argument, request, operands[outputIndexes[index]].dimensions),
  );
  for (const place of [...inputs, ...outputs]) {
    const bytes = place && mapMemory(place.memory);
    if (bytes && "unmappable" in bytes) return refused(ErrorStatus.GENERAL_FAILURE, `request: ${bytes.unmappable}`);
  }
  const run: RunOptions = {
    ...options,
    ...(onCpu && {
      recover: async ({ step }, again) => {
        const runner = await onCpu.prepare(step.model, `step of operations ${step.operations.join(", ")}`);
        return runner === null ? failed : again(runner);
      },
    }),
  };
  const outcome = await runPlan(prepared, inputs, outputs, run);
  if (onCpu === undefined || !isRecoverable(outcome.status)) return { ...outcome, timing };
  const whole = await onCpu.prepare(model, "whole model");
  return whole === null ? { ...outcome, timing } : options.section.run(() => whole.execute(request, options));
}

const failed: StepOutcome = {
  status: ErrorStatus.GENERAL_FAILURE,
  message: "the step failed on its device and cannot be prepared on the CPU",
  outputShapes: [],
};

function refused(status: ErrorStatus, message: string): ExecutionResult {
  return { status, message, outputShapes: [], timing };
}

function placeOf(
  { hasNoValue, location, dimensions }: RequestArgument,
  { pools }: Request,
  declared: readonly number[],
): Place | undefined {
  const pool = pools[location.poolIndex];
  if (hasNoValue || pool === undefined || pool.kind !== "memory") return undefined;
  const { offset, length } = location;
  return { memory: pool.memory, offset, length, dimensions: dimensions.length > 0 ? dimensions : declared };
}

/** Models prepared on the CPU when they are first needed. */
interface CpuModels {
  prepare(model: Model, what: string): Promise<PreparedModel | null>;
  close(): void;
}

function cpuModels({ cpu, options, onFallback }: Fallback, log: Logger): CpuModels {
  const prepared = new Map<Model, Promise<PreparedModel | null>>();
  return {
    prepare(model, what) {
      const message = `the ${what} runs again on ${cpu.name}`;
      log.VLOG("EXECUTION", message);
      onFallback?.(message);
      let result = prepared.get(model);
      if (result === undefined) {
        result = cpu.prepareModel(model, options).then(({ preparedModel }) => preparedModel);
        prepared.set(model, result);
      }
      return result;
    },
    close() {
      for (const result of prepared.values()) void result.then((preparedModel) => preparedModel?.close());
    },
  };
}
