/** Answers to calls that have failed: the outcome, without the fields of a success. */
import type {
  AllocateResult,
  BurstResult,
  ExecutionInfo,
  ExecutionResult,
  FencedResult,
  Outcome,
  PrepareResult,
  SupportedOperations,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";

export function failedPreparation(outcome: Outcome): PrepareResult & { readonly preparedModel: null } {
  return { ...plain(outcome), preparedModel: null };
}

export function failedExecution(outcome: Outcome): ExecutionResult {
  return { ...plain(outcome), outputShapes: [], timing: notMeasured };
}

export function failedFenced(outcome: Outcome): FencedResult {
  return { ...plain(outcome), syncFence: null, callback: null };
}

export function failedInfo(outcome: Outcome): ExecutionInfo {
  return { ...plain(outcome), timingLaunched: notMeasured, timingFenced: notMeasured };
}

export function failedBurst(outcome: Outcome): BurstResult {
  return { ...plain(outcome), context: null };
}

export function failedAllocation(outcome: Outcome): AllocateResult {
  return { ...plain(outcome), buffer: null, token: 0 };
}

export function failedSupport(outcome: Outcome): SupportedOperations {
  return { ...plain(outcome), supported: [], reasons: [] };
}

/** An outcome without the other fields of the answer that it comes from. */
function plain({ status, message }: Outcome): Outcome {
  return message === undefined ? { status } : { status, message };
}
