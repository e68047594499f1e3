/**
 * Guards for prepared models of foreign drivers and devices: no method throws, no promise rejects or stays pending for
 * ever, and answers keep the rules of the HAL.
 */
import type { ExtensionDefinition } from "@nnhal/operations";
import {
  type AllocateResult,
  type BurstResult,
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionInfo,
  type ExecutionResult,
  type FencedResult,
  type IBuffer,
  type IBurstContext,
  type IFencedExecutionCallback,
  type Model,
  type Outcome,
  type PreparedModel,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { broken, type ExpectedOutput, hasFields, readOutcome, show } from "@nnhal/validation";
import { messageOf } from "../device/refusal.ts";
import { invalid, refusalOf } from "./callback.ts";
import { type AnswerLimits, inTime } from "./in-time.ts";
import {
  executionOf,
  expectedOutputs,
  fieldsOf,
  isBuffer,
  isBurstContext,
  isFence,
  isFencedCallback,
  isTiming,
} from "./sound-answers.ts";

/** The parameters of a guard. */
export interface SoundContext {
  /** Begins messages. */
  readonly name: string;
  /** The model it was prepared from; undefined if it came from a cache. */
  readonly model: Model | undefined;
  /** Extensions whose types are known. Default: none; of outputs of such types only the dimensions are checked. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  readonly limits: AnswerLimits;
  /** Whether known shapes may be omitted with NONE. Drivers may omit them (HAL 1.2 notify_1_2), devices must not. */
  readonly mayOmitShapes: boolean;
  /** The end of the wait, if there is a deadline. */
  readonly waitUntil: (deadline: bigint | undefined) => bigint | undefined;
}

/** An execution that failed. */
export function failedExecution(outcome: Outcome): ExecutionResult {
  return { ...outcome, outputShapes: [], timing: notMeasured };
}

export function failedFenced(outcome: Outcome): FencedResult {
  return { ...outcome, syncFence: null, callback: null };
}

export function failedBurst(outcome: Outcome): BurstResult {
  return { ...outcome, context: null };
}

export function failedAllocation(outcome: Outcome): AllocateResult {
  return { ...outcome, buffer: null, token: 0 };
}

/** See the file's head. Its missing optional methods are missing here too. */
export function soundPreparedModel(own: PreparedModel, context: SoundContext): PreparedModel {
  const { name, model, extensions, limits, waitUntil } = context;
  const { executeFenced, configureExecutionBurst } = own;
  return {
    async execute(request, options = {}) {
      let outputs: readonly ExpectedOutput[] = [];
      const refusal = refusalOf(() => {
        outputs = expectedOutputs(model, request, extensions);
        return refuseTimes(options, "deadline", "loopTimeoutDuration");
      });
      if (refusal !== undefined) return failedExecution(refusal);
      const call = async () => own.execute(request, options);
      return executed(call(), outputs, options, context);
    },
    ...(executeFenced &&
      ({
        async executeFenced(request, waitFor, options = {}) {
          const refusal = refusalOf(
            () => refuseFences(waitFor) ?? refuseTimes(options, "deadline", "loopTimeoutDuration", "duration"),
          );
          if (refusal !== undefined) return failedFenced(refusal);
          const what = `${name}: executeFenced`;
          const call = async () => fencedOf(await executeFenced.call(own, request, waitFor, options), name, limits);
          const deadline = waitUntil(options.deadline);
          return inTime({ what, answer: call(), deadline, failed: failedFenced }, limits);
        },
      } satisfies Partial<PreparedModel>)),
    ...(configureExecutionBurst &&
      ({
        configureExecutionBurst(...channels) {
          const what = `${name}: configureExecutionBurst`;
          const call = async () => burstOf(await configureExecutionBurst.call(own, ...channels), name, limits);
          const drop = ({ context }: BurstResult) => context?.close?.();
          return inTime({ what, answer: call(), failed: failedBurst, drop }, limits);
        },
      } satisfies Partial<PreparedModel>)),
    close: () => quietly(() => own.close(), `${name}: close`, limits),
  };
}

/** Waits for an execution and reads its result. `outputs`: what is known about them. */
export function executed(
  answer: Promise<unknown>,
  outputs: readonly ExpectedOutput[],
  { measure, deadline }: ExecuteOptions,
  { name, limits, waitUntil, mayOmitShapes }: Omit<SoundContext, "model" | "extensions">,
): Promise<ExecutionResult> {
  const what = `${name}: execute`;
  const read = async () => executionOf(await answer, outputs, { measure, mayOmitShapes });
  return inTime({ what, answer: read(), deadline: waitUntil(deadline), failed: failedExecution }, limits);
}

function refuseFences(waitFor: unknown): Outcome | undefined {
  return Array.isArray(waitFor) ? undefined : invalid(`waitFor is ${show(waitFor)} where an array is needed`);
}

/** Refuses times that are not bigints and options that are not an object. Throws for options that cannot be read. */
export function refuseTimes<Key extends string>(
  options: { readonly [Name in Key]?: unknown },
  ...names: readonly Key[]
): Outcome | undefined {
  if (!hasFields(options)) {
    return invalid(`the options are ${show(options)} where an object is needed`);
  }
  for (const name of names) {
    const time: unknown = options[name];
    if (time === undefined || typeof time === "bigint") continue;
    return invalid(`the ${name} is ${show(time)} where a bigint of nanoseconds is needed`);
  }
  return undefined;
}

/** Makes a call without an answer. Its errors and rejections are logged. */
export function quietly(call: () => unknown, what: string, { log }: AnswerLimits): void {
  const attempt = async () => {
    await call();
  };
  attempt().catch((error) => log(`${what}: ${messageOf(error)}`));
}

function fencedOf(given: unknown, name: string, limits: AnswerLimits): FencedResult {
  const outcome = readOutcome(given);
  const { syncFence = null, callback } = fieldsOf(given);
  if (outcome.status !== ErrorStatus.NONE) return failedFenced(outcome);
  if (syncFence !== null && !isFence(syncFence)) broken(`answered ${show(syncFence)} as a sync fence`);
  if (!isFencedCallback(callback)) broken("answered NONE without a callback");
  return { ...outcome, syncFence, callback: soundCallback(callback, name, limits) };
}

function soundCallback(own: IFencedExecutionCallback, name: string, limits: AnswerLimits): IFencedExecutionCallback {
  const untimed = { timingLaunched: notMeasured, timingFenced: notMeasured };
  const read = async (): Promise<ExecutionInfo> => {
    const answer: unknown = await own.getExecutionInfo();
    const outcome = readOutcome(answer);
    const { timingLaunched, timingFenced } = fieldsOf(answer);
    const isTimed = outcome.status === ErrorStatus.NONE && isTiming(timingLaunched) && isTiming(timingFenced);
    return { ...outcome, ...(isTimed ? { timingLaunched, timingFenced } : untimed) };
  };
  const failed = (outcome: Outcome): ExecutionInfo => ({ ...outcome, ...untimed });
  return { getExecutionInfo: () => inTime({ what: `${name}: getExecutionInfo`, answer: read(), failed }, limits) };
}

function burstOf(given: unknown, name: string, limits: AnswerLimits): BurstResult {
  const outcome = readOutcome(given);
  const { context } = fieldsOf(given);
  if (outcome.status !== ErrorStatus.NONE) return failedBurst(outcome);
  if (!isBurstContext(context)) broken("answered NONE without a burst context");
  return { ...outcome, context: soundBurstContext(context, name, limits) };
}

/** A remote service answers with promises, which the client of the burst awaits. */
function soundBurstContext(own: IBurstContext, name: string, limits: AnswerLimits): IBurstContext {
  const attempt = (method: string, call: () => unknown) => {
    const what = `${name}: IBurstContext.${method}`;
    const answer = (async () => {
      await call();
    })();
    const failed = ({ message }: Outcome) => limits.log(message ?? what);
    return inTime({ what, answer, failed }, limits);
  };
  return {
    freeMemory: (slot) => attempt("freeMemory", () => own.freeMemory(slot)),
    close: () => attempt("close", () => own.close?.()),
    ...(typeof own.execute === "function" && {
      execute: async (request, measure) => (await own.execute?.(request, measure)) ?? failedExecution(noAnswer),
    }),
  };
}

const noAnswer: Outcome = { status: ErrorStatus.GENERAL_FAILURE, message: "the burst answered nothing" };

/** The answer to allocate. Throws for one that breaks a rule. */
export function allocationOf(given: unknown, name: string, limits: AnswerLimits): AllocateResult {
  const outcome = readOutcome(given);
  const { buffer, token, inHostMemory } = fieldsOf(given);
  if (outcome.status !== ErrorStatus.NONE) return failedAllocation(outcome);
  if (!isBuffer(buffer)) broken("answered NONE without a buffer");
  if (typeof token !== "number" || !Number.isInteger(token) || token <= 0) {
    broken(`answered token ${show(token)} where an integer above 0 is needed`);
  }
  return {
    ...outcome,
    buffer: soundBuffer(buffer, name, limits),
    token,
    ...(typeof inHostMemory === "boolean" && { inHostMemory }),
  };
}

function soundBuffer(own: IBuffer, name: string, limits: AnswerLimits): IBuffer {
  const copy = (method: string, call: () => Promise<Outcome>) => {
    const answer = (async () => readOutcome(await call()))();
    return inTime({ what: `${name}: ${method}`, answer, failed: (outcome) => outcome }, limits);
  };
  return {
    copyTo: (dst) => copy("copyTo", () => own.copyTo(dst)),
    copyFrom: (src, dimensions) => copy("copyFrom", () => own.copyFrom(src, dimensions)),
    close: () => quietly(() => own.close?.(), `${name}: close`, limits),
  };
}
