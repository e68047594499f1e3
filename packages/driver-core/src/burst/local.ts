/** A burst with both sides in one thread, and the fallback for requests that a burst cannot carry. */
import type { PreparedModel } from "@nnhal/types";
import { localSignal } from "../memory/signal.ts";
import type { BurstController, BurstOptions } from "./burst.ts";
import { type CreateBurstResult, createBurst } from "./controller.ts";
import { type BurstServerOptions, configureExecutionBurst } from "./server.ts";

/** Options for starting a burst in one thread. `requestCapacity` and `resultCapacity` count only if `direct` is false. */
export type LocalBurstOptions = Pick<BurstOptions, "direct" | "requestCapacity" | "resultCapacity"> &
  Omit<BurstServerOptions, "signal" | "pollingWindow">;

/**
 * Starts a burst whose service runs in this thread, which executes requests directly unless `direct` is false. Neither side
 * of the queues polls: it would keep the other from running.
 */
export function createLocalBurst(
  preparedModel: Pick<PreparedModel, "execute">,
  options: LocalBurstOptions = {},
): Promise<CreateBurstResult> {
  const waiting = { signal: localSignal(), pollingWindow: 0 };
  return createBurst(
    (callback, requestChannel, resultChannel) =>
      configureExecutionBurst(preparedModel, callback, requestChannel, resultChannel, { ...options, ...waiting }),
    { ...options, ...waiting },
  );
}

/** Executes requests in a burst. Requests that it cannot carry are executed by the prepared model's `execute`. */
export function withFallback(
  burst: BurstController,
  preparedModel: Pick<PreparedModel, "execute">,
): PreparedModel["execute"] {
  return async (request, options) => {
    const { fallback, ...result } = await burst.compute(request, options);
    return fallback ? preparedModel.execute(request, options) : result;
  };
}
