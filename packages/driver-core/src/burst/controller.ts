/**
 * Starting the client's side of a burst.
 */
import { type BurstResult, ErrorStatus, type FmqDescriptor, type IBurstCallback, type Outcome } from "@nnhal/types";
import { isErrorStatus } from "@nnhal/utils";
import type { BurstController, BurstOptions } from "./burst.ts";
import { createChannel, defaultCapacity, signalOf } from "./channel.ts";
import { directBurst } from "./direct-burst.ts";
import { limitsOf, milliseconds } from "./limits.ts";
import { createMemorySlots } from "./memory-slots.ts";
import { queuedBurst } from "./queued-burst.ts";
import { ringReader, ringWriter } from "./ring.ts";
import { sharedSignal } from "./signal.ts";

/** Starts the service's side: `IPreparedModel.configureExecutionBurst`, wherever it is. */
export type ConfigureExecutionBurst = (
  callback: IBurstCallback,
  requestChannel: FmqDescriptor<"FmqRequestDatum">,
  resultChannel: FmqDescriptor<"FmqResultDatum">,
) => BurstResult | Promise<BurstResult>;

/** The answer to `createBurst`. */
export interface CreateBurstResult extends Outcome {
  /** Not null if and only if status is NONE. */
  readonly burst: BurstController | null;
}

/**
 * Starts a burst. DEVICE_UNAVAILABLE: the service has not answered within `silenceLimit`. Rejects with a RangeError for
 * options that are not valid.
 */
export async function createBurst(
  configure: ConfigureExecutionBurst,
  options: BurstOptions = {},
): Promise<CreateBurstResult> {
  const { requestCapacity = defaultCapacity, resultCapacity = defaultCapacity, direct = true, allocate } = options;
  const limits = limitsOf(options);
  const memories = createMemorySlots();
  const refuse = (status: ErrorStatus, message: string) => {
    limits.watchdog.stop();
    return { status, message, burst: null };
  };
  const queues = makeQueues(requestCapacity, resultCapacity, allocate);
  if ("problem" in queues) return refuse(ErrorStatus.GENERAL_FAILURE, `starting a burst: ${queues.problem}`);
  const { requests, results } = queues;
  let isLate = false;
  const start = async () => {
    const answer = await configure(memories, requests.descriptor, results.descriptor);
    if (isLate) answer.context?.close?.();
    return answer;
  };
  try {
    const { status, message, context } = await limits.watchdog.within<BurstResult>(start(), limits.silence, () => {
      isLate = true;
      const message = `starting a burst: there was no answer within ${milliseconds(limits.silence)}`;
      return { status: ErrorStatus.DEVICE_UNAVAILABLE, message, context: null };
    });
    if (status !== ErrorStatus.NONE) {
      return refuse(
        isErrorStatus(status) ? status : ErrorStatus.GENERAL_FAILURE,
        message ?? "the device did not start a burst",
      );
    }
    // A foreign device can omit it.
    if (!context) return refuse(ErrorStatus.GENERAL_FAILURE, "the device answered NONE and no burst context");
    const signal = options.signal ?? signalOf(requests.descriptor) ?? sharedSignal({ keepAlive: true });
    const writer = ringWriter(requests.words, requestCapacity, signal);
    if (direct && context.execute !== undefined) {
      const execute = context.execute.bind(context);
      const isServiceGone = () => writer.isPeerClosed();
      return { status, burst: directBurst({ context, execute, memories, limits, isServiceGone }, options) };
    }
    const reader = ringReader(results.words, resultCapacity, signal);
    const burst = queuedBurst({ context, memories, writer, reader, requestCapacity, limits }, options);
    // The end of a service elsewhere is known before any limit has passed.
    void context.ended?.then(() => burst.abandon("the service is gone"));
    return { status, burst };
  } catch (error) {
    return refuse(ErrorStatus.GENERAL_FAILURE, `starting a burst: ${error}`);
  }
}

/** The queues, or why the memory for them cannot be had. Throws RangeError for a capacity that is not valid. */
function makeQueues(requestCapacity: number, resultCapacity: number, allocate: BurstOptions["allocate"]) {
  try {
    const requests = createChannel("FmqRequestDatum", requestCapacity, allocate);
    return { requests, results: createChannel("FmqResultDatum", resultCapacity, allocate) };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
