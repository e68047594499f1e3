/**
 * Answers of foreign devices and drivers: each field is read once and checked, and an object in an answer gets its own guard. A
 * reader throws `BrokenAnswer` for an answer that breaks a rule of the HAL; the message continues a sentence that begins with
 * the method.
 */
import {
  type AllocateResult,
  ErrorStatus,
  type ExecutionInfo,
  type FencedResult,
  type IBuffer,
  type IFencedExecutionCallback,
  TIMING_NOT_MEASURED,
  type Timing,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { hasFields, readOutcome, show, throwBroken, type UncheckedFields } from "@nnhal/validation";
import { closeSafely } from "./attempt.ts";
import { failedAllocation, failedFenced, failedInfo } from "./failed.ts";
import { guardFence, isFence } from "./fence.ts";
import type { Guard } from "./guard.ts";

/** The fields of an answer whose outcome has been read. */
export function fieldsOf(answer: unknown): UncheckedFields {
  return hasFields(answer) ? answer : {};
}

/** Returns true if a value is an object with some methods. */
export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  return hasFields(value) && methods.every((method) => typeof value[method] === "function");
}

function isBuffer(value: unknown): value is IBuffer {
  return hasMethods(value, "copyTo", "copyFrom");
}

function isFencedCallback(value: unknown): value is IFencedExecutionCallback {
  return hasMethods(value, "getExecutionInfo");
}

/** Durations; unknown ones for a value that is not a pair of durations. */
export function readTiming(timing: unknown): Timing {
  if (timing === notMeasured || !hasFields(timing)) return notMeasured;
  const { timeOnDevice, timeInDriver } = timing;
  if (timeOnDevice === TIMING_NOT_MEASURED && timeInDriver === TIMING_NOT_MEASURED) return notMeasured;
  return isTime(timeOnDevice) && isTime(timeInDriver) ? { timeOnDevice, timeInDriver } : notMeasured;
}

function isTime(time: unknown): time is bigint {
  return typeof time === "bigint" && time >= 0n;
}

/** The answer to `allocate`. */
export function readAllocation(answer: unknown, guard: Guard): AllocateResult {
  const outcome = readOutcome(answer);
  const { buffer, token, inHostMemory } = fieldsOf(answer);
  if (outcome.status !== ErrorStatus.NONE) return failedAllocation(outcome);
  if (!isBuffer(buffer)) return throwBroken("answered NONE without a buffer");
  if (typeof token !== "number" || !Number.isSafeInteger(token) || token <= 0) {
    closeSafely(buffer, guard.log);
    return throwBroken(`answered NONE: expected a token above 0, got ${show(token)}`);
  }
  return { ...outcome, buffer: guardBuffer(buffer, guard), token, ...(inHostMemory === true && { inHostMemory }) };
}

function guardBuffer(own: IBuffer, guard: Guard): IBuffer {
  return {
    copyTo: (memory) =>
      guard.call(
        "copyTo",
        async () => readOutcome(await own.copyTo(memory)),
        (refusal) => refusal,
      ),
    copyFrom: (memory, dimensions) =>
      guard.call(
        "copyFrom",
        async () => readOutcome(await own.copyFrom(memory, dimensions)),
        (refusal) => refusal,
      ),
    close: () => closeSafely(own, guard.log),
  };
}

/** The answer to `executeFenced`. */
export function readFencedResult(answer: unknown, guard: Guard): FencedResult {
  const outcome = readOutcome(answer);
  const { syncFence = null, callback } = fieldsOf(answer);
  if (outcome.status !== ErrorStatus.NONE) return failedFenced(outcome);
  if (syncFence !== null && !isFence(syncFence)) return throwBroken(`answered ${show(syncFence)} as a sync fence`);
  if (!isFencedCallback(callback)) return throwBroken("answered NONE without a callback");
  const fence = syncFence === null ? null : guardFence(syncFence);
  return { ...outcome, syncFence: fence, callback: guardFencedCallback(callback, guard) };
}

function guardFencedCallback(own: IFencedExecutionCallback, guard: Guard): IFencedExecutionCallback {
  return {
    getExecutionInfo: () =>
      guard.call("getExecutionInfo", async () => readExecutionInfo(await own.getExecutionInfo()), failedInfo),
  };
}

/** The answer to `getExecutionInfo`. Durations count only if the execution has succeeded. */
function readExecutionInfo(answer: unknown): ExecutionInfo {
  const outcome = readOutcome(answer);
  if (outcome.status !== ErrorStatus.NONE) return failedInfo(outcome);
  const { timingLaunched, timingFenced } = fieldsOf(answer);
  return { ...outcome, timingLaunched: readTiming(timingLaunched), timingFenced: readTiming(timingFenced) };
}
