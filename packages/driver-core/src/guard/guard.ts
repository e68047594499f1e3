/** The guard of one foreign object's calls: with a limit on the wait for each answer, or without one. */
import { attemptAsync } from "./attempt.ts";
import type { Refusal } from "./refusal.ts";
import { type AnswerLimits, answerInTime, type LogSink } from "./wait.ts";

/** See the file's head. */
export interface Guard {
  /** Calls a method and reads its answer, at once. Never rejects: `failed` answers if either throws, or the answer does not come in time. */
  call<Answer>(
    method: string,
    call: () => Promise<Answer>,
    failed: (refusal: Refusal) => Answer,
    more?: CallOptions<Answer>,
  ): Promise<Answer>;
  /** Receives what cannot be answered, such as a failure to close. */
  readonly log: LogSink;
}

/** Options of a guarded call. A guard without limits ignores them. */
export interface CallOptions<Answer> {
  /** Time at which the wait ends. Default: none; the guard's limit applies. */
  readonly deadline?: bigint | undefined;
  /** Frees the resources of an answer that comes too late. Default: there are none. */
  readonly drop?: (answer: Answer) => void;
}

/** A guard that waits for each answer for as long as it takes. `name`: begins messages. */
export function untimedGuard(name: string): Guard {
  return {
    call: (method, call, failed) => attemptAsync(`${name}: ${method}`, call, failed),
    log: () => {},
  };
}

/** A guard that waits for each answer until its deadline, or for `limits.answerLimit`. `name`: begins messages. */
export function timedGuard(name: string, limits: AnswerLimits): Guard {
  return {
    call(method, call, failed, { deadline, drop } = {}) {
      // Whatever `call` throws at once is a rejection.
      const answer = (async () => call())();
      return answerInTime({ what: `${name}: ${method}`, answer, deadline, answerFailure: failed, drop }, limits);
    },
    log: limits.log,
  };
}
