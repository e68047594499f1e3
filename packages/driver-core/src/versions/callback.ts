/**
 * Callbacks of clients, and tasks that end in one. Whatever a client's callback does stays with the client.
 */
import { ErrorStatus, type Outcome } from "@nnhal/types";
import { isErrorStatus } from "@nnhal/utils";
import { messageOf } from "../device/refusal.ts";

/** Where goes, one line each, what cannot be passed on to a caller. */
export type LogSink = (message: string) => void;

/** Calls a client's callback the first time only. What it throws, or rejects with, is logged. */
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
      // A client may pass an asynchronous function: nobody else would handle its rejection.
      Promise.resolve(callback(...args)).catch(complain);
    } catch (error) {
      complain(error);
    }
  };
}

/** A task that a HAL method launches. */
export interface Task<Answer extends Outcome> {
  /** What is wrong with the arguments; throwing says that they cannot even be read. */
  check(): Outcome | undefined;
  run(): Promise<Answer>;
  /** What a failure tells the callback. */
  failed(outcome: Outcome): Answer;
  /** Tells the client's callback. */
  notify(answer: Answer): unknown;
}

/**
 * Launches a task as every HAL method that takes a callback has to: the callback is called once, with the launch's own
 * status where the launch fails. Never throws.
 */
export function launch<Answer extends Outcome>(task: Task<Answer>, log: LogSink): Outcome {
  const notify = once((answer: Answer) => task.notify(answer), log);
  const refuse = (outcome: Outcome): Outcome => {
    notify(task.failed(outcome));
    return outcome;
  };
  const refusal = refusalOf(() => task.check());
  if (refusal !== undefined) return refuse(refusal);
  let running: Promise<Answer>;
  try {
    running = task.run();
  } catch (error) {
    return refuse(failure("the task could not be started", error));
  }
  Promise.resolve(running).then(notify, (error) => refuse(failure("the task failed", error)));
  return { status: ErrorStatus.NONE };
}

/** The refusal that a check finds; what it throws over is an argument that cannot be read. */
export function refusalOf(check: () => Outcome | undefined): Outcome | undefined {
  try {
    return check();
  } catch (error) {
    return { status: ErrorStatus.INVALID_ARGUMENT, message: `the arguments cannot be read: ${messageOf(error)}` };
  }
}

/** INVALID_ARGUMENT, and why. */
export function invalid(message: string): Outcome {
  return { status: ErrorStatus.INVALID_ARGUMENT, message };
}

/** GENERAL_FAILURE, and why. */
export function failure(what: string, error: unknown): Outcome {
  return { status: ErrorStatus.GENERAL_FAILURE, message: `${what}: ${messageOf(error)}` };
}

/**
 * Launches a task of a driver and waits for its end, which the driver tells a callback: maybe before the launch returns,
 * maybe never. A launch that fails has its own status, whatever the callback is told; calls after the first one are logged.
 * Never rejects; `inTime` sets a limit.
 */
export function launched<Answer>(
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
      outcome = failure("the driver failed", error);
    }
    isLaunched = true;
    if (outcome.status !== ErrorStatus.NONE) resolve(failed(outcome));
    else if (early !== undefined) resolve(early);
  });
}

/**
 * The answer of a method that answers at once. One that is a promise all the same is not the answer it should be, and its
 * rejection, which is not handled anywhere else, must not end the process.
 */
export function atOnce<Answer>(answer: Answer): Answer {
  if (answer instanceof Promise) answer.catch(() => {});
  return answer;
}

/** A status from elsewhere; what is not an ErrorStatus is a failure. */
export function soundStatus(status: unknown): ErrorStatus {
  return isErrorStatus(status) ? status : ErrorStatus.GENERAL_FAILURE;
}
