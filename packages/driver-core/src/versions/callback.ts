/** Callbacks of clients, and tasks that end in one. A faulty client callback has no effect on the driver. */
import { type Awaitable, ErrorStatus, type Outcome } from "@nnhal/types";
import { isErrorStatus } from "@nnhal/utils";
import { atOnce, refuseUnreadable } from "../guard/attempt.ts";
import { failure, messageOf } from "../guard/refusal.ts";
import type { LogSink } from "../guard/wait.ts";

/** Calls a client's callback only once. Its errors and rejections are logged. */
export function once<Arguments extends readonly unknown[]>(
  callback: (...args: Arguments) => unknown,
  log: LogSink,
): (...args: Arguments) => void {
  let isCalled = false;
  const complain = (error: unknown) => log(`a callback of a client failed: ${messageOf(error)}`);
  return (...args) => {
    if (isCalled) return;
    isCalled = true;
    try {
      // A client can pass an asynchronous function, whose rejection must be handled here.
      Promise.resolve(callback(...args)).catch(complain);
    } catch (error) {
      complain(error);
    }
  };
}

/** A task that a HAL method launches. */
export interface Task<Answer extends Outcome> {
  /** Returns the fault in the arguments; throws if they cannot be read. */
  check(): Outcome | undefined;
  run(): Promise<Answer>;
  /** The callback's answer for a failure. */
  answerFailure(outcome: Outcome): Answer;
  /** Calls the client's callback. */
  notify(answer: Answer): unknown;
}

/**
 * Launches a task by the rules of the HAL for methods with a callback: the callback is called once, with the status of
 * the launch if the launch fails. Never throws.
 */
export function launch<Answer extends Outcome>(task: Task<Answer>, log: LogSink): Outcome {
  const notify = once((answer: Answer) => task.notify(answer), log);
  const refuse = (outcome: Outcome): Outcome => {
    notify(task.answerFailure(outcome));
    return outcome;
  };
  const refusal = refuseUnreadable(() => task.check());
  if (refusal !== undefined) return refuse(refusal);
  let running: Promise<Answer>;
  try {
    running = task.run();
  } catch (error) {
    return refuse(failure(`the task could not be started: ${messageOf(error)}`));
  }
  Promise.resolve(running).then(notify, (error) => refuse(failure(`the task failed: ${messageOf(error)}`)));
  return { status: ErrorStatus.NONE };
}

/**
 * Launches a task of a driver and waits for its callback, which the driver can call before the launch returns, or
 * never. The status of a failed launch takes precedence over the callback's; calls after the first one are logged.
 * Never rejects; a guard sets a limit.
 */
export function launchTask<Answer>(
  launch: (settle: (answer: Answer) => void) => Outcome,
  failed: (outcome: Outcome) => Answer,
  log: LogSink = () => {},
): Promise<Answer> {
  return new Promise((resolve) => {
    let early: Answer | undefined;
    let isLaunched = false;
    let isTold = false;
    let outcome: Outcome;
    try {
      const started = launch((answer) => {
        if (isTold) return log("a driver called back again; the first call counts");
        isTold = true;
        if (isLaunched) resolve(answer);
        else early = answer;
      });
      const { status, message } = atOnce(started);
      outcome = { status: soundStatus(status), ...(typeof message === "string" && { message }) };
    } catch (error) {
      outcome = failure(`the driver failed: ${messageOf(error)}`);
    }
    isLaunched = true;
    if (outcome.status !== ErrorStatus.NONE) resolve(failed(outcome));
    else if (early !== undefined) resolve(early);
  });
}

/** Reads an answer: at once if it is there, else when it comes. A rejection is left to the caller. */
export function whenAnswered<Answer, Value>(
  answer: Awaitable<Answer>,
  read: (answer: Answer) => Value,
): Awaitable<Value> {
  return answer instanceof Promise ? answer.then(read) : read(answer);
}

/** Normalises a driver's status: a value that is not an ErrorStatus becomes GENERAL_FAILURE. */
export function soundStatus(status: unknown): ErrorStatus {
  return isErrorStatus(status) ? status : ErrorStatus.GENERAL_FAILURE;
}
