/**
 * The service's side of a burst: reads request packets from one queue, executes them, and writes result packets to the
 * other. Every packet is answered; a malformed packet with GENERAL_FAILURE.
 */

import {
  type BurstResult,
  ErrorStatus,
  type ExecutionResult,
  type FmqDescriptor,
  type IBurstCallback,
  type IBurstContext,
  MeasureTiming,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import { createMutex, steadyClock, systemTimer, watchIdle } from "@nnhal/utils/time";
import { messageOf } from "../guard/refusal.ts";
import { type Signal, sharedSignal } from "../memory/signal.ts";
import { openChannel, signalOf } from "./channel.ts";
import { createExecutor } from "./executor.ts";
import { type LimitOptions, type Limits, limitsOf, milliseconds } from "./limits.ts";
import type { PacketEnds } from "./packet-ends.ts";
import { requestDecoder } from "./repeated-packets.ts";
import type { BurstResultPacket } from "./result-codec.ts";
import { createResultQueue } from "./result-queue.ts";
import { type RingReader, type RingWriter, ringReader, ringWriter } from "./ring.ts";
import { createSlotCache } from "./slot-cache.ts";
import { isTeardownPacket, sayGoodbye } from "./teardown.ts";
import { createPoller, createTurns, sleepUntil } from "./waiting.ts";

/**
 * Options for serving a burst. `silenceLimit` applies to a client that does not return its memories or does not read results;
 * `requestLimit` to an execution that does not end, which is answered with GENERAL_FAILURE.
 */
export interface BurstServerOptions extends LimitOptions {
  /** Signal that wakes the service between requests. Default: the signal of the queues' memory, or `sharedSignal()`. */
  readonly signal?: Signal | undefined;
  /** Microseconds to poll for the next request before sleeping; 0 saves power. Default 50. */
  readonly pollingWindow?: number | undefined;
  /** A monotonic clock in nanoseconds. Default: the process's steady clock. */
  readonly now?: (() => bigint) | undefined;
  /** Nanoseconds without a request after which known memories are released and `onIdle` is called. Default: 10 s. */
  readonly idleAfter?: bigint | undefined;
  /** Called to release resources that the next execution can recreate. */
  readonly onIdle?: (() => void) | undefined;
  /** Receives messages that a result packet cannot carry: why a request was refused or failed. */
  readonly log?: ((message: string) => void) | undefined;
}

/** The service's side of a burst. */
export interface BurstContext extends IBurstContext {
  /** Resolves when the slot is forgotten, after the current execution. */
  freeMemory(slot: number): Promise<void>;
  /** Ends the burst after the current execution, whose limits still apply. */
  close(): Promise<void>;
  /** Resolves when either side has ended the burst. */
  readonly ended: Promise<void>;
}

/**
 * Serves a burst for a prepared model: `IPreparedModel.configureExecutionBurst`. The caller keeps the prepared model;
 * after it is closed, its refusals are the answers.
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
  if (!callback) return refuse("the callback is null");
  const requests = openChannel(requestChannel, "FmqRequestDatum");
  if ("noRing" in requests) return refuse(`the request channel cannot be used: ${requests.noRing}`);
  const results = openChannel(resultChannel, "FmqResultDatum");
  if ("noRing" in results) return refuse(`the result channel cannot be used: ${results.noRing}`);
  const signal = options.signal ?? signalOf(requestChannel) ?? sharedSignal();
  const reader = ringReader(requests, requestChannel.capacity, signal);
  const writer = ringWriter(results, resultChannel.capacity, signal);
  return { status: ErrorStatus.NONE, context: serve(preparedModel, callback, reader, writer, options) };
}

/**
 * Serves a burst whose packets cross as messages: `ends` are the service's. The client is one of `createPacketBurst`. See
 * `configureExecutionBurst`.
 */
export function servePackets(
  preparedModel: Pick<PreparedModel, "execute">,
  callback: IBurstCallback,
  { reader, writer }: PacketEnds,
  options: Omit<BurstServerOptions, "signal" | "pollingWindow"> = {},
): BurstContext {
  return serve(preparedModel, callback, reader, writer, { ...options, pollingWindow: 0 });
}

/** Interval of the event loop's turns, in milliseconds, on both sides of a queue. */
const turnsOfQueues = 1;
const turnsOfCalls = 10;

function serve(
  preparedModel: Pick<PreparedModel, "execute">,
  callback: IBurstCallback,
  reader: RingReader,
  writer: RingWriter,
  {
    pollingWindow = 50,
    now = steadyClock,
    timer = systemTimer,
    idleAfter = 10_000_000_000n,
    onIdle,
    log = () => {},
    ...limitOptions
  }: BurstServerOptions,
): BurstContext {
  const limits = limitsOf({ ...limitOptions, timer });
  const { watchdog } = limits;
  const cache = createSlotCache(limitAnswers(callback, limits), log);
  const exclusive = createMutex();
  const poller = createPoller(pollingWindow, reader);
  const turns = createTurns(turnsOfQueues);
  const directTurns = createTurns(turnsOfCalls);
  const executor = createExecutor(preparedModel, cache, limits, now, log);
  const results = createResultQueue(writer, turns, limits, executor.refuse, log);
  const decode = requestDecoder();
  let stopping = false;
  let isInUse = false;

  const nextPacket = (): Int32Array | "ended" | undefined => {
    if (stopping) return "ended";
    const packet = reader.read();
    if (!reader.isPeerClosed()) return packet;
    return packet === undefined || isTeardownPacket(packet) ? "ended" : packet;
  };

  const executeDirectly = async (request: Request, measure: MeasureTiming): Promise<ExecutionResult> => {
    if (directTurns.areDue()) await directTurns.give();
    isInUse = true;
    idle.touch();
    try {
      return await executor.execute(request, measure, measure === MeasureTiming.YES ? now() : 0n);
    } catch (error) {
      return executor.refuse(`executing: ${messageOf(error)}`);
    } finally {
      isInUse = false;
      idle.touch();
    }
  };

  const answer = async (packet: Int32Array): Promise<BurstResultPacket> => {
    const dequeued = now();
    if (packet.length === 0) {
      // The client continues at its own counter, so no later packet would be read at its start.
      stopping = true;
      return executor.refuse("the request queue's counters are not valid");
    }
    const request = decode(packet);
    if ("malformed" in request) return executor.refuse(`a request packet: ${request.malformed}`);
    const stopBeating = watchdog.watch(() => writer.beat());
    try {
      return await exclusive(() => executor.executeSlots(request, dequeued));
    } catch (error) {
      return executor.refuse(`executing: ${messageOf(error)}`);
    } finally {
      stopBeating();
    }
  };

  const send = async (result: BurstResultPacket) => {
    if (!(await results.send(result, () => stopping))) stopping = true;
  };

  const idle = watchIdle({
    after: idleAfter,
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
      idle.touch();
      await send(await answer(packet));
      isInUse = false;
      idle.touch();
      if (turns.areDue()) await turns.give();
    }
    // A direct request is not in the queue.
    await exclusive(async () => {});
    idle.stop();
    watchdog.stop();
    cache.clear();
    sayGoodbye(reader, writer);
  };

  // Wait one microtask: the caller gets the context before the first packet is read.
  const ended = Promise.resolve().then(loop);
  return {
    ended,
    execute: (request, measure) => exclusive(() => executeDirectly(request, measure)),
    freeMemory: (slot) => exclusive(async () => cache.forget(slot)),
    close() {
      stopping = true;
      reader.wake();
      writer.wake();
      return ended;
    },
  };
}

/** The client's callback with a limit for its answers. */
function limitAnswers(callback: IBurstCallback, { watchdog, silence }: Limits): IBurstCallback {
  const late = () => {
    const message = `the client did not answer within ${milliseconds(silence)}`;
    return { status: ErrorStatus.GENERAL_FAILURE, message, buffers: [] };
  };
  const ask = async (slots: readonly number[]) => callback.getMemories(slots);
  return { getMemories: (slots) => watchdog.within(ask(slots), silence, late) };
}
