/** The answer of a foreign service that opens a burst. Apart from the other answers: few applications use bursts. */
import { type BurstResult, ErrorStatus, type IBurstContext, type Memory } from "@nnhal/types";
import { readOutcome, throwBroken } from "@nnhal/validation";
import { fieldsOf, hasMethods } from "../guard/answers.ts";
import { closeSafely } from "../guard/attempt.ts";
import { failedBurst } from "../guard/failed.ts";
import type { Guard } from "../guard/guard.ts";
import { messageOf, type Refusal } from "../guard/refusal.ts";

function isBurstContext(value: unknown): value is IBurstContext {
  return hasMethods(value, "freeMemory");
}

/**
 * Reads the answer to `configureExecutionBurst`. Throws `BrokenAnswer` for one that breaks a rule of the HAL. `onFault`: the service has failed to forget a memory. It would use that memory for the
 * next one of the slot, so the burst has been closed.
 */
export function readBurstResult(answer: unknown, guard: Guard, onFault: (refusal: Refusal) => void): BurstResult {
  const outcome = readOutcome(answer);
  const { context, refuseMemory } = fieldsOf(answer);
  if (outcome.status !== ErrorStatus.NONE) return failedBurst(outcome);
  if (!isBurstContext(context)) return throwBroken("answered NONE without a burst context");
  return {
    ...outcome,
    context: guardBurstContext(context, guard, onFault),
    ...(isFunction(refuseMemory) && { refuseMemory: (memory) => refusalOf(refuseMemory, memory) }),
  };
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === "function";
}

/** Returns the reason why a device refuses a memory for bursts. An error that it throws is a reason. */
function refusalOf(refuse: (memory: Memory) => unknown, memory: Memory): string | undefined {
  try {
    const why: unknown = refuse(memory);
    return why === undefined ? undefined : String(why);
  } catch (error) {
    return messageOf(error);
  }
}

/** The service's side of a burst. A remote service returns promises, which are awaited. */
function guardBurstContext(own: IBurstContext, guard: Guard, onFault: (refusal: Refusal) => void): IBurstContext {
  return {
    freeMemory: (slot) =>
      guard.call(
        "freeMemory",
        async () => {
          const forgotten: unknown = own.freeMemory(slot);
          await forgotten;
        },
        (refusal) => {
          closeSafely(own, guard.log);
          onFault(refusal);
        },
      ),
    close: () =>
      guard.call(
        "close",
        async () => {
          const closed: unknown = own.close?.();
          await closed;
        },
        ({ message }) => guard.log(message),
      ),
    ...(own.ended instanceof Promise && { ended: own.ended.catch(() => {}) }),
    // The client of the burst checks its errors and answers.
    ...(typeof own.execute === "function" && { execute: own.execute.bind(own) }),
  };
}
