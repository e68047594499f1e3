/** The questions to devices before a model is divided, their answers, and the conclusions for one operation. */
import { elementAt } from "@nnhal/operations";
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
import { subgraphsInnerFirst } from "../subgraph-order.ts";
import { referencedModel } from "./part-model.ts";
import { performancesOf } from "./performance.ts";
import type { Candidate } from "./plan.ts";
import { costPolicy, type Policy } from "./policy.ts";
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

/** Options for planning. */
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

/** The questions to devices. */
export interface Questions {
  /** The model as it is divided. */
  readonly model: Model;
  /** The subgraphs that it reaches, by index, inner ones first; none if they are not planned. */
  readonly inside: ReadonlyMap<number, Model>;
}

export function questionsOf(given: Model, devices: readonly AskedDevice[], { cpu }: PlanOptions): Questions {
  const model = withoutTrailingDefaults(given);
  if (devices.length === 1 || !devices.some(({ name }) => name === cpu)) return { model, inside: new Map() };
  return { model, inside: new Map(subgraphsInnerFirst(model).map((index) => [index, referencedModel(model, index)])) };
}

/** The devices with their answers to some questions. */
export function answersOf({ model, inside }: Questions, devices: readonly AskedDevice[]): Promise<PlanningDevice[]> {
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

/** The extensions that a model uses, as all devices that have them describe them. */
export function extensionsOf(
  { extensionNameToPrefix }: Model,
  devices: readonly PlanningDevice[],
): readonly Extension[] {
  if (extensionNameToPrefix.length === 0) return [];
  const described = devices.map((device) => ({ name: device.name, ...device.getSupportedExtensions() }));
  return mergeExtensions(described).extensions.filter((extension) =>
    extensionNameToPrefix.some(({ name }) => name === extension.name),
  );
}

/** By operation of the main subgraph, the answer of each device. */
export function candidatesOf(
  model: Model,
  devices: readonly PlanningDevice[],
  { preference = ExecutionPreference.FAST_SINGLE_ANSWER, policy = costPolicy }: PlanOptions,
): Candidate[][] {
  const { costs } = policy;
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

/** Why an operation goes to a device, or is interpreted if there is none. `cpu`: see `Planning.cpu`. */
export function reasonOf(
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

/** Why no device supports an operation. */
export function describeUnsupported(candidates: readonly Candidate[], devices: readonly PlanningDevice[]): string {
  const reasons = candidates.map(
    (candidate, device) => `${elementAt(devices, device).name}: ${candidate.supported ? "" : candidate.reason}`,
  );
  return reasons.join(". ");
}
