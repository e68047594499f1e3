/**
 * Runs a prepared plan: level by level, the steps of a level at the same time; IF and WHILE by running the plans of their
 * subgraphs.
 */
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import type { Plan, Step } from "@nnhal/driver-core/partition";
import {
  ErrorStatus,
  type ExecuteOptions,
  LoopTimeoutDurationNs,
  type Memory,
  type Outcome,
  type OutputShape,
  type PreparedModel,
} from "@nnhal/types";
import type { Logger, Section } from "@nnhal/utils";
import { stepText } from "./observe.ts";
import type { Place, Places } from "./place.ts";
import { requestOf } from "./place.ts";
import { byteSize, giveRegionBack, type PreparedPlan, type PreparedStep, takeRegion } from "./prepare.ts";

/** How long a step took. */
export interface StepTime {
  /** A step of the compilation's plan, or of a plan inside it. */
  readonly step: Step;
  readonly nanoseconds: bigint;
}

/** What runs inside one another share. */
export interface RunOptions extends ExecuteOptions {
  /** The steady clock that deadlines are times on, in nanoseconds. */
  readonly now: () => bigint;
  /** What to do where a step fails on its device; absent: nothing. `run` runs the step's request on another model. */
  readonly recover?: (
    step: PreparedStep & { kind: "execution" },
    run: (prepared: PreparedModel) => Promise<StepOutcome>,
  ) => Promise<StepOutcome>;
  /** Told of each step that ran. */
  readonly onStep?: (time: StepTime) => void;
  /** The section that the run lies in. */
  readonly section: Section;
  readonly log: Logger;
}

/** The outcome of a step or of a plan, and the shapes of its outputs. */
export interface StepOutcome extends Outcome {
  readonly outputShapes: readonly OutputShape[];
}

/** Runs a plan. Inputs and outputs: by position; undefined where omitted. Never rejects. */
export async function runPlan(
  prepared: PreparedPlan,
  inputs: readonly (Place | undefined)[],
  outputs: readonly (Place | undefined)[],
  options: RunOptions,
): Promise<StepOutcome> {
  const { main } = prepared.plan.model;
  const places: Places = [];
  for (const [operand, place] of prepared.constants) places[operand] = place;
  inputs.forEach((place, position) => {
    places[main.inputIndexes[position]] = place;
  });
  outputs.forEach((place, position) => {
    places[main.outputIndexes[position]] = place;
  });
  const region = takeRegion(prepared);
  if (region !== undefined) {
    for (const { operand, offset, length, dimensions } of prepared.temporaries) {
      places[operand] = { memory: region, offset, length, dimensions };
    }
  }
  const shapes: (OutputShape | undefined)[] = [];
  for (const level of prepared.levels) {
    const outcomes = await Promise.all(
      level.map((index) => runStep(prepared.steps[index], prepared.plan, places, options)),
    );
    const failed = outcomes.find(({ status }) => status !== ErrorStatus.NONE);
    for (const [position, index] of level.entries()) {
      noteShapes(prepared.steps[index], outcomes[position], places, shapes);
    }
    if (failed !== undefined) {
      const { status, message } = failed;
      giveRegionBack(prepared, region);
      const isShort = status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
      return {
        status,
        ...(message !== undefined && { message }),
        outputShapes: isShort ? allShapes(prepared, shapes) : [],
      };
    }
  }
  giveRegionBack(prepared, region);
  return { status: ErrorStatus.NONE, outputShapes: allShapes(prepared, shapes) };
}

/** Takes over the shapes that a step found: later steps read its outputs with them. */
function noteShapes(
  { step }: PreparedStep,
  { outputShapes }: StepOutcome,
  places: Places,
  shapes: (OutputShape | undefined)[],
): void {
  outputShapes.forEach((shape, position) => {
    const operand = step.outputs[position];
    shapes[operand] = shape;
    const place = places[operand];
    if (place === undefined || !shape.isSufficient || place.dimensions === shape.dimensions) return;
    places[operand] = { ...place, dimensions: shape.dimensions };
  });
}

/** The shape of every output: as found, or as declared where the plan did not get so far. */
function allShapes({ plan }: PreparedPlan, shapes: readonly (OutputShape | undefined)[]): OutputShape[] {
  const { operands, outputIndexes } = plan.model.main;
  return outputIndexes.map(
    (operand) => shapes[operand] ?? { dimensions: operands[operand].dimensions, isSufficient: true },
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
  if (prepared.kind === "if") return runIf(prepared, places, options);
  if (prepared.kind === "while") return runWhile(prepared, places, options);
  const { inputs, outputs } = prepared.step;
  const request = requestOf(at(places, inputs), at(places, outputs));
  const { section, log } = options;
  log.VLOG("EXECUTION", () => `run ${stepText(prepared.step, plan)}`);
  const run = (runner: PreparedModel) => section.run(() => runner.execute(request, options));
  return run(prepared.preparedModel).then((outcome) => {
    if (options.recover === undefined || !isRecoverable(outcome.status)) return outcome;
    return options.recover(prepared, run);
  });
}

/** Whether a failure may be made good on another device: not where the request or the time is to blame. */
export function isRecoverable(status: ErrorStatus): boolean {
  return (
    status !== ErrorStatus.NONE &&
    status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE &&
    status !== ErrorStatus.MISSED_DEADLINE_TRANSIENT &&
    status !== ErrorStatus.MISSED_DEADLINE_PERSISTENT
  );
}

function at(places: Places, operands: readonly number[]): Places {
  return operands.map((operand) => places[operand]);
}

function failure(message: string, status: ErrorStatus = ErrorStatus.GENERAL_FAILURE): StepOutcome {
  return { status, message, outputShapes: [] };
}

/** A condition's one byte; undefined where it has no value. */
function isTrue(place: Place | undefined): boolean | undefined {
  const bytes = place && mapMemory(place.memory);
  if (place === undefined || bytes === undefined || "unmappable" in bytes) return undefined;
  return bytes[place.offset] !== 0;
}

async function runIf(
  { step, thenPlan, elsePlan }: PreparedStep & { kind: "if" },
  places: Places,
  options: RunOptions,
): Promise<StepOutcome> {
  const condition = isTrue(places[step.condition]);
  if (condition === undefined) return failure(`operation ${step.operation} (IF): the condition has no value`);
  return runPlan(condition ? thenPlan : elsePlan, at(places, step.inputs), at(places, step.outputs), options);
}

async function runWhile(
  { step, conditionPlan, bodyPlan }: PreparedStep & { kind: "while" },
  places: Places,
  options: RunOptions,
): Promise<StepOutcome> {
  const { now, loopTimeoutDuration = LoopTimeoutDurationNs.DEFAULT } = options;
  const body = bodyPlan.plan.model.main;
  const verdict: Place = { memory: allocateMemory(1), offset: 0, length: 1, dimensions: [1] };
  // What the body writes in one turn it reads in the next: two sets of places, used in turn.
  const buffers = [0, 1].map(() =>
    body.outputIndexes.map((operand) => stateAt(allocateMemory, body.operands[operand])),
  );
  const start = now();
  let state = at(places, step.inputs);
  for (let turn = 0; ; turn++) {
    const judged = await runPlan(conditionPlan, state, [verdict], options);
    if (judged.status !== ErrorStatus.NONE) return judged;
    if (isTrue(verdict) !== true) break;
    if (now() - start > loopTimeoutDuration) {
      const message = `operation ${step.operation} (WHILE): the loop took longer than ${loopTimeoutDuration} ns`;
      return failure(message, ErrorStatus.MISSED_DEADLINE_TRANSIENT);
    }
    const next = buffers[turn % 2];
    const done = await runPlan(bodyPlan, state, next, options);
    if (done.status !== ErrorStatus.NONE) return done;
    const results = next.map((place, index) => ({ ...place, dimensions: done.outputShapes[index].dimensions }));
    state = [...results, ...state.slice(results.length)];
  }
  return copyOut(state, at(places, step.outputs), step.operation);
}

function stateAt(allocate: (size: number) => Memory, operand: Parameters<typeof byteSize>[0]): Place {
  const length = byteSize(operand);
  return { memory: allocate(Math.max(length, 1)), offset: 0, length, dimensions: operand.dimensions };
}

/** Copies a loop's final values to where its outputs go. */
function copyOut(from: Places, to: Places, operation: number): StepOutcome {
  const outputShapes: OutputShape[] = [];
  for (const [index, target] of to.entries()) {
    const source = from[index];
    const read = source && mapMemory(source.memory);
    const written = target && mapMemory(target.memory);
    if (source === undefined || read === undefined || "unmappable" in read) {
      return failure(`operation ${operation} (WHILE): value ${index} cannot be read`);
    }
    const isSufficient = target !== undefined && target.length >= source.length;
    outputShapes.push({ dimensions: source.dimensions, isSufficient });
    if (!isSufficient || written === undefined || "unmappable" in written) continue;
    written.set(read.subarray(source.offset, source.offset + source.length), target.offset);
  }
  if (outputShapes.every(({ isSufficient }) => isSufficient)) return { status: ErrorStatus.NONE, outputShapes };
  return { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, message: "an output is too small", outputShapes };
}
