/**
 * Bursts of the device under test: with the kit's own client, and with a client that writes whatever it likes.
 */
import {
  type BurstController,
  type BurstOptions,
  type BurstResultPacket,
  createBurst,
  createChannel,
  createMemorySlots,
  createTurns,
  readResult,
  requestWords,
  ringReader,
  ringWriter,
  sharedSignal,
  signalOf,
  sleepUntil,
} from "@nnhal/driver-core/burst";
import {
  type BurstMemories,
  ErrorStatus,
  type FmqRequestDatum,
  type IBurstCallback,
  type IBurstContext,
  type Memory,
  type Outcome,
  type PreparedModel,
} from "@nnhal/types";
import { type Bench, needMethod } from "../bench.ts";
import { expectStatus, expectThat, mismatch } from "../check.ts";
import { executionProblem } from "../contract/answers.ts";

/** configureExecutionBurst of a prepared model. Ends the case if the device has none. */
export async function configureOf(bench: Bench, preparedModel: PreparedModel): Promise<ConfigureExecutionBurst> {
  await needMethod(bench, "configureExecutionBurst");
  const configure = preparedModel.configureExecutionBurst?.bind(preparedModel);
  return configure ?? mismatch("this prepared model has no bursts, but others of the device have");
}

type ConfigureExecutionBurst = NonNullable<PreparedModel["configureExecutionBurst"]>;

/** Starts a burst through queues; it ends when the case is over. */
export async function openBurst(
  bench: Bench,
  preparedModel: PreparedModel,
  options?: BurstOptions,
): Promise<Outcome & { readonly burst: BurstController | null }> {
  const configure = await configureOf(bench, preparedModel);
  const opened = await createBurst((callback, requests, results) => configure(callback, requests, results), {
    direct: false,
    allocate: bench.createMemory,
    ...options,
  });
  bench.after(() => opened.burst?.close());
  return opened.burst === null ? opened : { ...opened, burst: watchBurst(opened.burst, bench) };
}

/** The kit's client of a burst, each of whose waits for the service has an end. */
function watchBurst(burst: BurstController, { watch }: Bench): BurstController {
  const end = async <Value>(what: string, wait: () => Promise<Value>): Promise<Value> => {
    try {
      return await watch.within(what, wait);
    } catch (error) {
      burst.abandon("the service did not answer in time");
      throw error;
    }
  };
  return {
    async compute(request, options) {
      const start = performance.now();
      const result = await end("a burst: a request", () => burst.compute(request, options));
      const milliseconds = performance.now() - start;
      const asked = { request, options, model: undefined, mayOmitShapes: true, milliseconds };
      return watch.now(
        "a burst: a request",
        () => result,
        (answer) => executionProblem(answer, asked),
      );
    },
    freeMemory: (key) => end("a burst: freeMemory", () => burst.freeMemory(key)),
    close: () => end("a burst: close", () => burst.close()),
    abandon: (reason) => burst.abandon(reason),
  };
}

/** A burst whose client is a case: packets go into the queue as they are. */
export interface RawBurst {
  readonly context: IBurstContext;
  /** Memory of the request queue. */
  readonly requests: Int32Array;
  /** The slot of a memory. */
  slotOf(memory: Memory): number;
  /** The slots that the service has asked for, call by call. */
  readonly asked: readonly (readonly number[])[];
  send(packet: readonly FmqRequestDatum[] | Int32Array): void;
  /** The next packet of results as it lies in the queue. */
  receiveWords(): Promise<Int32Array>;
  /** Sends a packet, and reads its result as a client does. */
  ask(packet: readonly FmqRequestDatum[] | Int32Array): Promise<BurstResultPacket>;
  /** Returns true if there is a result that was not asked for. */
  hasMore(): boolean;
}

/** Options for starting a raw burst. */
export interface RawBurstOptions {
  readonly resultCapacity?: number | undefined;
  /** Changes the client's answers about memories. */
  readonly answer?: ((right: BurstMemories) => BurstMemories) | undefined;
}

const capacity = 1024;
const noWords = new Int32Array(0);

/** Starts a raw burst; it ends when the case is over. */
export async function openRawBurst(
  bench: Bench,
  preparedModel: PreparedModel,
  { resultCapacity = capacity, answer = (right) => right }: RawBurstOptions = {},
): Promise<RawBurst> {
  const configure = await configureOf(bench, preparedModel);
  const requests = createChannel("FmqRequestDatum", capacity, bench.createMemory);
  const results = createChannel("FmqResultDatum", resultCapacity, bench.createMemory);
  const memories = createMemorySlots();
  const asked: (readonly number[])[] = [];
  const callback: IBurstCallback = {
    async getMemories(slots) {
      asked.push(slots);
      return answer(await memories.getMemories(slots));
    },
  };
  const { context, ...outcome } = await configure(callback, requests.descriptor, results.descriptor);
  expectStatus("configureExecutionBurst", outcome, ErrorStatus.NONE);
  if (context === null) mismatch("configureExecutionBurst: NONE without a context");
  const signal = signalOf(requests.descriptor) ?? sharedSignal({ keepAlive: true });
  const writer = ringWriter(requests.words, capacity, signal);
  const reader = ringReader(results.words, resultCapacity, signal);
  const turns = createTurns(1);
  let isOver = false;
  bench.after(() => {
    isOver = true;
    reader.wake();
    return context.close?.();
  });
  const next = () => sleepUntil(reader, () => reader.read() ?? (isOver ? noWords : undefined), turns);
  const burst: RawBurst = {
    context,
    requests: requests.words,
    slotOf: (memory) => memories.slotOf(memory, memory),
    asked,
    send(packet) {
      const isWritten = writer.write(packet instanceof Int32Array ? packet : requestWords(packet));
      expectThat(isWritten, () => "a request: the service has not taken the packets before");
    },
    receiveWords: () => bench.watch.within("a burst: a packet of results", next),
    async ask(packet) {
      burst.send(packet);
      const result = readResult(await burst.receiveWords());
      return "malformed" in result ? mismatch(`a result packet is malformed: ${result.malformed}`) : result;
    },
    hasMore: () => reader.read() !== undefined,
  };
  return burst;
}
