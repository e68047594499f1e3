/**
 * Partitioning: a pure function from a model and the answers of devices to a plan. Devices that may be remote are asked
 * first, all at once.
 */
import { elementAt, factsByCode } from "@nnhal/operations";
import {
  type Awaitable,
  type Capabilities,
  ErrorStatus,
  ExecutionPreference,
  type Extension,
  type Model,
  type SupportedOperations,
} from "@nnhal/types";
import { mergeExtensions } from "@nnhal/utils";
import { namedSubgraphs, subgraphsInnerFirst } from "../subgraph-order.ts";
import { type Choosing, chooseByCost, chooseByPerformance } from "./choose.ts";
import { bestDraft, type Draft, draftOf, type InnerPlans, type Planning, stepsOf } from "./draft.ts";
import { hasUnknownSize, isControlFlow, referencedModel, wiringOf } from "./graph.ts";
import { performancesOf } from "./performance.ts";
import type { Candidate, Choice, Plan, Unplannable } from "./plan.ts";
import { type CostModel, costPolicy, type Policy } from "./policy.ts";
import { withoutTrailingDefaults } from "./trailing-defaults.ts";

/** A device as planning sees it: its answers are there. */
export interface PlanningDevice {
  readonly name: string;
  getCapabilities(): { readonly capabilities: Capabilities };
  getSupportedOperations(model: Model): SupportedOperations;
  getSupportedExtensions(): { readonly extensions: readonly Extension[] };
}

/** A device to ask before planning. Its answers may come later; it must not reject. Every `Device` is one. */
export interface AskedDevice extends Omit<PlanningDevice, "getSupportedOperations"> {
  getSupportedOperations(model: Model): Awaitable<SupportedOperations>;
}

/** How to plan. */
export interface PlanOptions {
  /** Default: FAST_SINGLE_ANSWER. */
  readonly preference?: ExecutionPreference | undefined;
  /** Default: `costPolicy`. */
  readonly policy?: Policy | undefined;
  /**
   * Name of the CPU device, which every step can fall back to. It wins ties. Control flow is interpreted only if there
   * is one.
   */
  readonly cpu?: string | undefined;
}

/** Divides a model among devices. */
export function plan(given: Model, devices: readonly PlanningDevice[], options: PlanOptions = {}): Plan | Unplannable {
  return planQuestions(questionsOf(given, devices, options), devices, options);
}

/** Asks devices about a model, all at once, and divides it among them. */
export async function askAndPlan(
  given: Model,
  devices: readonly AskedDevice[],
  options: PlanOptions = {},
): Promise<Plan | Unplannable> {
  const questions = questionsOf(given, devices, options);
  return planQuestions(questions, await answersOf(questions, devices), options);
}

/** What devices are asked about. */
interface Questions {
  /** The model as it is divided. */
  readonly model: Model;
  /** The subgraphs that it reaches, by index, inner ones first; none if they are not planned. */
  readonly inside: ReadonlyMap<number, Model>;
}

function questionsOf(given: Model, devices: readonly AskedDevice[], { cpu }: PlanOptions): Questions {
  const model = withoutTrailingDefaults(given);
  if (devices.length === 1 || !devices.some(({ name }) => name === cpu)) return { model, inside: new Map() };
  return { model, inside: new Map(subgraphsInnerFirst(model).map((index) => [index, referencedModel(model, index)])) };
}

/** The devices with their answers to some questions. */
function answersOf({ model, inside }: Questions, devices: readonly AskedDevice[]): Promise<PlanningDevice[]> {
  const asked = [model, ...inside.values()];
  return Promise.all(
    devices.map(async (device) => {
      const capabilities = device.getCapabilities();
      const answers = await Promise.all(asked.map((one) => device.getSupportedOperations(one)));
      return {
        name: device.name,
        getCapabilities: () => capabilities,
        getSupportedExtensions: () => device.getSupportedExtensions(),
        getSupportedOperations: (one) => elementAt(answers, asked.indexOf(one)),
      };
    }),
  );
}

function planQuestions(
  questions: Questions,
  devices: readonly PlanningDevice[],
  options: PlanOptions,
): Plan | Unplannable {
  return planSubgraph(planningOf(questions, devices, options), devices, options);
}

function planningOf({ model, inside }: Questions, devices: readonly PlanningDevice[], options: PlanOptions): Planning {
  return choosingOf(model, devices, options, planInside(inside, devices, options));
}

/**
 * For each operation of the main subgraph, why no device supports it and it cannot be interpreted; undefined if it can
 * run.
 */
export async function whyUnsupported(
  given: Model,
  devices: readonly AskedDevice[],
  options: PlanOptions = {},
): Promise<(string | undefined)[]> {
  const questions = questionsOf(given, devices, options);
  const answered = await answersOf(questions, devices);
  const planning = planningOf(questions, answered, options);
  return planning.candidates.map((candidates, index) =>
    isTaken(planning, index) ? undefined : describeUnsupported(candidates, answered),
  );
}

/** Plans the subgraphs that a model reaches, each once, inner ones first. */
function planInside(models: Questions["inside"], devices: readonly PlanningDevice[], options: PlanOptions): InnerPlans {
  const plans = new Map<number, Plan | Unplannable>();
  for (const [index, inside] of models) {
    const choosing = { ...choosingOf(inside, devices, options, plans), isInner: true };
    plans.set(index, planSubgraph(choosing, devices, options));
  }
  return plans;
}

function choosingOf(
  model: Model,
  devices: readonly PlanningDevice[],
  { preference = ExecutionPreference.FAST_SINGLE_ANSWER, policy = costPolicy, cpu }: PlanOptions,
  inner: InnerPlans,
): Planning {
  const extensions = extensionsOf(model, devices);
  return {
    model,
    extensions,
    factsOf: factsByCode(model.extensionNameToPrefix, extensions),
    wiring: wiringOf(model.main),
    candidates: candidatesOf(model, devices, preference, policy.costs),
    cpu: devices.findIndex(({ name }) => name === cpu),
    costs: policy.costs,
    inner,
    isInner: false,
  };
}

/** The extensions that a model uses, as all devices that have them describe them. */
function extensionsOf({ extensionNameToPrefix }: Model, devices: readonly PlanningDevice[]): readonly Extension[] {
  if (extensionNameToPrefix.length === 0) return [];
  const described = devices.map((device) => ({ name: device.name, ...device.getSupportedExtensions() }));
  return mergeExtensions(described).extensions.filter((extension) =>
    extensionNameToPrefix.some(({ name }) => name === extension.name),
  );
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
    return { unplannable: "BAD_DATA", message: `no device supports operation ${stuck + 1} of ${length}. ${why}` };
  }
  // Control flow of the CPU is interpreted instead, so that its subgraphs can run on other devices.
  const interpreted = (assigned: readonly (number | undefined)[]) =>
    assigned.map((device, index) =>
      (device === undefined || device === cpu) && canInterpret(planning, index) ? undefined : device,
    );
  const names = devices.map(({ name }) => name);
  const android = joinUnknown(planning, chooseByPerformance(planning));
  if (policy.kind === "android") return explained(planning, draftOf(planning, interpreted(android)), names);
  // The first of equals is chosen: the CPU, then in order.
  const inOrder = [...devices.keys()].sort((a, b) => Number(b === cpu) - Number(a === cpu) || a - b);
  const whole = inOrder.flatMap((device) => wholeOn(planning, device));
  const assignments = [...whole, joinUnknown(planning, chooseByCost(planning)), android];
  const both = model.main.operations.some((_, index) => canInterpret(planning, index))
    ? assignments.flatMap((assigned) => [assigned, interpreted(assigned)])
    : assignments;
  const able = both.filter((assigned) =>
    assigned.every((device, index) => device !== undefined || canInterpret(planning, index)),
  );
  return explained(planning, bestDraft(able.map((assigned) => draftOf(planning, assigned))), names);
}

/** All operations on one device, if it supports all. */
function wholeOn({ candidates }: Choosing, device: number): number[][] {
  return candidates.every((ofOperation) => elementAt(ofOperation, device).supported)
    ? [candidates.map(() => device)]
    : [];
}

function candidatesOf(
  model: Model,
  devices: readonly PlanningDevice[],
  preference: ExecutionPreference,
  costs: CostModel,
): Candidate[][] {
  const candidates: Candidate[][] = model.main.operations.map(() => []);
  for (const device of devices) {
    const { capabilities } = device.getCapabilities();
    const { status, message, supported, reasons, dispatches = [] } = device.getSupportedOperations(model);
    const performances = performancesOf(model, capabilities, preference, costs);
    candidates.forEach((ofOperation, index) => {
      if (status === ErrorStatus.NONE && supported[index]) {
        const { performance, predictedTime } = elementAt(performances, index);
        const further = ((dispatches[index] ?? 1) - 1) * costs.operation;
        ofOperation.push({ supported: true, performance, predictedTime: predictedTime + further });
      } else ofOperation.push({ supported: false, reason: reasons[index] ?? message ?? "not supported" });
    });
  }
  return candidates;
}

/** Whether a device supports an operation or the runtime can interpret it. */
function isTaken(planning: Planning, index: number): boolean {
  return elementAt(planning.candidates, index).some(({ supported }) => supported) || canInterpret(planning, index);
}

/** Whether the runtime can interpret an IF or WHILE: there is a CPU, and all sizes in it and around it are known. */
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
function explained(planning: Planning, draft: Draft | Unplannable, names: readonly string[]): Plan | Unplannable {
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

function reasonOf(
  device: number | undefined,
  candidates: readonly Candidate[],
  names: readonly string[],
  cpu: number,
): string {
  if (device === undefined) return "the runtime interprets it, so that its parts can run on the best devices";
  const able = candidates.flatMap((candidate) => (candidate.supported ? [candidate] : []));
  if (able.length === 1) return `only ${names[device]} supports it`;
  const chosen = elementAt(candidates, device);
  const performance = chosen.supported ? chosen.performance : Number.POSITIVE_INFINITY;
  const others = able.map(({ performance }) => performance);
  if (performance > Math.min(...others)) {
    const times = able.map(({ predictedTime }) => predictedTime);
    if (chosen.supported && chosen.predictedTime <= Math.min(...times)) {
      return `${names[device]} has less start-up cost than devices that compute faster`;
    }
    return "another device computes faster, but not with the transfers to and from it";
  }
  if (others.filter((one) => one === performance).length === 1) return `${names[device]} is the fastest`;
  return device === cpu ? "no device is faster than the CPU" : `of equals ${names[device]} saves a step or comes first`;
}

function describeUnsupported(candidates: readonly Candidate[], devices: readonly PlanningDevice[]): string {
  const reasons = candidates.map(
    (candidate, device) => `${elementAt(devices, device).name}: ${candidate.supported ? "" : candidate.reason}`,
  );
  return reasons.join(". ");
}
