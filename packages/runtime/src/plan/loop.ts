/**
 * An interpreted WHILE. Each iteration reads what the previous one wrote: every value of the state has two places, used
 * alternately, and is copied to the outputs when the loop has ended.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, LoopTimeoutDurationNs, type OutputShape } from "@nnhal/types";
import { readPlace } from "./bytes.ts";
import { copyPlace } from "./elsewhere.ts";
import { operandSize, planFacts } from "./lifetimes.ts";
import type { Place, Places } from "./place.ts";
import type { PreparedPlan, PreparedWhile } from "./prepared-plan.ts";
import type { RunOptions, StepOutcome } from "./run-options.ts";

/** Runs a plan: `runPlan`. */
type RunPlan = (plan: PreparedPlan, inputs: Places, outputs: Places, options: RunOptions) => Promise<StepOutcome>;

/** Runs a loop from its initial values, and copies its results to the outputs. */
export async function runWhile(
  loop: PreparedWhile,
  inputs: Places,
  outputs: Places,
  options: RunOptions,
  runPlan: RunPlan,
): Promise<StepOutcome> {
  const workspace = await loop.states.take();
  try {
    const ended = await turns(loop, workspace.places, inputs, options, runPlan);
    return "status" in ended ? ended : await copyOut(loop, ended.state, outputs);
  } finally {
    loop.states.giveBack(workspace);
  }
}

/** The state when the condition has become false, or the failure. */
async function turns(
  { step, conditionPlan, bodyPlan }: PreparedWhile,
  [verdict, ...pairs]: readonly Place[],
  inputs: Places,
  options: RunOptions,
  runPlan: RunPlan,
): Promise<StepOutcome | { readonly state: Places }> {
  const { now, loopTimeoutDuration = LoopTimeoutDurationNs.DEFAULT } = options;
  const start = now();
  let state = inputs;
  for (let turn = 0; ; turn++) {
    const judged = await runPlan(conditionPlan, state, [verdict], options);
    if (judged.status !== ErrorStatus.NONE) return judged;
    if ((await isTrue(verdict)) !== true) return { state };
    if (now() - start > loopTimeoutDuration) {
      const message = `operation ${step.operation + 1} (WHILE): the loop took longer than ${loopTimeoutDuration} ns`;
      return { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message, outputShapes: [] };
    }
    const next = pairs.filter((_, index) => index % 2 === turn % 2);
    const done = await runPlan(bodyPlan, state, next, options);
    if (done.status !== ErrorStatus.NONE) return done;
    const results = next.map((place, index) => ({
      ...place,
      dimensions: elementAt(done.outputShapes, index).dimensions,
    }));
    state = [...results, ...state.slice(results.length)];
  }
}

/** The value of a condition; undefined if it has none. */
export async function isTrue(place: Place | undefined): Promise<boolean | undefined> {
  if (place === undefined) return undefined;
  const bytes = await readPlace(place, 1);
  return "status" in bytes ? undefined : bytes[0] !== 0;
}

/** Copies the final values of a loop to its outputs. */
async function copyOut({ step, bodyPlan }: PreparedWhile, from: Places, to: Places): Promise<StepOutcome> {
  const { operands, outputIndexes } = bodyPlan.plan.model.main;
  const factsOf = planFacts(bodyPlan.plan);
  const what = `operation ${step.operation + 1} (WHILE)`;
  const outputShapes: OutputShape[] = [];
  for (const [index, target] of to.entries()) {
    const source = from[index];
    if (source === undefined) {
      return { status: ErrorStatus.GENERAL_FAILURE, message: `${what}: value ${index} is omitted`, outputShapes: [] };
    }
    const { dimensions } = source;
    const size = operandSize({ ...elementAt(operands, elementAt(outputIndexes, index)), dimensions }, factsOf);
    const isSufficient = target !== undefined && (target.pool.kind === "token" || target.length >= size);
    outputShapes.push({ dimensions, isSufficient });
    if (!isSufficient) continue;
    const { status, message } = await copyPlace(source, target, size, dimensions);
    if (status !== ErrorStatus.NONE)
      return { status, message: `${what}: value ${index}: ${message}`, outputShapes: [] };
  }
  if (outputShapes.every(({ isSufficient }) => isSufficient)) return { status: ErrorStatus.NONE, outputShapes };
  return { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, message: "an output is too small", outputShapes };
}
