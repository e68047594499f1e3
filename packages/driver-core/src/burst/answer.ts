/** Answers of a burst: refused requests, results that the HAL allows, and the reason for its end. */
import {
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  type IBurstContext,
  type Memory,
  type Request,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import type { BurstExecuteOptions, BurstExecutionResult } from "./burst.ts";
import { type Limits, milliseconds } from "./limits.ts";
import { requestPacketSize } from "./request-codec.ts";

/** Why a burst is over, and the status of a request that was under way. */
export interface End {
  readonly status: ErrorStatus;
  readonly message: string;
}

export const closedEnd: End = { status: ErrorStatus.GENERAL_FAILURE, message: "the burst is closed" };
export const serviceEnd: End = unavailable("the service has ended the burst");

/** The end of a burst whose service is gone or does not answer. */
export function unavailable(message: string): End {
  return { status: ErrorStatus.DEVICE_UNAVAILABLE, message };
}

/** An answer that is not NONE. */
export function failWith(status: ErrorStatus, message: string, fallback: boolean): BurstExecutionResult {
  return { status, message, outputShapes: [], timing: notMeasured, fallback };
}

/** The answer to a request that was not sent. */
export function notSent(misfit: string): BurstExecutionResult {
  return failWith(ErrorStatus.GENERAL_FAILURE, `the burst cannot take the request: ${misfit}`, true);
}

/**
 * Returns why a burst cannot carry a request. `capacity`: data that the request queue holds. Throws for a request that
 * cannot be read.
 */
export function misfitOf(
  request: Request,
  { deadline, loopTimeoutDuration, hints, signal }: BurstExecuteOptions,
  capacity: number,
  refuseMemory: (memory: Memory) => string | undefined,
): string | undefined {
  let unknown = signal && "a signal";
  if (hints) unknown = "hints";
  if (loopTimeoutDuration !== undefined) unknown = "a loop timeout";
  if (deadline !== undefined) unknown = "a deadline";
  if (unknown) return `it has ${unknown}, which HAL 1.2 does not know`;
  for (const [index, pool] of request.pools.entries()) {
    if (pool.kind !== "memory") return `pool ${index} is a ${pool.kind}, which HAL 1.2 does not know`;
    const refusal = refuseMemory(pool.memory);
    if (refusal !== undefined) return `pool ${index}: ${refusal}`;
  }
  if (capacity === Number.POSITIVE_INFINITY) return undefined;
  const size = requestPacketSize(request);
  return size > capacity ? `its packet has ${size} data where the queue holds ${capacity}` : undefined;
}

/** Checks a result: only NONE and OUTPUT_INSUFFICIENT_SIZE have shapes, one for every output. */
export function checkResult(result: ExecutionResult, { outputs }: Request): BurstExecutionResult {
  const { status, outputShapes, timing } = result;
  const fault = (problem: string) => failWith(ErrorStatus.GENERAL_FAILURE, `the driver answered ${problem}`, false);
  if (outputShapes.length !== 0 && outputShapes.length !== outputs.length) {
    return fault(`${outputShapes.length} output shapes for ${outputs.length} outputs`);
  }
  switch (status) {
    case ErrorStatus.NONE:
      return { status, outputShapes, timing, fallback: false };
    case ErrorStatus.OUTPUT_INSUFFICIENT_SIZE: {
      if (outputShapes.length !== outputs.length) return fault("OUTPUT_INSUFFICIENT_SIZE without output shapes");
      const { message = "an output is larger than its buffer" } = result;
      return { status, message, outputShapes, timing: notMeasured, fallback: false };
    }
    default: {
      const name = errorStatusNames.get(status);
      if (outputShapes.length !== 0) return fault(`${name} with output shapes`);
      const { message = `the driver answered ${name}; a burst carries no message that says why` } = result;
      return failWith(status, message, false);
    }
  }
}

/**
 * Makes the service forget a slot. Returns why the burst must end if that fails: the slot would mean another memory on
 * each side.
 */
export async function forget(
  context: IBurstContext,
  slot: number,
  { watchdog }: Limits,
  limit: bigint,
): Promise<End | undefined> {
  const ask = async (): Promise<End | undefined> => {
    // A service elsewhere answers once the slot is forgotten.
    const forgotten: unknown = context.freeMemory(slot);
    await forgotten;
    return undefined;
  };
  try {
    return await watchdog.within(ask(), limit, () =>
      unavailable(`the service did not answer freeMemory within ${milliseconds(limit)}`),
    );
  } catch (error) {
    return { status: ErrorStatus.GENERAL_FAILURE, message: `the service failed to free a memory: ${error}` };
  }
}

/** Closes the service's side and waits for its end, at most until the limit. Never rejects. */
export async function closeContext(context: IBurstContext, { watchdog }: Limits, limit: bigint): Promise<void> {
  const close = async () => {
    const closed: unknown = context.close?.();
    await closed;
  };
  // The burst is over for the client, even if the service fails to close.
  await watchdog.within(close(), limit, () => {}).catch(() => {});
  watchdog.stop();
}
