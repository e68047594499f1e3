/** Waits for answers of foreign code, which can come late or never: each wait has a limit. */
import { ErrorStatus } from "@nnhal/types";
import { type Clock, endBy, steadyClock, systemTimer, type Timer } from "@nnhal/utils/time";
import { failureOf } from "./attempt.ts";
import type { Refusal } from "./refusal.ts";

/** Receives diagnostics that a HAL signature cannot carry, one line per call. */
export type LogSink = (message: string) => void;

/** Limits of waits for answers. */
export interface AnswerOptions {
  /** The clock of deadlines, in nanoseconds. Default: the process's steady clock. */
  readonly now?: (() => bigint) | undefined;
  /** Waits on that clock. Default: the system's. */
  readonly timer?: Timer | undefined;
  /**
   * Nanoseconds after which a preparation or an execution without a deadline, and any other call that has not been answered,
   * is GENERAL_FAILURE. Default: 10 minutes.
   */
  readonly answerLimit?: bigint | undefined;
}

/** See `AnswerOptions`. */
export interface AnswerLimits extends Clock {
  readonly answerLimit: bigint;
  /** Receives a line for each answer that comes too late. */
  readonly log: LogSink;
}

/** The limits that options set. */
export function answerLimitsOf(options: AnswerOptions, log: LogSink): AnswerLimits {
  const { now = steadyClock, timer = systemTimer, answerLimit = 600_000_000_000n } = options;
  return { now, timer, answerLimit, log };
}

/** Nanoseconds after its deadline in which a device that keeps deadlines itself may still report a missed one. */
export const deadlineGrace = 100_000_000n;

/** The time at which the wait for a device that keeps deadlines itself ends. */
export function withGrace(deadline: bigint | undefined, { now }: Pick<Clock, "now">): bigint | undefined {
  if (deadline === undefined) return undefined;
  const time = now();
  return (deadline > time ? deadline : time) + deadlineGrace;
}

/** A wait for an answer. */
export interface Awaited<Answer> {
  /** Names the call in messages. */
  readonly what: string;
  /** The answer; a rejection is a failure. */
  readonly answer: Promise<Answer>;
  /** When the answer becomes MISSED_DEADLINE_TRANSIENT. Default: none; `answerLimit` applies then. */
  readonly deadline?: bigint | undefined;
  readonly answerFailure: (refusal: Refusal) => Answer;
  /** Frees the resources of a late answer. Default: there are none. */
  readonly drop?: ((answer: Answer) => void) | undefined;
}

/** Resolves with the answer, or a failure if there is none in time. Never rejects. */
export function answerInTime<Answer>(
  { what, answer, deadline, answerFailure: failed, drop }: Awaited<Answer>,
  { answerLimit, log, ...clock }: AnswerLimits,
): Promise<Answer> {
  const late = (): Answer =>
    failed(
      deadline === undefined
        ? {
            status: ErrorStatus.GENERAL_FAILURE,
            message: `${what}: there was no answer within ${answerLimit / 1_000_000n} ms`,
          }
        : { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message: `${what}: there was no answer by the deadline` },
    );
  const read = answer.catch((error) => failed(failureOf(what, error)));
  return endBy(read, deadline ?? clock.now() + answerLimit, clock, late, (value) => {
    log(`${what}: an answer that came too late is ignored`);
    drop?.(value);
  });
}
