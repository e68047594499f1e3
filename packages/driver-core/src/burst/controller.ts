/**
 * The client's side of a burst: writes request packets to one queue and reads result packets from the other, one request
 * at a time.
 */
import {
  type BurstResult,
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  errorStatusNames,
  type FmqDescriptor,
  type IBurstCallback,
  type IBurstContext,
  MeasureTiming,
  type Memory,
  type Outcome,
  type Request,
} from "@nnhal/types";
import { createChannel, defaultCapacity } from "./channel.ts";
import { decoded, type Malformed } from "./malformed.ts";
import { createMemorySlots, type MemoryKey } from "./memory-slots.ts";
import { createMutex } from "./mutex.ts";
import { requestPacketSize, serializeRequest } from "./request-codec.ts";
import { encodeRequest } from "./request-slots.ts";
import { type BurstResultPacket, deserializeResult, noTiming } from "./result-codec.ts";
import { decodeResult } from "./result-slots.ts";
import { ringReader, ringWriter, wordsPerSlot } from "./ring.ts";
import { type Signal, sharedSignal } from "./signal.ts";
import { isTeardownPacket, teardownPacket } from "./teardown.ts";
import { createPoller, createTurns, sleepUntil } from "./waiting.ts";

/** How to start a burst. */
export interface BurstOptions {
  /** How to sleep until a result comes. Default: `sharedSignal({ keepAlive: true })`. */
  readonly signal?: Signal;
  /** Microseconds to look for a result before sleeping; 0 saves power. Default 50. */
  readonly pollingWindow?: number;
  /** Data that the request queue holds: a power of two. Default 1024. */
  readonly requestCapacity?: number;
  /** Data that the result queue holds: a power of two. Default 1024. */
  readonly resultCapacity?: number;
  /** Why a memory cannot be handed to the service; requests that use it fall back. Default: all can. */
  readonly refuseMemory?: (memory: Memory) => string | undefined;
}

/** How to execute a request in a burst. */
export interface BurstExecuteOptions extends ExecuteOptions {
  /** What stands for each pool, as `freeMemory` is called with. Default: the Memory objects themselves. */
  readonly keys?: readonly MemoryKey[];
}

/** The answer to a request in a burst. */
export interface BurstExecutionResult extends ExecutionResult {
  /** The request was not sent, because a burst cannot carry it or is over: execute it the ordinary way. */
  readonly fallback: boolean;
}

/** The client's side of a burst. */
export interface Burst {
  /**
   * Executes a request. Requests are executed one after the other. Those with token pools, a deadline or a loop timeout
   * need more than HAL 1.2 and fall back; so do requests whose packet does not fit the queue.
   */
  compute(request: Request, options?: BurstExecuteOptions): Promise<BurstExecutionResult>;
  /** Lets go of a memory on both sides; it may be used again afterwards. One that is not known is no error. */
  freeMemory(key: MemoryKey): Promise<void>;
  /** Ends the burst after the request under way. */
  close(): Promise<void>;
  /** Ends the burst at once, because the service is gone: the request under way fails. */
  abandon(reason: string): void;
}

/** Starts the service's side: `IPreparedModel.configureExecutionBurst`, wherever it is. */
export type ConfigureExecutionBurst = (
  callback: IBurstCallback,
  requestChannel: FmqDescriptor<"FmqRequestDatum">,
  resultChannel: FmqDescriptor<"FmqResultDatum">,
) => BurstResult | Promise<BurstResult>;

/** The answer to `createBurst`. */
export interface CreateBurstResult extends Outcome {
  /** Not null exactly where status is NONE. */
  readonly burst: Burst | null;
}

/** Starts a burst. */
export async function createBurst(
  configure: ConfigureExecutionBurst,
  options: BurstOptions = {},
): Promise<CreateBurstResult> {
  const { requestCapacity = defaultCapacity, resultCapacity = defaultCapacity } = options;
  const requests = createChannel("FmqRequestDatum", requestCapacity);
  const results = createChannel("FmqResultDatum", resultCapacity);
  const memories = createMemorySlots();
  const refuse = (status: ErrorStatus, message: string) => ({ status, message, burst: null });
  try {
    const { status, message, context } = await configure(memories, requests.descriptor, results.descriptor);
    if (status !== ErrorStatus.NONE) return refuse(status, message ?? "the device did not start a burst");
    if (context === null) return refuse(ErrorStatus.GENERAL_FAILURE, "the device answered NONE and no burst context");
    const signal = options.signal ?? sharedSignal({ keepAlive: true });
    const writer = ringWriter(requests.words, requestCapacity, signal);
    const reader = ringReader(results.words, resultCapacity, signal);
    return { status, burst: burstOver({ context, memories, writer, reader, requestCapacity }, options) };
  } catch (error) {
    return refuse(ErrorStatus.GENERAL_FAILURE, `starting a burst: ${error}`);
  }
}

/** Words to write packets in before they are sent; longer ones get words of their own. */
const scratchWords = 64 * wordsPerSlot;

interface Parts {
  readonly context: IBurstContext;
  readonly memories: ReturnType<typeof createMemorySlots>;
  readonly writer: ReturnType<typeof ringWriter>;
  readonly reader: ReturnType<typeof ringReader>;
  readonly requestCapacity: number;
}

function burstOver(
  { context, memories, writer, reader, requestCapacity }: Parts,
  { pollingWindow = 50, refuseMemory = () => undefined }: BurstOptions,
): Burst {
  const exclusive = createMutex();
  const poller = createPoller(pollingWindow);
  const turns = createTurns(10);
  const scratch = new Int32Array(scratchWords);
  /** Why the burst is over. */
  let over: string | undefined;

  const checkOver = () => {
    if (over === undefined && writer.isPeerClosed()) over = "the service has ended the burst";
    return over;
  };
  const nextPacket = (): Int32Array | Malformed | undefined => {
    const packet = reader.read();
    if (packet !== undefined && !(reader.isPeerClosed() && isTeardownPacket(packet))) return packet;
    if (over === undefined && reader.isPeerClosed()) over = "the service has ended the burst";
    return over === undefined ? undefined : { malformed: over };
  };
  const compute = async (request: Request, options: BurstExecuteOptions): Promise<BurstExecutionResult> => {
    const { measure = MeasureTiming.NO, keys } = options;
    if (turns.areDue()) await turns.give();
    const misfit = checkOver() ?? misfitOf(request, options, requestCapacity, refuseMemory);
    if (misfit !== undefined)
      return failed(ErrorStatus.GENERAL_FAILURE, `the burst cannot take the request: ${misfit}`, true);
    const slots = request.pools.map((pool, index) =>
      pool.kind === "memory" ? memories.slotOf(pool.memory, keys === undefined ? pool.memory : keys[index]) : 0,
    );
    const packet = encodeRequest(serializeRequest(request, measure, slots), scratch);
    // What a faulty service left there is no answer to this request.
    reader.read();
    if (!writer.write(packet))
      return failed(ErrorStatus.GENERAL_FAILURE, "the burst's request queue has no room", true);
    const answer = poller.poll(nextPacket) ?? (await sleepUntil(reader, nextPacket, turns));
    return checked("malformed" in answer ? answer : resultOf(answer), request);
  };
  return {
    async compute(request, options = {}) {
      try {
        return await exclusive(() => compute(request, options));
      } catch (error) {
        return failed(ErrorStatus.INVALID_ARGUMENT, `the request cannot be written as a packet: ${error}`, false);
      }
    },
    freeMemory: (key) =>
      exclusive(async () => {
        const slot = memories.free(key);
        if (slot === undefined || checkOver() !== undefined) return;
        // A service elsewhere answers once the slot is forgotten: before that, it must not be used again.
        const forgotten: unknown = context.freeMemory(slot);
        await forgotten;
      }),
    close: () =>
      exclusive(async () => {
        over ??= "the burst is closed";
        writer.write(teardownPacket);
        writer.close();
        reader.close();
        const closed: unknown = context.close?.();
        await closed;
      }),
    abandon(reason) {
      over ??= reason;
      writer.close();
      reader.close();
      reader.wake();
    },
  };
}

/** Why a burst cannot carry a request. */
function misfitOf(
  request: Request,
  { deadline, loopTimeoutDuration }: BurstExecuteOptions,
  capacity: number,
  refuseMemory: (memory: Memory) => string | undefined,
): string | undefined {
  if (deadline !== undefined) return "it has a deadline, which HAL 1.2 does not know";
  if (loopTimeoutDuration !== undefined) return "it has a loop timeout, which HAL 1.2 does not know";
  for (const [index, pool] of request.pools.entries()) {
    if (pool.kind !== "memory") return `pool ${index} is a ${pool.kind}, which HAL 1.2 does not know`;
    const refusal = refuseMemory(pool.memory);
    if (refusal !== undefined) return `pool ${index}: ${refusal}`;
  }
  const size = requestPacketSize(request);
  return size > capacity ? `its packet has ${size} data where the queue holds ${capacity}` : undefined;
}

function resultOf(packet: Int32Array): BurstResultPacket | Malformed {
  if (packet.length === 0) return { malformed: "the queue's counters make no sense" };
  const data = decoded(decodeResult, packet);
  return "malformed" in data ? data : deserializeResult(data);
}

/** A result as the HAL allows it: shapes with NONE and OUTPUT_INSUFFICIENT_SIZE alone, and then for every output. */
function checked(result: BurstResultPacket | Malformed, { outputs }: Request): BurstExecutionResult {
  if ("malformed" in result) return failed(ErrorStatus.GENERAL_FAILURE, `no result came: ${result.malformed}`, false);
  const { status, outputShapes, timing } = result;
  const fault = (problem: string) => failed(ErrorStatus.GENERAL_FAILURE, `the driver answered ${problem}`, false);
  if (outputShapes.length !== 0 && outputShapes.length !== outputs.length) {
    return fault(`${outputShapes.length} output shapes for ${outputs.length} outputs`);
  }
  switch (status) {
    case ErrorStatus.NONE:
      return { status, outputShapes, timing, fallback: false };
    case ErrorStatus.OUTPUT_INSUFFICIENT_SIZE:
      if (outputShapes.length !== outputs.length) return fault("OUTPUT_INSUFFICIENT_SIZE without output shapes");
      return {
        status,
        message: "an output is larger than its buffer",
        outputShapes,
        timing: noTiming,
        fallback: false,
      };
    default:
      if (outputShapes.length !== 0) return fault(`${errorStatusNames.get(status)} with output shapes`);
      return failed(
        status,
        `the driver answered ${errorStatusNames.get(status)}; a burst carries no message that says why`,
        false,
      );
  }
}

function failed(status: ErrorStatus, message: string, fallback: boolean): BurstExecutionResult {
  return { status, message, outputShapes: [], timing: noTiming, fallback };
}
