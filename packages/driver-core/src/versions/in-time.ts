/** Answers of drivers and devices can come late, never, or as an exception: each wait has a limit. */
import { ErrorStatus, type Outcome } from "@nnhal/types";
import { steadyClock } from "../device/steady-clock.ts";
import { callAt, systemTimer, type Timer } from "../schedule/timer.ts";
import { failure, type LogSink } from "./callback.ts";

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
export interface AnswerLimits {
  readonly now: () => bigint;
  readonly timer: Timer;
  readonly answerLimit: bigint;
  /** Receives a line for each answer that comes too late. */
  readonly log: LogSink;
}

/** The limits that options set. */
export function answerLimitsOf(options: AnswerOptions, log: LogSink): AnswerLimits {
  const { now = steadyClock, timer = systemTimer, answerLimit = 600_000_000_000n } = options;
  return { now, timer, answerLimit, log };
}

/** A wait for an answer. */
export interface Awaited<Answer> {
  /** Names the call in messages. */
  readonly what: string;
  /** The answer; a rejection is a failure. */
  readonly answer: Promise<Answer>;
  /** When the answer becomes MISSED_DEADLINE_TRANSIENT. Default: none; `answerLimit` applies then. */
  readonly deadline?: bigint | undefined;
  readonly failed: (outcome: Outcome) => Answer;
  /** Frees the resources of a late answer. Default: there are none. */
  readonly drop?: (answer: Answer) => void;
}

/** Extra nanoseconds for a driver that enforces deadlines itself to report a missed one. */
const grace = 100_000_000n;

/** The deadline at which the wait for a driver that enforces deadlines itself ends. */
export function withGrace(deadline: bigint | undefined, { now }: AnswerLimits): bigint | undefined {
  if (deadline === undefined) return undefined;
  const time = now();
  return (deadline > time ? deadline : time) + grace;
}

/** Resolves with the answer, or a failure if there is none in time. Never rejects. */
export function inTime<Answer>(
  { what, answer, deadline, failed, drop }: Awaited<Answer>,
  { now, timer, answerLimit, log }: AnswerLimits,
): Promise<Answer> {
  return new Promise((resolve) => {
    let isOver = false;
    const late = () => {
      isOver = true;
      const outcome =
        deadline === undefined
          ? failure(what, `there was no answer within ${answerLimit / 1_000_000n} ms`)
          : { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message: `${what}: there was no answer by the deadline` };
      resolve(failed(outcome));
    };
    const time = now();
    const end = deadline ?? time + answerLimit;
    // An immediate answer counts, even after its deadline.
    const cancel = end > time ? callAt(end, now, timer, late) : timer(0n, late);
    const settle = (value: Answer) => {
      cancel();
      if (!isOver) return resolve(value);
      log(`${what}: an answer that came too late is ignored`);
      drop?.(value);
    };
    answer.then(settle, (error) => settle(failed(failure(what, error))));
  });
}
