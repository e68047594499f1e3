/**
 * Partitioning: a pure function from a model and what devices say of it to a plan.
 */
import {
  type Capabilities,
  ErrorStatus,
  ExecutionPreference,
  type Model,
  OperationType,
  type SupportedOperations,
} from "@nnhal/types";
import { namedSubgraphs } from "../subgraph-order.ts";
import { type Choosing, chooseByCost, chooseByPerformance, predictTime } from "./choose.ts";
import { hasUnknownSize, isControlFlow, referencedModel, type Wiring, wiringOf } from "./graph.ts";
import { performancesOf } from "./performance.ts";
import type { Candidate, Choice, Plan, Step, Unplannable } from "./plan.ts";
import { costPolicy, type Policy } from "./policy.ts";
import { buildStepModel } from "./step-model.ts";
import { groupOperations } from "./steps.ts";

/** A device as planning sees it; every `Device` is one, but for the CPU's mark. */
export interface PlanningDevice {
  readonly name: string;
  getCapabilities(): { readonly capabilities: Capabilities };
  getSupportedOperations(model: Model): SupportedOperations;
}

/** How to plan. */
export interface PlanOptions {
  /** Default: FAST_SINGLE_ANSWER. */
  readonly preference?: ExecutionPreference;
  /** Default: `costPolicy`. */
  readonly policy?: Policy;
  /** Name of the device that everything can fall back to: it wins ties, and is what control flow is interpreted beside. */
  readonly cpu?: string;
}

/** Divides a model among devices. */
export function plan(model: Model, devices: readonly PlanningDevice[], options: PlanOptions = {}): Plan | Unplannable {
  const { preference = ExecutionPreference.FAST_SINGLE_ANSWER, policy = costPolicy } = options;
  const cpu = devices.findIndex(({ name }) => name === options.cpu);
  const candidates = candidatesOf(model, devices, preference);
  const wiring = wiringOf(model.main);
  const choosing: Choosing = { model, wiring, candidates, cpu, costs: policy.costs };
  const nobody = candidates.findIndex(
    (ofOperation, index) => !ofOperation.some(({ supported }) => supported) && !canInterpret(model, index, cpu),
  );
  if (nobody >= 0)
    return { unplannable: "BAD_DATA", message: describeUnsupported(model, nobody, candidates[nobody], devices) };
  const android = () => divide(choosing, joinUnknown(choosing, chooseByPerformance(choosing)), devices, options);
  if (policy.kind === "android") return android();
  const whole = devices.flatMap((_, device) => wholeOn(choosing, device));
  const assignments = [
    ...whole,
    joinUnknown(choosing, chooseByCost(choosing)),
    joinUnknown(choosing, chooseByPerformance(choosing)),
  ];
  return best(assignments.map((assignment) => divide(choosing, assignment, devices, options)));
}

/** The plan of least predicted time; the first of equals. */
function best(plans: readonly (Plan | Unplannable)[]): Plan | Unplannable {
  return plans.reduce((a, b) => {
    if ("unplannable" in b) return a;
    return "unplannable" in a || b.predictedTime < a.predictedTime ? b : a;
  });
}

/** All operations on one device, where it takes all. */
function wholeOn({ candidates }: Choosing, device: number): number[][] {
  return candidates.every((ofOperation) => ofOperation[device].supported) ? [candidates.map(() => device)] : [];
}

function candidatesOf(
  model: Model,
  devices: readonly PlanningDevice[],
  preference: ExecutionPreference,
): Candidate[][] {
  const candidates: Candidate[][] = model.main.operations.map(() => []);
  for (const device of devices) {
    const { capabilities } = device.getCapabilities();
    const { status, message, supported, reasons } = device.getSupportedOperations(model);
    const performances = performancesOf(model, capabilities, preference);
    candidates.forEach((ofOperation, index) => {
      if (status === ErrorStatus.NONE && supported[index]) {
        ofOperation.push({ supported: true, performance: performances[index] });
      } else ofOperation.push({ supported: false, reason: reasons[index] ?? message ?? "not supported" });
    });
  }
  return candidates;
}

/** Whether the runtime may run an IF or WHILE itself: beside a CPU, with sizes known in it and around it. */
function canInterpret(model: Model, index: number, cpu: number): boolean {
  const { type, inputs, outputs } = model.main.operations[index];
  if (!isControlFlow(type) || cpu < 0) return false;
  const isUnknown = (operand: number) => hasUnknownSize(model.main.operands[operand]);
  if ([...inputs, ...outputs].some(isUnknown)) return false;
  return namedSubgraphs(model.main, index).every((other) => {
    const { operands, inputIndexes, outputIndexes } = model.referenced[other];
    return ![...inputIndexes, ...outputIndexes].some((operand) => hasUnknownSize(operands[operand]));
  });
}

/** Brings operations that temporaries of unknown size join to one device: the first that takes them all. */
function joinUnknown({ model, wiring, candidates }: Choosing, devices: (number | undefined)[]): (number | undefined)[] {
  const { main } = model;
  const parent = main.operations.map((_, index) => index);
  const find = (index: number): number => {
    let root = index;
    while (parent[root] !== root) root = parent[root];
    while (parent[index] !== root) {
      const next = parent[index];
      parent[index] = root;
      index = next;
    }
    return root;
  };
  let joined = false;
  main.operations.forEach(({ inputs }, index) => {
    for (const input of inputs) {
      const writer = wiring.writer[input];
      if (writer < 0 || !hasUnknownSize(main.operands[input]) || find(writer) === find(index)) continue;
      parent[find(index)] = find(writer);
      joined = true;
    }
  });
  if (!joined) return devices;
  const members = new Map<number, number[]>();
  main.operations.forEach((_, index) => {
    const root = find(index);
    const list = members.get(root);
    if (list === undefined) members.set(root, [index]);
    else list.push(index);
  });
  const result = [...devices];
  for (const group of members.values()) {
    if (group.every((index) => devices[index] === devices[group[0]])) continue;
    const wanted = [...new Set(group.map((index) => devices[index]))];
    const common = [...wanted, ...candidates[group[0]].keys()].find(
      (device) => device !== undefined && group.every((index) => candidates[index][device].supported),
    );
    if (common !== undefined) for (const index of group) result[index] = common;
  }
  return result;
}

/** The plan of an assignment of operations to devices. */
function divide(
  choosing: Choosing,
  assigned: readonly (number | undefined)[],
  devices: readonly PlanningDevice[],
  options: PlanOptions,
): Plan | Unplannable {
  const { model, wiring, candidates, cpu } = choosing;
  // What the CPU would run it interprets instead, so that what is inside may go to other devices.
  const effective = assigned.map((device, index) =>
    (device === undefined || device === cpu) && devices.length > 1 && canInterpret(model, index, cpu)
      ? undefined
      : device,
  );
  const groups = groupOperations(effective, wiring, devices.length);
  const crossing = unknownCrossing(model, wiring, effective);
  if (crossing !== undefined) return { unplannable: "OP_FAILED", message: crossing };
  const names = devices.map(({ name }) => name);
  const choices = effective.map(
    (device, index): Choice => ({
      device,
      reason: reasonOf(device, candidates[index], names, cpu),
      candidates: candidates[index],
    }),
  );
  const group = new Array<number>(model.main.operations.length);
  groups.forEach(({ operations }, step) => {
    for (const operation of operations) group[operation] = step;
  });
  const steps: Step[] = [];
  for (const { device, operations } of groups) {
    const step =
      device === undefined
        ? interpretedStep(model, operations[0], devices, options)
        : executionStep(model, wiring, device, operations, group, groups.length);
    if ("unplannable" in step) return step;
    steps.push(step);
  }
  const predictedTime = predictTime(choosing, effective, groups.length);
  return { model, devices: names, choices, steps, predictedTime };
}

function executionStep(
  model: Model,
  wiring: Wiring,
  device: number,
  operations: readonly number[],
  group: readonly number[],
  groupCount: number,
): Step {
  // One device for everything: the model goes to it unchanged.
  if (groupCount === 1) {
    const { inputIndexes: inputs, outputIndexes: outputs } = model.main;
    return {
      kind: "execution",
      device,
      operations: model.main.operations.map((_, index) => index),
      model,
      inputs,
      outputs,
    };
  }
  return { kind: "execution", device, operations, ...buildStepModel(model, wiring, operations, group) };
}

function interpretedStep(
  model: Model,
  operation: number,
  devices: readonly PlanningDevice[],
  options: PlanOptions,
): Step | Unplannable {
  const { type, inputs, outputs } = model.main.operations[operation];
  const plans: Plan[] = [];
  for (const subgraph of namedSubgraphs(model.main, operation)) {
    const inner = plan(referencedModel(model, subgraph), devices, options);
    if ("unplannable" in inner) return inner;
    plans.push(inner);
  }
  const [first, second] = plans;
  if (type === OperationType.IF) {
    const [condition, , , ...rest] = inputs;
    return { kind: "if", operation, condition, thenPlan: first, elsePlan: second, inputs: rest, outputs };
  }
  return { kind: "while", operation, conditionPlan: first, bodyPlan: second, inputs: inputs.slice(2), outputs };
}

/** What is wrong where a temporary of unknown size would cross from one step to another. */
function unknownCrossing(model: Model, wiring: Wiring, devices: readonly (number | undefined)[]): string | undefined {
  const { operands, operations } = model.main;
  for (const [index, { inputs }] of operations.entries()) {
    for (const input of inputs) {
      const writer = wiring.writer[input];
      if (writer < 0 || devices[writer] === devices[index] || !hasUnknownSize(operands[input])) continue;
      return `operand ${input} has no known size, so operations ${writer} and ${index} cannot be on different devices`;
    }
  }
  return undefined;
}

function reasonOf(
  device: number | undefined,
  candidates: readonly Candidate[],
  names: readonly string[],
  cpu: number,
): string {
  if (device === undefined) return "the runtime interprets it, so that its parts can go to the best devices";
  const able = candidates.flatMap(({ supported }, index) => (supported ? [index] : []));
  if (able.length === 1) return `only ${names[device]} takes it`;
  const chosen = candidates[device];
  const performance = chosen.supported ? chosen.performance : Number.POSITIVE_INFINITY;
  const others = able.map((index) => candidates[index]).map((one) => (one.supported ? one.performance : 0));
  if (performance > Math.min(...others))
    return "another device is faster by itself, but not with the way there and back";
  if (others.filter((one) => one === performance).length === 1) return `${names[device]} is the fastest`;
  return device === cpu ? "no device is faster than the CPU" : `of equals ${names[device]} saves a step or comes first`;
}

function describeUnsupported(
  model: Model,
  index: number,
  candidates: readonly Candidate[],
  devices: readonly PlanningDevice[],
): string {
  const reasons = candidates.map(
    (candidate, device) => `${devices[device].name}: ${candidate.supported ? "" : candidate.reason}`,
  );
  return `no device takes operation ${index} of ${model.main.operations.length}. ${reasons.join(". ")}`;
}
