/**
 * How much memory a plan needs for what lies between its steps.
 */
import type { Plan, Step } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { layOut } from "./layout.ts";
import { levelsOf } from "./levels.ts";
import { lifetimesOf, operandSize } from "./lifetimes.ts";

/** Bytes of one execution. */
export interface PlanMemory {
  /** What the runtime takes. */
  readonly peak: number;
  /** What any layout would take: the most that is alive at the same time. */
  readonly lowerBound: number;
}

/**
 * The memory for results that one step writes and another reads, loops' state and what lies inside interpreted control flow
 * included, as if all of it lay in plain memory: what a device keeps in its own comes off. What a device takes inside a step
 * is its own affair; inputs and outputs are the caller's.
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
  // A turn reads what the one before it wrote: two sets.
  const { operands, outputIndexes } = step.bodyPlan.model.main;
  const state = 2 * outputIndexes.reduce((bytes, operand) => bytes + operandSize(elementAt(operands, operand)), 0);
  return sum(either, { peak: state, lowerBound: state });
}
