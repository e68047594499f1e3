/** The required answers of a device to a mutant, at every call that takes it. */
import {
  type Device,
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  type FencedResult,
  MeasureTiming,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
  type ErrorStatus as Status,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { reasonAgainst } from "../support.ts";
import type { Mutant } from "./mutation.ts";
import type { RequestMutant } from "./request.ts";

/** Returns the fault in a device's answers to a model, in words; undefined if they are right. */
export async function findModelProblem(device: Device, mutant: Mutant): Promise<string | undefined> {
  const { model, expected, options } = mutant;
  // Options are for preparing alone: the model of such a mutant is right.
  if (options === undefined) {
    const support = await device.getSupportedOperations(model);
    const problem = statusProblem("getSupportedOperations", support, expected);
    if (problem !== undefined) return problem;
    if (support.supported.length > 0) return `getSupportedOperations: answers about operations of a wrong model`;
  }
  const { preparedModel, ...outcome } = await device.prepareModel(model, wrongOptions(options));
  preparedModel?.close();
  const problem = statusProblem("prepareModel", outcome, expected);
  if (problem !== undefined) return problem;
  return preparedModel === null ? undefined : "prepareModel: a prepared model beside an error";
}

/** These options are for values that the types do not allow. */
function wrongOptions(options: Mutant["options"]): PrepareOptions | undefined {
  return options as PrepareOptions | undefined;
}

/** The same of the executions of a request; `unsupported` where the device has none that could show the problem. */
export async function findRequestProblem(
  preparedModel: PreparedModel,
  { request, expected, waitFor }: RequestMutant,
  measured: boolean,
): Promise<string | { readonly unsupported: string } | undefined> {
  const measure = measured ? MeasureTiming.YES : MeasureTiming.NO;
  if (waitFor === undefined) {
    const problem = executionProblem(await preparedModel.execute(request, { measure }), expected);
    if (problem !== undefined) return problem;
  } else if (preparedModel.executeFenced === undefined) {
    return { unsupported: "the device has no fenced executions" };
  }
  const fenced = await preparedModel.executeFenced?.(request, waitFor ?? [], { measure });
  return fenced === undefined ? undefined : fencedProblem(fenced, expected);
}

function executionProblem({ outputShapes, timing, ...outcome }: ExecutionResult, expected: Status): string | undefined {
  const problem = statusProblem("execute", outcome, expected);
  if (problem !== undefined) return problem;
  if (outputShapes.length > 0) return `execute: ${outputShapes.length} output shapes beside an error`;
  const isTimed = timing.timeOnDevice !== TIMING_NOT_MEASURED || timing.timeInDriver !== TIMING_NOT_MEASURED;
  return isTimed ? "execute: a duration beside an error" : undefined;
}

function fencedProblem({ syncFence, callback, ...outcome }: FencedResult, expected: Status): string | undefined {
  const problem = statusProblem("executeFenced", outcome, expected);
  if (problem !== undefined) return problem;
  if (syncFence !== null) return "executeFenced: a fence beside an error";
  return callback === null ? undefined : "executeFenced: a callback beside an error";
}

function statusProblem(call: string, outcome: Outcome, expected: Status): string | undefined {
  if (outcome.status === expected) return undefined;
  return `${call}: expected ${nameOf(expected)}, got ${describeOutcome(outcome)}`;
}

/** A status in words, with its message. */
export function describeOutcome({ status, message }: Outcome): string {
  return message === undefined ? nameOf(status) : `${nameOf(status)}: ${message}`;
}

function nameOf(status: Status): string {
  return errorStatusNames.get(status) ?? `status ${status}`;
}

/** Outcome of a device's preparation of a valid model. */
export type Acceptance =
  | { readonly preparedModel: PreparedModel }
  | { readonly unsupported: string }
  | { readonly problem: string };

/** Has a device prepare a model that is right. */
export async function acceptModel(device: Device, model: Mutant["model"]): Promise<Acceptance> {
  const support = await device.getSupportedOperations(model);
  if (support.status !== ErrorStatus.NONE) return { problem: `getSupportedOperations: ${describeOutcome(support)}` };
  const unsupported = reasonAgainst(model, support);
  if (unsupported !== undefined) return { unsupported };
  const { preparedModel, ...outcome } = await device.prepareModel(model);
  if (outcome.status !== ErrorStatus.NONE || preparedModel === null) {
    preparedModel?.close();
    return { problem: `prepareModel: ${describeOutcome(outcome)}` };
  }
  return { preparedModel };
}
