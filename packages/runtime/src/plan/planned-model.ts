/**
 * A prepared plan as a prepared model: its users need not know how many devices run it.
 */

import { failedBurst, failedExecution, failedFenced, failure, messageOf } from "@nnhal/driver-core/guard";
import { memoryOf } from "@nnhal/driver-core/memory";
import type { Plan } from "@nnhal/driver-core/partition";
import {
  ErrorStatus,
  type ExecuteOptions,
  ExecutionPreference,
  type ExecutionResult,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import {
  createUsage,
  type Logger,
  loadOnce,
  noTracer,
  notMeasured,
  type Section,
  silentLogger,
  type Tracer,
} from "@nnhal/utils";
import { systemTimer, type Timer, watchIdle } from "@nnhal/utils/time";
import { deviceRequestIssues } from "@nnhal/validation";
import { argumentsOf } from "./arguments.ts";
import { type CpuModels, cpuModels, type Fallback } from "./cpu-models.ts";
import { canRunElsewhere, runElsewhere } from "./elsewhere.ts";
import { executeAfter } from "./fenced.ts";
import { planFacts } from "./lifetimes.ts";
import type { Arguments } from "./place-arguments.ts";
import { closePlan, releaseWorkspaces } from "./prepare.ts";
import type { PreparedExecution, PreparedPlan } from "./prepared-plan.ts";
import { isRecoverable } from "./recoverable.ts";
import { runPlan } from "./run.ts";
import type { RunOptions, StepOutcome, StepTime } from "./run-options.ts";

const bursts = loadOnce(() => import("@nnhal/driver-core/burst"));

/** The parts of a planned model besides the plan. */
export interface PlannedModelOptions {
  readonly fallback?: Fallback | undefined;
  /** Called after each step. */
  readonly onStep?: ((time: StepTime) => void) | undefined;
  /** The preference of the preparation: with LOW_POWER, bursts do not poll. Default: FAST_SINGLE_ANSWER. */
  readonly preference?: ExecutionPreference | undefined;
  /** Nanoseconds without an execution after which the memory between steps is freed. Default: 5 s. */
  readonly idleAfter?: bigint | undefined;
  /** Waits for `idleAfter`. Default: the system's. */
  readonly timer?: Timer | undefined;
  /** Default: silent. */
  readonly log?: Logger | undefined;
  /** Default: off. */
  readonly trace?: Tracer | undefined;
}

/**
 * The prepared model of a plan. `fallback`: a step that fails on its device runs again on the CPU; if that fails too, the whole
 * model does. Never after OUTPUT_INSUFFICIENT_SIZE, an invalid request or a missed deadline.
 */
export function plannedModel(
  prepared: PreparedPlan,
  now: () => bigint,
  options: PlannedModelOptions = {},
): PreparedModel {
  const { fallback, onStep, preference, log = silentLogger, trace = noTracer } = options;
  const { idleAfter = 5_000_000_000n, timer = systemTimer } = options;
  const whole = wholeStep(prepared);
  const onCpu = fallback && cpuModels(fallback, log);
  const usage = createUsage(() => {
    watch?.stop();
    closePlan(prepared);
    onCpu?.close();
  });
  // A whole model has no values between steps.
  const watch =
    whole === undefined
      ? watchIdle({
          after: idleAfter,
          timer,
          isInUse: () => usage.isInUse,
          onIdle: () => releaseWorkspaces(prepared),
        })
      : undefined;
  const execute = async (request: Request, options: ExecuteOptions, section: Section): Promise<ExecutionResult> => {
    const run: RunOptions = { ...options, now, section, log, ...(onStep && { onStep }) };
    usage.begin();
    watch?.touch();
    try {
      return whole === undefined
        ? await executePlan(prepared, request, run, onCpu)
        : await executeWhole(whole, prepared, request, run, onCpu);
    } catch (error) {
      return failedExecution(failure(`executing: ${messageOf(error)}`));
    } finally {
      section.end();
      watch?.touch();
      usage.end();
    }
  };
  const closedProblem = () =>
    usage.isClosed
      ? failedExecution({ status: ErrorStatus.INVALID_ARGUMENT, message: "the prepared model is closed" })
      : undefined;
  const result: PreparedModel = {
    execute: async (request, options = {}) =>
      closedProblem() ?? execute(request, options, trace.begin("LR", "PE", "run plan")),
    async executeFenced(request, waitFor, options = {}) {
      // A request that is not valid is refused immediately, not after the fences.
      const problem = closedProblem() ?? problemOf(request, prepared.plan, false);
      if (problem !== undefined) return failedFenced(problem);
      // From now on the execution uses the model: closing it takes effect afterwards.
      usage.begin();
      const { answer, ended } = executeAfter(waitFor, options, now, (timed) =>
        execute(request, timed, trace.begin("LR", "PE", "run plan after fences")),
      );
      void ended.then(() => usage.end());
      return answer;
    },
    async configureExecutionBurst(callback, requestChannel, resultChannel) {
      const problem = closedProblem();
      if (problem !== undefined) return failedBurst(problem);
      // Few applications use bursts: a bundle for a browser loads them when one does.
      const { configureExecutionBurst } = await bursts();
      return configureExecutionBurst(result, callback, requestChannel, resultChannel, {
        now,
        log: (message) => log.VLOG("EXECUTION", `burst: ${message}`),
        ...(preference === ExecutionPreference.LOW_POWER && { pollingWindow: 0 }),
      });
    },
    close: usage.close,
  };
  return result;
}

/** The only step of a plan, if it has the whole model. */
function wholeStep({ steps, plan }: PreparedPlan): PreparedExecution | undefined {
  const [first] = steps;
  return steps.length === 1 && first?.kind === "execution" && first.step.model === plan.model ? first : undefined;
}

/** Why a request is not valid for a model; undefined if it is. */
function problemOf(request: Request, plan: Plan, allowUnspecifiedOutput: boolean): ExecutionResult | undefined {
  const options = { allowUnspecifiedOutput, isModelSound: true, factsOf: planFacts(plan) };
  const [issue] = deviceRequestIssues(request, plan.model, options);
  if (issue === undefined) return undefined;
  const message = `the request is not valid: ${issue.path}: ${issue.message}`;
  return failedExecution({ status: ErrorStatus.INVALID_ARGUMENT, message });
}

/**
 * Passes a request on to the one device, so that tokens and times reach it; that device checks the request. If it fails, the model runs
 * again on the CPU.
 */
async function executeWhole(
  { step, preparedModel }: PreparedExecution,
  prepared: PreparedPlan,
  request: Request,
  options: RunOptions,
  onCpu: CpuModels | undefined,
): Promise<ExecutionResult> {
  const { section, now, onStep } = options;
  const start = now();
  const result = await section.run(() => preparedModel.execute(request, options));
  onStep?.({ step, nanoseconds: now() - start });
  if (onCpu === undefined || !isRecoverable(result.status)) return result;
  const problem = problemOf(request, prepared.plan, true);
  if (problem !== undefined) return problem;
  const args = argumentsOf(prepared, request);
  return "status" in args ? result : ((await wholeOnCpu(prepared, stepName(step), args, options, onCpu)) ?? result);
}

async function executePlan(
  prepared: PreparedPlan,
  request: Request,
  options: RunOptions,
  onCpu: CpuModels | undefined,
): Promise<ExecutionResult> {
  const problem = problemOf(request, prepared.plan, true);
  if (problem !== undefined) return problem;
  const args = argumentsOf(prepared, request);
  if ("status" in args) return failedExecution(args);
  const factsOf = planFacts(prepared.plan);
  const recover = (onCpu: CpuModels): NonNullable<RunOptions["recover"]> => {
    return ({ step, device }, stepArguments, again) => {
      // A step that failed on the CPU would fail there again, unlike the whole model.
      if (device === onCpu.device || !canRunElsewhere({ main: step.model.main, factsOf }, stepArguments))
        return undefined;
      return onCpu.prepare(step.model, stepName(step)).then((runner) => (runner === null ? failed : again(runner)));
    };
  };
  const outcome = await runPlan(prepared, args.inputs, args.outputs, {
    ...options,
    ...(onCpu && { recover: recover(onCpu) }),
  });
  const result: ExecutionResult = { ...outcome, timing: notMeasured };
  const again =
    onCpu && isRecoverable(outcome.status)
      ? await wholeOnCpu(prepared, "whole model", args, options, onCpu)
      : undefined;
  const last = again ?? result;
  if (last.status !== ErrorStatus.NONE) await resetOutputs(args);
  return last;
}

function stepName({ operations }: PreparedExecution["step"]): string {
  return `step of operations ${operations.map((operation) => operation + 1).join(", ")}`;
}

/** Runs the whole model on the CPU; undefined if that is impossible. */
async function wholeOnCpu(
  { plan }: PreparedPlan,
  what: string,
  args: Arguments,
  options: RunOptions,
  onCpu: CpuModels,
): Promise<ExecutionResult | undefined> {
  const { model } = plan;
  const whole = { main: model.main, factsOf: planFacts(plan) };
  if (!canRunElsewhere(whole, args)) return undefined;
  const runner = await onCpu.prepare(model, what);
  if (runner === null) return undefined;
  const outcome = await options.section.run(() =>
    runElsewhere(whole, args, (request) => runner.execute(request, options)),
  );
  return { timing: notMeasured, ...outcome };
}

/**
 * After a failed execution, device buffers among its outputs have no value, even if a step has written them. A copy of no bytes
 * to a buffer is refused, and leaves the buffer without a value (HAL 1.3 IBuffer.copyFrom).
 */
async function resetOutputs({ outputs }: Arguments): Promise<void> {
  for (const place of outputs) await place?.buffer?.copyFrom(memoryOf(new Uint8Array(0)), []);
}

const failed: StepOutcome = {
  status: ErrorStatus.GENERAL_FAILURE,
  message: "the step failed on its device and cannot be prepared on the CPU",
  outputShapes: [],
};
