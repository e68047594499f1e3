/**
 * Partitioning: a pure function from a model and the answers of devices to a plan.
 */
import { elementAt, factsByCode } from "@nnhal/operations";
import type { Model } from "@nnhal/types";
import { namedSubgraphs } from "../subgraph-order.ts";
import { type Choosing, chooseByCost, chooseByPerformance } from "./choose.ts";
import { bestDraft, type Draft, draftOf, type InnerPlans, type Planning, stepsOf } from "./draft.ts";
import { hasUnknownSize, isControlFlow, wiringOf } from "./graph.ts";
import type { Choice, Plan, Unplannable } from "./plan.ts";
import { costPolicy } from "./policy.ts";
import {
  candidatesOf,
  describeUnsupported,
  extensionsOf,
  type PlanningDevice,
  type PlanOptions,
  type Questions,
  questionsOf,
  reasonOf,
} from "./questions.ts";

/** Divides a model among devices. */
export function plan(given: Model, devices: readonly PlanningDevice[], options: PlanOptions = {}): Plan | Unplannable {
  return planQuestions(questionsOf(given, devices, options), devices, options);
}

/** Divides a model among devices, with their answers. */
export function planQuestions(
  questions: Questions,
  devices: readonly PlanningDevice[],
  options: PlanOptions,
): Plan | Unplannable {
  return planSubgraph(makePlanning(questions, devices, options), devices, options);
}

function makePlanning(
  { model, inside }: Questions,
  devices: readonly PlanningDevice[],
  options: PlanOptions,
): Planning {
  return makeChoosing(model, devices, options, planInside(inside, devices, options));
}

/**
 * For each operation of the main subgraph, why no device supports it and it cannot be interpreted; undefined if it can
 * run.
 */
export function whyNotTaken(
  questions: Questions,
  devices: readonly PlanningDevice[],
  options: PlanOptions,
): (string | undefined)[] {
  const planning = makePlanning(questions, devices, options);
  return planning.candidates.map((candidates, index) =>
    isTaken(planning, index) ? undefined : describeUnsupported(candidates, devices),
  );
}

/** Plans the subgraphs that a model reaches, each once, inner ones first. */
function planInside(models: Questions["inside"], devices: readonly PlanningDevice[], options: PlanOptions): InnerPlans {
  const plans = new Map<number, Plan | Unplannable>();
  for (const [index, inside] of models) {
    const choosing = { ...makeChoosing(inside, devices, options, plans), isInner: true };
    plans.set(index, planSubgraph(choosing, devices, options));
  }
  return plans;
}

function makeChoosing(
  model: Model,
  devices: readonly PlanningDevice[],
  options: PlanOptions,
  inner: InnerPlans,
): Planning {
  const { policy = costPolicy, cpu } = options;
  const extensions = extensionsOf(model, devices);
  return {
    model,
    extensions,
    factsOf: factsByCode(model.extensionNameToPrefix, extensions),
    wiring: wiringOf(model.main),
    candidates: candidatesOf(model, devices, options),
    cpu: devices.findIndex(({ name }) => name === cpu),
    costs: policy.costs,
    inner,
    isInner: false,
  };
}

function planSubgraph(
  planning: Planning,
  devices: readonly PlanningDevice[],
  { policy = costPolicy }: PlanOptions,
): Plan | Unplannable {
  const { model, candidates, cpu } = planning;
  const { length } = candidates;
  const stuck = candidates.findIndex((_, index) => !isTaken(planning, index));
  if (stuck >= 0) {
    const why = describeUnsupported(elementAt(candidates, stuck), devices);
    return {
      unplannable: "BAD_DATA",
      message: `no device supports operation ${stuck + 1} of ${length}. ${why}`,
      places: [{ path: `main.operations[${stuck}]`, message: `no device supports it. ${why}` }],
    };
  }
  // Control flow of the CPU is interpreted instead, so that its subgraphs can run on other devices.
  const interpret = (assigned: readonly (number | undefined)[]) =>
    assigned.map((device, index) =>
      (device === undefined || device === cpu) && canInterpret(planning, index) ? undefined : device,
    );
  const names = devices.map(({ name }) => name);
  const android = joinUnknown(planning, chooseByPerformance(planning));
  if (policy.kind === "android") return explain(planning, draftOf(planning, interpret(android)), names);
  // The first of equals is chosen: the CPU, then in order.
  const inOrder = [...devices.keys()].sort((a, b) => Number(b === cpu) - Number(a === cpu) || a - b);
  const whole = inOrder.flatMap((device) => placeWhole(planning, device));
  const assignments = [...whole, joinUnknown(planning, chooseByCost(planning)), android];
  const both = model.main.operations.some((_, index) => canInterpret(planning, index))
    ? assignments.flatMap((assigned) => [assigned, interpret(assigned)])
    : assignments;
  const able = both.filter((assigned) =>
    assigned.every((device, index) => device !== undefined || canInterpret(planning, index)),
  );
  return explain(planning, bestDraft(able.map((assigned) => draftOf(planning, assigned))), names);
}

/** All operations on one device, if it supports all. */
function placeWhole({ candidates }: Choosing, device: number): number[][] {
  return candidates.every((ofOperation) => elementAt(ofOperation, device).supported)
    ? [candidates.map(() => device)]
    : [];
}

/** Returns true if a device supports an operation or the runtime can interpret it. */
function isTaken(planning: Planning, index: number): boolean {
  return elementAt(planning.candidates, index).some(({ supported }) => supported) || canInterpret(planning, index);
}

/** Returns true if the runtime can interpret an IF or WHILE: there is a CPU, and all sizes in it and around it are known. */
function canInterpret({ model, inner, factsOf }: Planning, index: number): boolean {
  const { type, inputs, outputs } = elementAt(model.main.operations, index);
  if (!isControlFlow(type) || inner.size === 0) return false;
  const isUnknown = (operand: number) => hasUnknownSize(elementAt(model.main.operands, operand), factsOf);
  if ([...inputs, ...outputs].some(isUnknown)) return false;
  return namedSubgraphs(model.main, index).every((other) => {
    const { operands, inputIndexes, outputIndexes } = elementAt(model.referenced, other);
    const planned = inner.get(other);
    if (planned === undefined || "unplannable" in planned) return false;
    return ![...inputIndexes, ...outputIndexes].some((operand) =>
      hasUnknownSize(elementAt(operands, operand), factsOf),
    );
  });
}

/** Moves operations that are joined by temporaries of unknown size to one device: the first that supports them all. */
function joinUnknown(
  { model, wiring, candidates, factsOf }: Choosing,
  devices: (number | undefined)[],
): (number | undefined)[] {
  const { main } = model;
  const parent = main.operations.map((_, index) => index);
  const find = (index: number): number => {
    let root = index;
    for (let above = elementAt(parent, root); above !== root; above = elementAt(parent, root)) root = above;
    for (let at = index; at !== root; ) {
      const above = elementAt(parent, at);
      parent[at] = root;
      at = above;
    }
    return root;
  };
  let joined = false;
  main.operations.forEach(({ inputs }, index) => {
    for (const input of inputs) {
      const writer = elementAt(wiring.writer, input);
      if (writer < 0 || !hasUnknownSize(elementAt(main.operands, input), factsOf)) continue;
      if (find(writer) === find(index)) continue;
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
    const wanted = [...new Set(group.map((index) => devices[index]))];
    if (wanted.length === 1) continue;
    const common = [...wanted, ...elementAt(candidates, 0).keys()].find(
      (device) =>
        device !== undefined && group.every((index) => elementAt(elementAt(candidates, index), device).supported),
    );
    if (common !== undefined) for (const index of group) result[index] = common;
  }
  return result;
}

/** The plan of a draft, if it is one. */
function explain(planning: Planning, draft: Draft | Unplannable, names: readonly string[]): Plan | Unplannable {
  if ("unplannable" in draft) return draft;
  const { model, extensions, candidates, cpu } = planning;
  const { assigned, predictedTime } = draft;
  const choices = assigned.map(
    (device, index): Choice => ({
      device,
      reason: reasonOf(device, elementAt(candidates, index), names, cpu),
      candidates: elementAt(candidates, index),
    }),
  );
  return { model, devices: names, extensions, choices, steps: stepsOf(planning, draft), predictedTime };
}
