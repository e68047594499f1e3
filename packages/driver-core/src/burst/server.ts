/**
 * The service's side of a burst: reads request packets from one queue, executes them, and writes result packets to the
 * other. Whatever is read is answered: a packet that makes no sense with GENERAL_FAILURE.
 */
import {
  type BurstResult,
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  type FmqDescriptor,
  type IBurstCallback,
  type IBurstContext,
  MeasureTiming,
  type PreparedModel,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { steadyClock } from "../device/steady-clock.ts";
import { watchIdle } from "../schedule/idle.ts";
import { systemTimer, type Timer } from "../schedule/timer.ts";
import { openChannel } from "./channel.ts";
import { decoded } from "./malformed.ts";
import { createMutex } from "./mutex.ts";
import { type BurstRequest, deserializeRequest } from "./request-codec.ts";
import { decodeRequest } from "./request-slots.ts";
import { type BurstResultPacket, noTiming, serializeResult } from "./result-codec.ts";
import { burstStatus, encodeResult } from "./result-slots.ts";
import { type RingReader, type RingWriter, ringReader, ringWriter, wordsPerSlot } from "./ring.ts";
import { type Signal, sharedSignal } from "./signal.ts";
import { createSlotCache } from "./slot-cache.ts";
import { isTeardownPacket, teardownPacket } from "./teardown.ts";
import { createPoller, createTurns, sleepUntil } from "./waiting.ts";

/** How to serve a burst. */
export interface BurstServerOptions {
  /** How to sleep between requests. Default: `sharedSignal()`, for queues in a SharedArrayBuffer. */
  readonly signal?: Signal;
  /** Microseconds to look for the next request before sleeping; 0 saves power. Default 50. */
  readonly pollingWindow?: number;
  /** Nanoseconds of a clock that never goes back. Default: the process's steady clock. */
  readonly now?: () => bigint;
  /** Waits on that clock. Default: the system's. */
  readonly timer?: Timer;
  /** After how many milliseconds without a request known memories are let go and `onIdle` is called. Default 10,000. */
  readonly idleAfter?: number;
  /** Lets go of what an execution needs and the next one can make again. */
  readonly onIdle?: () => void;
  /** Hears what a result packet has no room for: why a request was refused or failed. */
  readonly log?: (message: string) => void;
}

/** The service's side of a burst. */
export interface BurstContext extends IBurstContext {
  /** Resolves once the slot is forgotten, after an execution under way. */
  freeMemory(slot: number): Promise<void>;
  /** Ends the burst after an execution under way. */
  close(): Promise<void>;
  /** Resolves when the burst has ended, whoever ended it. */
  readonly ended: Promise<void>;
}

/**
 * Serves a burst for a prepared model: `IPreparedModel.configureExecutionBurst`. The prepared model stays the caller's;
 * once it is closed, requests are answered as it answers them.
 */
export function configureExecutionBurst(
  preparedModel: Pick<PreparedModel, "execute">,
  callback: IBurstCallback | null,
  requestChannel: FmqDescriptor<"FmqRequestDatum">,
  resultChannel: FmqDescriptor<"FmqResultDatum">,
  options: BurstServerOptions = {},
): BurstResult & { readonly context: BurstContext | null } {
  const refuse = (message: string) => ({
    status: ErrorStatus.INVALID_ARGUMENT,
    message: `configuring a burst: ${message}`,
    context: null,
  });
  if (callback === null) return refuse("the callback is null");
  const requests = openChannel(requestChannel, "FmqRequestDatum");
  if ("noRing" in requests) return refuse(`the request channel cannot be used: ${requests.noRing}`);
  const results = openChannel(resultChannel, "FmqResultDatum");
  if ("noRing" in results) return refuse(`the result channel cannot be used: ${results.noRing}`);
  const signal = options.signal ?? sharedSignal();
  const reader = ringReader(requests, requestChannel.capacity, signal);
  const writer = ringWriter(results, resultChannel.capacity, signal);
  return { status: ErrorStatus.NONE, context: serve(preparedModel, callback, reader, writer, options) };
}

function serve(
  preparedModel: Pick<PreparedModel, "execute">,
  callback: IBurstCallback,
  reader: RingReader,
  writer: RingWriter,
  {
    pollingWindow = 50,
    now = steadyClock,
    timer = systemTimer,
    idleAfter = 10_000,
    onIdle,
    log = () => {},
  }: BurstServerOptions,
): BurstContext {
  const cache = createSlotCache(callback, log);
  const exclusive = createMutex();
  const poller = createPoller(pollingWindow);
  const turns = createTurns(1);
  const scratch = new Int32Array(64 * wordsPerSlot);
  let stopping = false;
  let isInUse = false;

  const nextPacket = (): Int32Array | "ended" | undefined => {
    if (stopping) return "ended";
    const packet = reader.read();
    if (!reader.isPeerClosed()) return packet;
    return packet === undefined || isTeardownPacket(packet) ? "ended" : packet;
  };

  const execute = async (
    { inputs, outputs, slots, measure }: BurstRequest,
    dequeued: bigint,
  ): Promise<BurstResultPacket> => {
    const memories = await cache.resolve(slots);
    if (memories === undefined) return failure(ErrorStatus.INVALID_ARGUMENT, `the slots [${slots}] are not all known`);
    const pools = memories.map((memory) => ({ kind: "memory", memory }) as const);
    const result = await preparedModel.execute({ inputs, outputs, pools }, { measure });
    if (result.status !== ErrorStatus.NONE)
      log(result.message ?? `an execution ended with ${errorStatusNames.get(result.status)}`);
    return packetOf(result, measure === MeasureTiming.YES ? (now() - dequeued) / 1000n : undefined);
  };

  const failure = (status: ErrorStatus, message: string): BurstResultPacket => {
    log(message);
    return { status, outputShapes: [], timing: noTiming };
  };

  const answer = async (packet: Int32Array): Promise<BurstResultPacket> => {
    const dequeued = now();
    const data =
      packet.length === 0 ? { malformed: "the queue's counters make no sense" } : decoded(decodeRequest, packet);
    const request = "malformed" in data ? data : deserializeRequest(data);
    if ("malformed" in request) return failure(ErrorStatus.GENERAL_FAILURE, `a request packet: ${request.malformed}`);
    try {
      return await exclusive(() => execute(request, dequeued));
    } catch (error) {
      return failure(ErrorStatus.GENERAL_FAILURE, `executing: ${error}`);
    }
  };

  const send = async (result: BurstResultPacket) => {
    if (writer.write(encode(result))) return;
    const tooLong = failure(ErrorStatus.GENERAL_FAILURE, "a result is longer than the room in its queue");
    const isSent = () => (stopping || writer.isPeerClosed() || writer.write(encode(tooLong)) ? true : undefined);
    await sleepUntil(writer, isSent, turns);
  };

  const encode = (result: BurstResultPacket) => {
    try {
      return encodeResult(serializeResult(result), scratch);
    } catch (error) {
      return encodeResult(serializeResult(failure(ErrorStatus.GENERAL_FAILURE, `a result cannot be sent: ${error}`)));
    }
  };

  const watchdog = watchIdle({
    after: BigInt(Math.round(idleAfter * 1e6)),
    timer,
    isInUse: () => isInUse,
    onIdle() {
      cache.clear();
      onIdle?.();
    },
  });

  const loop = async () => {
    for (;;) {
      const packet = poller.poll(nextPacket) ?? (await sleepUntil(reader, nextPacket, turns));
      if (packet === "ended") break;
      isInUse = true;
      watchdog.touch();
      await send(await answer(packet));
      isInUse = false;
      watchdog.touch();
      if (turns.areDue()) await turns.give();
    }
    watchdog.stop();
    cache.clear();
    reader.close();
    writer.write(teardownPacket);
    writer.close();
  };

  // A first turn of the microtask queue: the caller gets the context before anything is read.
  const ended = Promise.resolve().then(loop);
  return {
    ended,
    freeMemory: (slot) => exclusive(async () => cache.forget(slot)),
    close() {
      stopping = true;
      reader.wake();
      writer.wake();
      return ended;
    },
  };
}

/** What a result packet can say of an execution. Its duration runs from the request's leaving the queue. */
function packetOf(
  { status, outputShapes, timing }: ExecutionResult,
  microseconds: bigint | undefined,
): BurstResultPacket {
  const hasShapes = status === ErrorStatus.NONE || status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
  const isTimed = status === ErrorStatus.NONE && microseconds !== undefined;
  const timeInDriver = timing.timeInDriver === TIMING_NOT_MEASURED ? TIMING_NOT_MEASURED : (microseconds ?? 0n);
  return {
    status: burstStatus(status),
    outputShapes: hasShapes ? outputShapes : [],
    timing: isTimed ? { timeOnDevice: timing.timeOnDevice, timeInDriver } : noTiming,
  };
}
