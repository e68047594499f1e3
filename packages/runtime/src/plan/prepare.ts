/**
 * A plan made ready: each step's model is prepared on its device, and the place of every temporary between steps is fixed.
 */
import { allocateMemory, memoryOf } from "@nnhal/driver-core/memory";
import type { ExecutionStep, IfStep, Plan, WhileStep } from "@nnhal/driver-core/partition";
import {
  type Device,
  ErrorStatus,
  type Memory,
  type Model,
  type Operand,
  OperandLifeTime,
  type Outcome,
  operandTypeNames,
  operandTypes,
  type PreparedModel,
  type PrepareOptions,
} from "@nnhal/types";
import { type Layout, type Lifetime, layOut } from "./layout.ts";
import { levelsOf, readsOf } from "./levels.ts";
import type { Place } from "./place.ts";

/** A step made ready. */
export type PreparedStep =
  | { readonly kind: "execution"; readonly step: ExecutionStep; readonly preparedModel: PreparedModel }
  | { readonly kind: "if"; readonly step: IfStep; readonly thenPlan: PreparedPlan; readonly elsePlan: PreparedPlan }
  | {
      readonly kind: "while";
      readonly step: WhileStep;
      readonly conditionPlan: PreparedPlan;
      readonly bodyPlan: PreparedPlan;
    };

/** A plan made ready. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly steps: readonly PreparedStep[];
  /** The steps' indexes by level: see `levelsOf`. */
  readonly levels: readonly (readonly number[])[];
  readonly layout: Layout;
  /** What lies in a region, with its place in it. */
  readonly temporaries: readonly (Omit<Place, "memory"> & { readonly operand: number })[];
  /** Constants that interpreted steps hand to their subgraphs, by operand. */
  readonly constants: ReadonlyMap<number, Place>;
  /** Regions for temporaries that no run uses at the moment. */
  readonly regions: Memory[];
}

/** What a device is needed for here. */
type Preparer = Pick<Device, "name" | "prepareModel">;

/** Prepares a plan. All or nothing: what was prepared before a failure is freed. */
export async function preparePlan(
  plan: Plan,
  devices: readonly Preparer[],
  options: PrepareOptions,
): Promise<PreparedPlan | Outcome> {
  const steps: PreparedStep[] = [];
  for (const step of plan.steps) {
    const prepared = await prepareStep(step, devices, options);
    if ("status" in prepared) {
      closeSteps(steps);
      return prepared;
    }
    steps.push(prepared);
  }
  const levels = levelsOf(plan.steps);
  const layout = layOut(lifetimesOf(plan, levels));
  const { operands } = plan.model.main;
  return {
    plan,
    steps,
    levels,
    layout,
    temporaries: [...layout.offsets].map(([operand, offset]) => ({
      operand,
      offset,
      length: byteSize(operands[operand]),
      dimensions: operands[operand].dimensions,
    })),
    constants: constantsOf(plan),
    regions: [],
  };
}

async function prepareStep(
  step: Plan["steps"][number],
  devices: readonly Preparer[],
  options: PrepareOptions,
): Promise<PreparedStep | Outcome> {
  if (step.kind === "execution") {
    const device = devices[step.device];
    const { status, message, preparedModel } = await device.prepareModel(step.model, options);
    if (status === ErrorStatus.NONE && preparedModel !== null) return { kind: "execution", step, preparedModel };
    const failure = status === ErrorStatus.NONE ? ErrorStatus.GENERAL_FAILURE : status;
    return { status: failure, message: `${device.name}: ${message ?? "no prepared model"}` };
  }
  const [first, second] = step.kind === "if" ? [step.thenPlan, step.elsePlan] : [step.conditionPlan, step.bodyPlan];
  const firstPlan = await preparePlan(first, devices, options);
  if ("status" in firstPlan) return firstPlan;
  const secondPlan = await preparePlan(second, devices, options);
  if ("status" in secondPlan) {
    closePlan(firstPlan);
    return secondPlan;
  }
  return step.kind === "if"
    ? { kind: "if", step, thenPlan: firstPlan, elsePlan: secondPlan }
    : { kind: "while", step, conditionPlan: firstPlan, bodyPlan: secondPlan };
}

/** Frees what the steps of a plan hold. */
export function closePlan({ steps }: PreparedPlan): void {
  closeSteps(steps);
}

function closeSteps(steps: readonly PreparedStep[]): void {
  for (const step of steps) {
    if (step.kind === "execution") step.preparedModel.close();
    else if (step.kind === "if") closeAll(step.thenPlan, step.elsePlan);
    else closeAll(step.conditionPlan, step.bodyPlan);
  }
}

function closeAll(...plans: readonly PreparedPlan[]): void {
  for (const plan of plans) closePlan(plan);
}

/** The lifetimes of the operands that one step writes and another reads, but for the model's outputs, which lie with the caller. */
export function lifetimesOf({ model, steps }: Plan, levels: readonly (readonly number[])[]): Lifetime[] {
  const lives = new Map<number, { first: number; last: number }>();
  levels.forEach((level, number) => {
    for (const index of level) {
      for (const operand of steps[index].outputs) lives.set(operand, { first: number, last: number });
    }
    for (const index of level) {
      for (const operand of readsOf(steps[index])) {
        const life = lives.get(operand);
        if (life !== undefined) life.last = number;
      }
    }
  });
  return [...lives]
    .filter(([operand]) => model.main.operands[operand].lifetime === OperandLifeTime.TEMPORARY_VARIABLE)
    .map(([operand, life]) => ({ operand, size: byteSize(model.main.operands[operand]), ...life }));
}

/** Bytes of an operand of known size. */
export function byteSize({ type, dimensions }: Operand): number {
  const name = operandTypeNames.get(type);
  return dimensions.reduce((size, extent) => size * extent, name === undefined ? 1 : operandTypes[name].elementSize);
}

function constantsOf({ model, steps }: Plan): Map<number, Place> {
  const constants = new Map<number, Place>();
  const copied = memoryOf(model.operandValues);
  for (const step of steps) {
    if (step.kind === "execution") continue;
    for (const operand of readsOf(step)) {
      const place = constantPlace(model, model.main.operands[operand], copied);
      if (place !== undefined) constants.set(operand, place);
    }
  }
  return constants;
}

function constantPlace(model: Model, { lifetime, location, dimensions }: Operand, copied: Memory): Place | undefined {
  const { poolIndex, offset, length } = location;
  if (lifetime === OperandLifeTime.CONSTANT_COPY) return { memory: copied, offset, length, dimensions };
  if (lifetime !== OperandLifeTime.CONSTANT_REFERENCE) return undefined;
  return { memory: model.pools[poolIndex], offset, length, dimensions };
}

/** A region for the temporaries of one run: an idle one, or a new one. */
export function takeRegion({ regions, layout }: PreparedPlan): Memory | undefined {
  return layout.size === 0 ? undefined : (regions.pop() ?? allocateMemory(layout.size));
}

/** Gives a region back. A few are kept, for runs at the same time. */
export function giveRegionBack({ regions }: PreparedPlan, region: Memory | undefined): void {
  if (region !== undefined && regions.length < 4) regions.push(region);
}
