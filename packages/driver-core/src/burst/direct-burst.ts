/**
 * A burst whose service is in this thread: requests are passed without a copy. Answers are those of the queues, with
 * messages, which queues cannot carry.
 */
import { ErrorStatus, type IBurstContext, MeasureTiming, type Request } from "@nnhal/types";
import {
  checkResult,
  closeContext,
  closedEnd,
  type End,
  failWith,
  forget,
  misfitOf,
  notSent,
  serviceEnd,
  unavailable,
} from "./answer.ts";
import type { BurstController, BurstExecuteOptions, BurstOptions } from "./burst.ts";
import type { Limits } from "./limits.ts";
import type { MemorySlots } from "./memory-slots.ts";

/** The parts of a direct burst. */
export interface DirectParts {
  readonly context: IBurstContext;
  readonly execute: NonNullable<IBurstContext["execute"]>;
  readonly memories: MemorySlots;
  readonly limits: Limits;
  /** Returns true if the service has ended the burst. */
  readonly isServiceGone: () => boolean;
}

/** See the file's head. */
export function directBurst(
  { context, execute, memories, limits, isServiceGone }: DirectParts,
  { refuseMemory = () => undefined }: Pick<BurstOptions, "refuseMemory">,
): BurstController {
  let over: End | undefined;
  let closed: Promise<void> | undefined;
  let underWay = 0;
  const checkOver = () => {
    if (over === undefined && isServiceGone()) over = serviceEnd;
    return over;
  };
  /** The request with the memories of its keys. */
  const withKnownMemories = (request: Request, keys: BurstExecuteOptions["keys"]): Request => {
    if (keys === undefined) {
      for (const pool of request.pools) if (pool.kind === "memory") memories.slotOf(pool.memory, pool.memory);
      return request;
    }
    const pools = request.pools.map((pool, index) => {
      if (pool.kind !== "memory") return pool;
      const memory = memories.memoryAt(memories.slotOf(pool.memory, keys[index])) ?? pool.memory;
      return { kind: "memory", memory } as const;
    });
    return { ...request, pools };
  };
  return {
    async compute(request, options = {}) {
      let known: Request;
      try {
        const misfit = checkOver()?.message ?? misfitOf(request, options, Number.POSITIVE_INFINITY, refuseMemory);
        if (misfit !== undefined) return notSent(misfit);
        known = withKnownMemories(request, options.keys);
      } catch (error) {
        return failWith(ErrorStatus.INVALID_ARGUMENT, `the request cannot be read: ${error}`, false);
      }
      underWay++;
      try {
        return checkResult(await execute(known, options.measure ?? MeasureTiming.NO), request);
      } catch (error) {
        return failWith(ErrorStatus.GENERAL_FAILURE, `executing: ${error}`, false);
      } finally {
        underWay--;
      }
    },
    async freeMemory(key) {
      const slot = memories.free(key);
      // The service knows no slots: only requests under way may use the memory, and the service waits for them.
      if (slot === undefined || underWay === 0 || checkOver() !== undefined) return;
      const why = await forget(context, slot, limits, limits.request);
      over ??= why;
    },
    close() {
      over ??= closedEnd;
      // The service waits for the request under way.
      closed ??= closeContext(context, limits, limits.request);
      return closed;
    },
    abandon(reason) {
      over ??= unavailable(reason);
    },
  };
}
