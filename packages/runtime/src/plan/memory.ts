/**
 * The memory that a plan needs for the values between its steps.
 */
import type { Plan, Step } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { layOut } from "./layout.ts";
import { levelsOf } from "./levels.ts";
import { lifetimesOf, operandSize, planFacts } from "./lifetimes.ts";

/** Bytes of one execution. */
export interface PlanMemory {
  /** The memory that the runtime allocates. */
  readonly peak: number;
  /** The minimum for any layout: the most bytes that are alive at the same time. */
  readonly lowerBound: number;
}

/**
 * The memory for values that one step writes and another reads, with the state of loops and the values inside interpreted control
 * flow, as if all of it lay in plain memory; values in device buffers need less. Memory inside a step is not counted, nor are the
 * caller's inputs and outputs.
 */
export function planMemory(plan: Plan): PlanMemory {
  const levels = levelsOf(plan.steps);
  const { size, lowerBound } = layOut(lifetimesOf(plan, levels));
  const inside = levels.map((level) => level.map((index) => insideOf(elementAt(plan.steps, index))).reduce(sum, none));
  return sum({ peak: size, lowerBound }, inside.reduce(most, none));
}

const none: PlanMemory = { peak: 0, lowerBound: 0 };

function sum(a: PlanMemory, b: PlanMemory): PlanMemory {
  return { peak: a.peak + b.peak, lowerBound: a.lowerBound + b.lowerBound };
}

function most(a: PlanMemory, b: PlanMemory): PlanMemory {
  return { peak: Math.max(a.peak, b.peak), lowerBound: Math.max(a.lowerBound, b.lowerBound) };
}

function insideOf(step: Step): PlanMemory {
  if (step.kind === "execution") return none;
  if (step.kind === "if") return most(planMemory(step.thenPlan), planMemory(step.elsePlan));
  const either = most(planMemory(step.conditionPlan), planMemory(step.bodyPlan));
  // Each iteration reads what the previous one wrote: two sets.
  const { operands, outputIndexes } = step.bodyPlan.model.main;
  const factsOf = planFacts(step.bodyPlan);
  const sizes = outputIndexes.map((operand) => operandSize(elementAt(operands, operand), factsOf));
  const state = 2 * sizes.reduce((bytes, size) => bytes + size, 0);
  return sum(either, { peak: state, lowerBound: state });
}
