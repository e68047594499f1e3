/**
 * Runs a prepared plan: level by level, the steps of a level at the same time. For IF and WHILE it runs the plans of their
 * subgraphs.
 */
import type { Plan } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import { runElsewhere } from "./elsewhere.ts";
import { planFacts } from "./lifetimes.ts";
import { isTrue, runWhile } from "./loop.ts";
import { stepText } from "./observe.ts";
import { type Place, type Places, requestOf } from "./place.ts";
import type { Arguments } from "./place-arguments.ts";
import type { PreparedExecution, PreparedIf, PreparedPlan, PreparedStep } from "./prepared-plan.ts";
import { isRecoverable } from "./recoverable.ts";
import type { RunOptions, StepOutcome } from "./run-options.ts";
import type { Workspace } from "./workspace.ts";

/** Runs a plan. Inputs and outputs are in order; undefined: omitted. Never rejects. */
export async function runPlan(
  prepared: PreparedPlan,
  inputs: Places,
  outputs: Places,
  options: RunOptions,
): Promise<StepOutcome> {
  const { main } = prepared.plan.model;
  const places: (Place | undefined)[] = [];
  for (const [operand, place] of prepared.constants) places[operand] = place;
  inputs.forEach((place, position) => {
    places[elementAt(main.inputIndexes, position)] = place;
  });
  outputs.forEach((place, position) => {
    places[elementAt(main.outputIndexes, position)] = place;
  });
  const taken = prepared.workspaces.take();
  const workspace: Workspace = taken instanceof Promise ? await taken : taken;
  prepared.temporaries.forEach((operand, index) => {
    places[operand] = workspace.places[index];
  });
  try {
    return await runLevels(prepared, places, options);
  } finally {
    prepared.workspaces.giveBack(workspace);
  }
}

/** The places of all operands while a plan runs. */
type CurrentPlaces = (Place | undefined)[];

async function runLevels(prepared: PreparedPlan, places: CurrentPlaces, options: RunOptions): Promise<StepOutcome> {
  const shapes: (OutputShape | undefined)[] = [];
  for (const level of prepared.levels) {
    if (options.signal?.aborted) return stopped;
    const run = (index: number) => runStep(elementAt(prepared.steps, index), prepared.plan, places, options);
    // A chain has many levels of one step.
    const outcomes = level.length === 1 ? [await run(elementAt(level, 0))] : await Promise.all(level.map(run));
    const failed = outcomes.find(({ status }) => status !== ErrorStatus.NONE);
    for (const [position, index] of level.entries()) {
      noteShapes(elementAt(prepared.steps, index), elementAt(outcomes, position), places, shapes);
    }
    if (failed !== undefined) {
      const { status, message } = failed;
      const isShort = status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
      return {
        status,
        ...(message !== undefined && { message }),
        outputShapes: isShort ? allShapes(prepared, shapes) : [],
      };
    }
  }
  return { status: ErrorStatus.NONE, outputShapes: allShapes(prepared, shapes) };
}

const stopped: StepOutcome = {
  status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
  message: "the execution was stopped",
  outputShapes: [],
};

/** Records the shapes that a step found: later steps read its outputs with them. */
function noteShapes(
  { step }: PreparedStep,
  { outputShapes }: StepOutcome,
  places: CurrentPlaces,
  shapes: (OutputShape | undefined)[],
): void {
  outputShapes.forEach((shape, position) => {
    const operand = elementAt(step.outputs, position);
    shapes[operand] = shape;
    const place = places[operand];
    if (place === undefined || place.dimensions === shape.dimensions) return;
    places[operand] = { ...place, dimensions: shape.dimensions };
  });
}

/** The shape of every output: as found, or as declared if no step has written it. */
function allShapes({ plan }: PreparedPlan, shapes: readonly (OutputShape | undefined)[]): OutputShape[] {
  const { operands, outputIndexes } = plan.model.main;
  return outputIndexes.map(
    (operand) => shapes[operand] ?? { dimensions: elementAt(operands, operand).dimensions, isSufficient: true },
  );
}

function runStep(prepared: PreparedStep, plan: Plan, places: Places, options: RunOptions): Promise<StepOutcome> {
  const { now, onStep } = options;
  if (onStep === undefined) return runUntimed(prepared, plan, places, options);
  const start = now();
  return runUntimed(prepared, plan, places, options).then((outcome) => {
    onStep({ step: prepared.step, nanoseconds: now() - start });
    return outcome;
  });
}

function runUntimed(prepared: PreparedStep, plan: Plan, places: Places, options: RunOptions): Promise<StepOutcome> {
  const inputs = at(places, prepared.step.inputs);
  const outputs = at(places, prepared.step.outputs);
  switch (prepared.kind) {
    case "execution":
      return runExecution(prepared, plan, { inputs, outputs }, options);
    case "if":
      return runIf(prepared, places[prepared.step.condition], inputs, outputs, options);
    case "while":
      return runWhile(prepared, inputs, outputs, options, runPlan);
  }
}

async function runExecution(
  prepared: PreparedExecution,
  plan: Plan,
  args: Arguments,
  options: RunOptions,
): Promise<StepOutcome> {
  const { section, log, recover } = options;
  const { step, preparedModel } = prepared;
  log.VLOG("EXECUTION", () => `run ${stepText(step, plan)}`);
  const request = requestOf(args.inputs, args.outputs);
  const outcome = await section.run(() => preparedModel.execute(request, options));
  if (recover === undefined || !isRecoverable(outcome.status)) return outcome;
  const again = recover(prepared, args, (other) =>
    section.run(() =>
      runElsewhere({ main: step.model.main, factsOf: planFacts(plan) }, args, (plain) => other.execute(plain, options)),
    ),
  );
  return again ?? outcome;
}

function at(places: Places, operands: readonly number[]): Places {
  return operands.map((operand) => places[operand]);
}

async function runIf(
  { step, thenPlan, elsePlan }: PreparedIf,
  condition: Place | undefined,
  inputs: Places,
  outputs: Places,
  options: RunOptions,
): Promise<StepOutcome> {
  const verdict = await isTrue(condition);
  if (verdict !== undefined) return runPlan(verdict ? thenPlan : elsePlan, inputs, outputs, options);
  const message = `operation ${step.operation + 1} (IF): the condition has no value`;
  return { status: ErrorStatus.GENERAL_FAILURE, message, outputShapes: [] };
}
