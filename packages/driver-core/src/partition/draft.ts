/**
 * Drafts of plans: an assignment of operations to devices, divided into steps and judged by its predicted time. The
 * models of the steps are made only for the chosen draft.
 */
import { elementAt } from "@nnhal/operations";
import { type Extension, OperationType } from "@nnhal/types";
import { namedSubgraphs } from "../subgraph-order.ts";
import { type Choosing, stepPredictor } from "./choose.ts";
import { hasUnknownSize } from "./graph.ts";
import type { ExecutionStep, Plan, Step, Unplannable } from "./plan.ts";
import { buildStepModel } from "./step-model.ts";
import { type Group, groupOperations } from "./steps.ts";

/** By referenced subgraph, its plan for interpreted control flow; empty if control flow cannot be interpreted. */
export type InnerPlans = ReadonlyMap<number, Plan | Unplannable>;

/** The input of the choice, with the plans of the subgraphs of control flow. */
export interface Planning extends Choosing {
  /** See `Plan.extensions`. */
  readonly extensions: readonly Extension[];
  readonly inner: InnerPlans;
  /** True if it is for a subgraph of control flow, which has no separate model that a device could prepare unchanged. */
  readonly isInner: boolean;
}

/** A plan without the models of its steps. */
export interface Draft {
  /** By operation, its device; undefined if the runtime interprets it. */
  readonly assigned: readonly (number | undefined)[];
  readonly groups: readonly Group[];
  /** By group, its predicted time. */
  readonly times: readonly number[];
  /** Their sum. */
  readonly predictedTime: number;
}

/** The draft of an assignment of operations to devices. Interpreted operations can be interpreted. */
export function draftOf(planning: Planning, assigned: readonly (number | undefined)[]): Draft | Unplannable {
  const { wiring, candidates } = planning;
  const groups = groupOperations(assigned, wiring, candidates[0]?.length ?? 0);
  const crossing = unknownCrossing(planning, groupsByOperation(planning, groups));
  if (crossing !== undefined) return { unplannable: "OP_FAILED", message: crossing };
  const predict = stepPredictor(planning, assigned);
  const times = groups.map(({ device, operations }) => {
    const time = predict(device, operations);
    return device === undefined ? time + timeInside(planning, elementAt(operations, 0)) : time;
  });
  return { assigned, groups, times, predictedTime: times.reduce((sum, time) => sum + time, 0) };
}

/** The draft with the least predicted time; the first of equals. */
export function bestDraft(drafts: readonly (Draft | Unplannable)[]): Draft | Unplannable {
  return drafts.reduce((a, b) => {
    if ("unplannable" in b) return a;
    return "unplannable" in a || b.predictedTime < a.predictedTime ? b : a;
  });
}

/** The steps of a draft. */
export function stepsOf(planning: Planning, { groups, times }: Draft): Step[] {
  const group = groupsByOperation(planning, groups);
  return groups.map(({ device, operations }, index) =>
    device === undefined
      ? interpretedStep(planning, elementAt(operations, 0), elementAt(times, index))
      : executionStep(planning, device, operations, group, groups.length === 1, elementAt(times, index)),
  );
}

function groupsByOperation({ model }: Planning, groups: readonly Group[]): number[] {
  const group = new Array<number>(model.main.operations.length);
  groups.forEach(({ operations }, index) => {
    for (const operation of operations) group[operation] = index;
  });
  return group;
}

function executionStep(
  { model, wiring, isInner }: Planning,
  device: number,
  operations: readonly number[],
  group: readonly number[],
  isOnly: boolean,
  predictedTime: number,
): ExecutionStep {
  // One device for everything: the model goes to it unchanged.
  if (isOnly && !isInner) {
    const { inputIndexes: inputs, outputIndexes: outputs } = model.main;
    const all = model.main.operations.map((_, index) => index);
    return { kind: "execution", device, operations: all, model, inputs, outputs, predictedTime };
  }
  const stepModel = buildStepModel(model, wiring, operations, group);
  return { kind: "execution", device, operations, ...stepModel, predictedTime };
}

function interpretedStep(planning: Planning, operation: number, predictedTime: number): Step {
  const { type, inputs, outputs } = elementAt(planning.model.main.operations, operation);
  const [first, second] = plansInside(planning, operation);
  if (type === OperationType.IF) {
    const branches = { thenPlan: first, elsePlan: second };
    const condition = elementAt(inputs, 0);
    return { kind: "if", operation, condition, ...branches, inputs: inputs.slice(3), outputs, predictedTime };
  }
  const parts = { conditionPlan: first, bodyPlan: second };
  return { kind: "while", operation, ...parts, inputs: inputs.slice(2), outputs, predictedTime };
}

/** The mean of an IF's branches, or one turn of a WHILE. */
function timeInside(planning: Planning, operation: number): number {
  const [first, second] = plansInside(planning, operation);
  const time = first.predictedTime + second.predictedTime;
  return elementAt(planning.model.main.operations, operation).type === OperationType.IF ? time / 2 : time;
}

/** The plans of the two subgraphs of an IF or WHILE that can be interpreted. */
function plansInside({ model, inner }: Planning, operation: number): readonly [first: Plan, second: Plan] {
  const plans = namedSubgraphs(model.main, operation).map((subgraph) => {
    const planned = inner.get(subgraph);
    if (planned === undefined || "unplannable" in planned) throw new Error(`subgraph ${subgraph} was not planned`);
    return planned;
  });
  return [elementAt(plans, 0), elementAt(plans, 1)];
}

/**
 * Returns the fault if a temporary of unknown size crosses from one step to another. `group`: by operation, its step.
 */
function unknownCrossing({ model, wiring, factsOf }: Planning, group: readonly number[]): string | undefined {
  const { operands, operations } = model.main;
  for (const [index, { inputs }] of operations.entries()) {
    for (const input of inputs) {
      const writer = elementAt(wiring.writer, input);
      if (writer < 0 || group[writer] === group[index] || !hasUnknownSize(elementAt(operands, input), factsOf))
        continue;
      return `operand ${input} has no known size, so operations ${writer} and ${index} cannot be in different steps`;
    }
  }
  return undefined;
}
