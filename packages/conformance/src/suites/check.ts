/**
 * The checks of a case. Each throws if the device is wrong, or lacks something that the case needs.
 */
import {
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  type Outcome,
  TIMING_NOT_MEASURED,
  type Timing,
} from "@nnhal/types";
import { describeOutcome } from "../mutations/answers.ts";

/** The device breaks a rule of the HAL. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
}

/** Ends the case: the device is wrong. */
export function mismatch(message: string): never {
  throw new Mismatch(message);
}

/** Ends the case if a condition does not hold. */
export function expectThat(condition: boolean, message: () => string): asserts condition {
  if (!condition) mismatch(message());
}

/** Ends the case if a call has another status than those allowed. */
export function expectStatus(call: string, outcome: Outcome, ...allowed: readonly ErrorStatus[]): void {
  expectThat(allowed.includes(outcome.status), () => {
    const expected = allowed.map(statusName).join(" or ");
    return `${call}: expected ${expected}, got ${describeOutcome(outcome)}`;
  });
}

/** The same of an execution; a failed one must have no shapes and no durations. */
export function expectExecution(call: string, result: ExecutionResult, ...allowed: readonly ErrorStatus[]): void {
  expectStatus(call, result, ...allowed);
  const { status, outputShapes, timing } = result;
  if (status === ErrorStatus.NONE) return;
  expectUnmeasured(call, timing);
  const mayHaveShapes = status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
  expectThat(mayHaveShapes || outputShapes.length === 0, () => {
    return `${call}: ${outputShapes.length} output shapes beside ${statusName(status)}`;
  });
}

/** Ends the case if durations are reported that must not be. */
export function expectUnmeasured(call: string, timing: Timing): void {
  expectNone(call, unmeasuredProblem(timing));
}

/** Describes durations that must not be reported; undefined if there are none. */
export function unmeasuredProblem({ timeOnDevice, timeInDriver }: Timing): string | undefined {
  const isUnknown = timeOnDevice === TIMING_NOT_MEASURED && timeInDriver === TIMING_NOT_MEASURED;
  return isUnknown ? undefined : `expected no durations, got ${timeOnDevice} and ${timeInDriver}`;
}

/** Ends the case if the device took longer than the driver that waited for it. */
export function expectOrdered(call: string, timing: Timing): void {
  expectNone(call, orderProblem(timing));
}

/** Describes a time on the device that is longer than the time in the driver; undefined if it is not. */
export function orderProblem({ timeOnDevice, timeInDriver }: Timing): string | undefined {
  const isKnown = timeOnDevice !== TIMING_NOT_MEASURED && timeInDriver !== TIMING_NOT_MEASURED;
  if (!isKnown || timeOnDevice <= timeInDriver) return undefined;
  return `${timeOnDevice} microseconds on the device are more than the ${timeInDriver} in the driver`;
}

/** Messages of JavaScript about values that were used without a check. */
const rawErrors =
  /cannot (read|set|convert|destructure|mix|use)|is not (a function|iterable|a constructor|defined)|is not an object|reading '/i;

/** Ends the case if the message of an answer is an error of JavaScript and not the rule that the argument breaks. */
export function expectWords(call: string, { message }: Outcome): void {
  expectThat(message === undefined || !rawErrors.test(message), () => {
    return `${call}: the message is an error of JavaScript, not the rule that the argument breaks: ${message}`;
  });
}

/** Ends the case if there is a problem. */
function expectNone(call: string, problem: string | undefined): void {
  if (problem !== undefined) mismatch(`${call}: ${problem}`);
}

/** Ends the case if two lists differ. */
export function expectSame(what: string, actual: readonly unknown[], expected: readonly unknown[]): void {
  const isSame = actual.length === expected.length && actual.every((value, index) => Object.is(value, expected[index]));
  expectThat(isSame, () => `${what}: expected [${expected.join(", ")}], got [${actual.join(", ")}]`);
}

/** A status by its name. */
export function statusName(status: ErrorStatus): string {
  return errorStatusNames.get(status) ?? `status ${status}`;
}
