/**
 * Watching calls: a call that throws, rejects, never answers or answers against the contract is a breach. The case in which
 * the call began fails with the first one, even if something between the case and the call swallows it.
 */
import { attempt, describeError, type Timer } from "../../attempt.ts";
import { Mismatch } from "../check.ts";

/** Returns the fault in an answer, in words that follow the name of the method; undefined if there is none. */
export type Judge<Answer> = (answer: Answer, milliseconds: number) => string | undefined;

/** See the file's head. */
export interface Watch {
  /** Milliseconds that a call may take: half, or a quarter, behind cases with a call that was not answered. */
  readonly callLimit: number;
  readonly timer: Timer;
  /** Starts a case: breaches of calls that began earlier do not count any more. */
  begin(): void;
  /** The first breach of the case. */
  breach(): string | undefined;
  /** Returns true if a call of the case was not answered. */
  isLate(): boolean;
  /** Resolves once every promise that a method without an answer returned has settled, or is a breach. */
  settle(): Promise<void>;
  /** A call that answers at once. Throws Mismatch at a breach. */
  now<Answer>(method: string, call: () => Answer, judge: Judge<Answer>): Answer;
  /** A call whose answer comes later. Rejects with Mismatch at a breach. */
  later<Answer>(method: string, call: () => Promise<Answer>, judge: Judge<Answer>): Promise<Answer>;
  /**
   * A call without an answer. If it returns a promise, that promise has to settle in time; so does the one returned here.
   * Throws Mismatch at a breach.
   */
  silent(method: string, call: () => unknown): unknown;
  /** Waits for an action of the device, such as a callback or a packet. Rejects with Mismatch if it takes too long. */
  within<Value>(what: string, wait: () => Promise<Value>): Promise<Value>;
}

/** A watch that begins with a case. */
export function createWatch(mostOfCall: number, timer: Timer): Watch {
  let callLimit = mostOfCall;
  let [lateCases, isLate] = [0, false];
  let breaches: string[] = [];
  let pending: Promise<unknown>[] = [];
  const fail = (into: string[], message: string): never => {
    into.push(message);
    throw new Mismatch(message);
  };
  /** Rejects with Mismatch unless the work ends in time, without throwing. */
  const wait = async <Value>(into: string[], what: string, work: () => Promise<Value>): Promise<Value> => {
    const outcome = await attempt<{ value: Value } | { mismatch: Mismatch }>(
      callLimit,
      async () => {
        try {
          return { value: await work() };
        } catch (error) {
          // A watched call below this one has reported the fault.
          if (error instanceof Mismatch) return { mismatch: error };
          throw error;
        }
      },
      timer,
    );
    if ("isLate" in outcome && into === breaches) isLate = true;
    if ("problem" in outcome) return fail(into, `${what}: ${outcome.problem}`);
    if ("mismatch" in outcome.value) throw outcome.value.mismatch;
    return outcome.value.value;
  };
  const judgeAnswer = <Answer>(
    into: string[],
    method: string,
    answer: Answer,
    judge: Judge<Answer>,
    milliseconds: number,
  ): Answer => {
    let problem: string | undefined;
    try {
      problem = judge(answer, milliseconds);
    } catch (error) {
      problem = `the answer cannot be read: ${describeError(error)}`;
    }
    return problem === undefined ? answer : fail(into, `${method}: ${problem}`);
  };
  return {
    get callLimit() {
      return callLimit;
    },
    timer,
    begin() {
      if (isLate) lateCases++;
      isLate = false;
      callLimit = mostOfCall / Math.min(2 ** lateCases, 4);
      breaches = [];
      pending = [];
    },
    breach: () => breaches[0],
    isLate: () => isLate,
    async settle() {
      await Promise.allSettled(pending);
    },
    now(method, call, judge) {
      const into = breaches;
      const answer = callNow(method, call, (message) => fail(into, message));
      if (isThenable(answer)) {
        ignore(answer);
        return fail(into, `${method}: answered a promise, but the answer has to come at once`);
      }
      return judgeAnswer(into, method, answer, judge, 0);
    },
    async later(method, call, judge) {
      const into = breaches;
      const start = performance.now();
      const answer = await wait(into, method, async () => call());
      return judgeAnswer(into, method, answer, judge, performance.now() - start);
    },
    silent(method, call) {
      const into = breaches;
      const answer = callNow(method, call, (message) => fail(into, message));
      if (!isThenable(answer)) return undefined;
      const settled = wait(into, method, async () => answer);
      ignore(settled);
      pending.push(settled);
      return settled;
    },
    within: (what, work) => wait(breaches, what, work),
  };
}

function callNow<Answer>(method: string, call: () => Answer, fail: (message: string) => never): Answer {
  try {
    return call();
  } catch (error) {
    if (error instanceof Mismatch) throw error;
    return fail(`${method}: threw ${describeError(error)}, but no method of the contract throws`);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** The rejection of the promise is known, or not needed. */
function ignore(promise: PromiseLike<unknown>): void {
  promise.then(undefined, () => {});
}
