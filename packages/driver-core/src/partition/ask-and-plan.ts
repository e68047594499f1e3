/** From a model and devices that may be remote to a plan: the devices are asked first, all at once. */
import type { Model } from "@nnhal/types";
import { loadOnce } from "@nnhal/utils";
import type { Plan, Unplannable } from "./plan.ts";
import { costPolicy } from "./policy.ts";
import {
  type AskedDevice,
  answersOf,
  candidatesOf,
  extensionsOf,
  type PlanningDevice,
  type PlanOptions,
  questionsOf,
  reasonOf,
} from "./questions.ts";

/** The parts that divide models. In a browser bundle they are separate chunks, loaded when a model is divided or explained. */
const separating = loadOnce(() => import("./separate.ts"));
const planning = loadOnce(() => import("./partition.ts"));

/** Options for planning after asking. */
export interface AskAndPlanOptions extends PlanOptions {
  /** If true, each operation gets a separate step: see `separateOperations`. Default: false. */
  readonly separateOperations?: boolean | undefined;
}

/** Asks devices about a model, all at once, and divides it among them. */
export async function askAndPlan(
  given: Model,
  devices: readonly AskedDevice[],
  options: AskAndPlanOptions = {},
): Promise<Plan | Unplannable> {
  const plan = await planAnswered(given, devices, options);
  if (options.separateOperations !== true || "unplannable" in plan) return plan;
  const { separateOperations } = await separating();
  return separateOperations(plan);
}

async function planAnswered(
  given: Model,
  devices: readonly AskedDevice[],
  options: PlanOptions,
): Promise<Plan | Unplannable> {
  const questions = questionsOf(given, devices, options);
  const answered = await answersOf(questions, devices);
  const whole = wholePlan(questions.model, answered, options);
  if (whole !== undefined) return whole;
  // There is something to divide, or to explain: a bundle for a browser loads the planner then.
  const { planQuestions } = await planning();
  return planQuestions(questions, answered, options);
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
  const { whyNotTaken } = await planning();
  return whyNotTaken(questions, answered, options);
}

/** The plan of a model on the only device there is, if that supports all of it: the one that `plan` returns. */
export function wholePlan(model: Model, devices: readonly PlanningDevice[], options: PlanOptions): Plan | undefined {
  if (devices.length !== 1) return undefined;
  const candidates = candidatesOf(model, devices, options);
  const names = devices.map(({ name }) => name);
  const { costs } = options.policy ?? costPolicy;
  let predictedTime = costs.step;
  for (const [candidate] of candidates) {
    if (!candidate?.supported) return undefined;
    predictedTime += candidate.predictedTime;
  }
  const { inputIndexes: inputs, outputIndexes: outputs, operations } = model.main;
  const step = { kind: "execution", device: 0, operations: [...operations.keys()], model, inputs, outputs } as const;
  return {
    model,
    devices: names,
    extensions: extensionsOf(model, devices),
    choices: candidates.map((ofOperation) => ({
      device: 0,
      reason: reasonOf(0, ofOperation, names, -1),
      candidates: ofOperation,
    })),
    steps: [{ ...step, predictedTime }],
    predictedTime,
  };
}
