/**
 * Preparation of a plan: each step's model is prepared on its device, and the users of each value are found.
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import type { Plan } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  type Outcome,
  type PrepareOptions,
  type RequestMemoryPool,
} from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import { levelsOf, readsOf } from "./levels.ts";
import { lifetimesOf, operandSize, planFacts } from "./lifetimes.ts";
import { type Place, poolOf } from "./place.ts";
import { type Preparer, prepareExecution } from "./prepare-execution.ts";
import type { PreparedExecution, PreparedPlan, PreparedStep } from "./prepared-plan.ts";
import { usesOf } from "./uses.ts";
import { createWorkspaces, type Value } from "./workspace.ts";

/**
 * Prepares a plan. All or nothing: after a failure, the models prepared so far are freed. `first`: the first step, if it is prepared
 * already.
 */
export async function preparePlan(
  plan: Plan,
  devices: readonly Preparer[],
  options: PrepareOptions,
  log: Logger,
  first?: PreparedExecution,
): Promise<PreparedPlan | Outcome> {
  const steps: PreparedStep[] = [];
  for (const step of plan.steps) {
    const prepared = step === first?.step ? first : await prepareStep(step, devices, options, log);
    if ("status" in prepared) {
      closeSteps(steps);
      return prepared;
    }
    steps.push(prepared);
  }
  const levels = levelsOf(plan.steps);
  const uses = usesOf(plan, steps);
  const temporaries = lifetimesOf(plan, levels).map(
    (lifetime): Value => ({
      ...lifetime,
      dimensions: elementAt(plan.model.main.operands, lifetime.operand).dimensions,
      roles: uses.get(lifetime.operand) ?? null,
    }),
  );
  return {
    plan,
    steps,
    levels,
    uses,
    temporaries: temporaries.map(({ operand }) => operand),
    workspaces: createWorkspaces(temporaries, log),
    constants: constantsOf(plan),
  };
}

async function prepareStep(
  step: Plan["steps"][number],
  devices: readonly Preparer[],
  options: PrepareOptions,
  log: Logger,
): Promise<PreparedStep | Outcome> {
  if (step.kind === "execution") return prepareExecution(step, devices, options);
  const [first, second] = step.kind === "if" ? [step.thenPlan, step.elsePlan] : [step.conditionPlan, step.bodyPlan];
  const firstPlan = await preparePlan(first, devices, options, log);
  if ("status" in firstPlan) return firstPlan;
  const secondPlan = await preparePlan(second, devices, options, log);
  if ("status" in secondPlan) {
    closePlan(firstPlan);
    return secondPlan;
  }
  if (step.kind === "if") return { kind: "if", step, thenPlan: firstPlan, elsePlan: secondPlan };
  const states = createWorkspaces(stateOf(firstPlan, secondPlan), log);
  return { kind: "while", step, conditionPlan: firstPlan, bodyPlan: secondPlan, states };
}

/** The values of a loop's state: see `PreparedWhile.states`. All are alive throughout the loop. */
function stateOf(condition: PreparedPlan, body: PreparedPlan): Value[] {
  const throughout = { first: 0, last: 0 };
  const verdict: Value = { operand: 0, size: 1, dimensions: [1], roles: null, ...throughout };
  const { operands, inputIndexes, outputIndexes } = body.plan.model.main;
  const factsOf = planFacts(body.plan);
  const results = outputIndexes.flatMap((output, index) => {
    const operand = elementAt(operands, output);
    const written = body.uses.get(output);
    const readBy = [
      condition.uses.get(elementAt(condition.plan.model.main.inputIndexes, index)),
      body.uses.get(elementAt(inputIndexes, index)),
    ];
    const all = [written, ...readBy];
    const isDevices = all.every((roles) => roles !== null && roles !== undefined);
    const value: Omit<Value, "operand"> = {
      size: operandSize(operand, factsOf),
      dimensions: operand.dimensions,
      roles: isDevices ? all.flatMap((roles) => roles ?? []) : null,
      ...throughout,
    };
    return [0, 1].map((turn): Value => ({ ...value, operand: 1 + 2 * index + turn }));
  });
  return [verdict, ...results];
}

/** Frees the prepared models and workspaces of a plan. */
export function closePlan(prepared: PreparedPlan): void {
  prepared.workspaces.close();
  closeSteps(prepared.steps);
}

function closeSteps(steps: readonly PreparedStep[]): void {
  for (const step of steps) {
    if (step.kind === "execution") step.preparedModel.close();
    if (step.kind === "while") step.states.close();
    for (const plan of plansInside(step)) closePlan(plan);
  }
}

/** Frees the workspaces that no run uses; the next run allocates them again. */
export function releaseWorkspaces({ workspaces, steps }: PreparedPlan): void {
  workspaces.release();
  for (const step of steps) {
    if (step.kind === "while") step.states.release();
    for (const plan of plansInside(step)) releaseWorkspaces(plan);
  }
}

function plansInside(step: PreparedStep): readonly PreparedPlan[] {
  switch (step.kind) {
    case "execution":
      return [];
    case "if":
      return [step.thenPlan, step.elsePlan];
    case "while":
      return [step.conditionPlan, step.bodyPlan];
  }
}

function constantsOf({ model, steps }: Plan): Map<number, Place> {
  const constants = new Map<number, Place>();
  const copied = poolOf(memoryOf(model.operandValues));
  for (const step of steps) {
    if (step.kind === "execution") continue;
    for (const operand of readsOf(step)) {
      const place = constantPlace(model, elementAt(model.main.operands, operand), copied);
      if (place !== undefined) constants.set(operand, place);
    }
  }
  return constants;
}

function constantPlace(
  model: Model,
  { lifetime, location, dimensions }: Operand,
  copied: RequestMemoryPool,
): Place | undefined {
  const { poolIndex, offset, length } = location;
  if (lifetime === OperandLifeTime.CONSTANT_COPY) return { pool: copied, offset, length, dimensions };
  if (lifetime !== OperandLifeTime.CONSTANT_REFERENCE) return undefined;
  return { pool: poolOf(elementAt(model.pools, poolIndex)), offset, length, dimensions };
}
