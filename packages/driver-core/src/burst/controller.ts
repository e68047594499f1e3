/**
 * Starting the client's side of a burst.
 */
import { type BurstResult, ErrorStatus, type FmqDescriptor, type IBurstCallback, type Outcome } from "@nnhal/types";
import { isErrorStatus } from "@nnhal/utils";
import { sharedSignal } from "../memory/signal.ts";
import type { BurstController, BurstOptions } from "./burst.ts";
import { createChannel, defaultCapacity, signalOf } from "./channel.ts";
import { directBurst } from "./direct-burst.ts";
import { limitsOf, milliseconds } from "./limits.ts";
import { createMemorySlots } from "./memory-slots.ts";
import type { PacketEnds } from "./packet-ends.ts";
import { queuedBurst } from "./queued-burst.ts";
import { type RingReader, type RingWriter, ringReader, ringWriter } from "./ring.ts";

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

/** The client's ends of a burst's queues. */
interface Ends {
  readonly writer: RingWriter;
  readonly reader: RingReader;
  /** Data that the request queue holds. */
  readonly requestCapacity: number;
}

/**
 * Starts a burst. DEVICE_UNAVAILABLE: the service has not answered within `silenceLimit`. Rejects with a RangeError for
 * options that are not valid.
 */
export async function createBurst(
  configure: ConfigureExecutionBurst,
  options: BurstOptions = {},
): Promise<CreateBurstResult> {
  const { requestCapacity = defaultCapacity, resultCapacity = defaultCapacity } = options;
  const queues = makeQueues(requestCapacity, resultCapacity, options.allocate);
  if ("problem" in queues) {
    return { status: ErrorStatus.GENERAL_FAILURE, message: `starting a burst: ${queues.problem}`, burst: null };
  }
  const { requests, results } = queues;
  const signal = options.signal ?? signalOf(requests.descriptor) ?? sharedSignal({ keepAlive: true });
  const writer = ringWriter(requests.words, requestCapacity, signal);
  const reader = ringReader(results.words, resultCapacity, signal);
  return startBurst(
    (callback) => configure(callback, requests.descriptor, results.descriptor),
    { writer, reader, requestCapacity },
    options,
  );
}

/**
 * Starts a burst whose packets cross as messages: `ends` are this side's. `configure` makes the service serve its own ends
 * (`servePackets`). See `createBurst`.
 */
export function createPacketBurst(
  configure: (callback: IBurstCallback) => BurstResult | Promise<BurstResult>,
  { writer, reader, capacity }: PacketEnds,
  options: PacketBurstOptions = {},
): Promise<CreateBurstResult> {
  // Polling would keep the connection from being read.
  return startBurst(configure, { writer, reader, requestCapacity: capacity }, { ...options, pollingWindow: 0 });
}

/** Options for starting a burst whose packets cross as messages. */
export type PacketBurstOptions = Pick<
  BurstOptions,
  "direct" | "refuseMemory" | "silenceLimit" | "requestLimit" | "timer"
>;

async function startBurst(
  configure: (callback: IBurstCallback) => BurstResult | Promise<BurstResult>,
  { writer, reader, requestCapacity }: Ends,
  options: BurstOptions,
): Promise<CreateBurstResult> {
  const { direct = true } = options;
  const limits = limitsOf(options);
  const memories = createMemorySlots();
  const refuse = (status: ErrorStatus, message: string) => {
    limits.watchdog.stop();
    return { status, message, burst: null };
  };
  let isLate = false;
  const start = async () => {
    const answer = await configure(memories);
    if (isLate) answer.context?.close?.();
    return answer;
  };
  try {
    const {
      status,
      message,
      context,
      refuseMemory: refusal,
    } = await limits.watchdog.within<BurstResult>(start(), limits.silence, () => {
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
    if (direct && context.execute !== undefined) {
      const execute = context.execute.bind(context);
      const isServiceGone = () => writer.isPeerClosed();
      return { status, burst: directBurst({ context, execute, memories, limits, isServiceGone }, options) };
    }
    const refuseMemory = options.refuseMemory ?? refusal;
    const parts = { context, memories, writer, reader, requestCapacity, limits };
    const burst = queuedBurst(parts, { ...options, refuseMemory });
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
