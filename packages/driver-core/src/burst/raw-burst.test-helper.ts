/**
 * A burst whose client is a test: packets go into the request queue as they are, and results are looked at datum by
 * datum. And a model that adds two numbers, with a request for it.
 */
import { elementAt } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecutionResult,
  type FmqRequestDatum,
  type FmqResultDatum,
  type Memory,
  type PreparedModel,
  type Request,
  type RequestArgument,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { allocateMemory, mapMemory } from "../memory/memory.ts";
import { localSignal, type Signal } from "../memory/signal.ts";
import { type Channel, createChannel } from "./channel.ts";
import { requestWords, resultData, resultWords } from "./data.ts";
import { createMemorySlots, type MemorySlots } from "./memory-slots.ts";
import { type BurstResultPacket, readResult } from "./result-codec.ts";
import { type RingWriter, ringReader, ringWriter } from "./ring.ts";
import { type BurstContext, type BurstServerOptions, configureExecutionBurst } from "./server.ts";
import { createTurns, sleepUntil } from "./waiting.ts";

export interface RawBurst {
  readonly context: BurstContext;
  readonly memories: MemorySlots;
  readonly requests: Channel<"FmqRequestDatum">;
  readonly writer: RingWriter;
  readonly signal: Signal;
  send(data: readonly FmqRequestDatum[] | Int32Array): void;
  receive(): Promise<FmqResultDatum[]>;
  /** The next words in the result queue. */
  receiveWords(): Promise<Int32Array>;
  /** The service's sign of life. */
  pulse(): number;
  /** Sends a packet, and reads its result as a client does. */
  ask(data: readonly FmqRequestDatum[] | Int32Array): Promise<BurstResultPacket>;
  /** Returns true if results are waiting that were not asked for. */
  hasMore(): boolean;
}

export function rawBurst(
  preparedModel: Pick<PreparedModel, "execute">,
  options: BurstServerOptions & { requestCapacity?: number; resultCapacity?: number; memories?: MemorySlots } = {},
): RawBurst {
  const { requestCapacity = 1024, resultCapacity = 1024, memories = createMemorySlots() } = options;
  const requests = createChannel("FmqRequestDatum", requestCapacity);
  const results = createChannel("FmqResultDatum", resultCapacity);
  const signal = localSignal();
  const { context, message } = configureExecutionBurst(
    preparedModel,
    memories,
    requests.descriptor,
    results.descriptor,
    {
      signal,
      pollingWindow: 0,
      ...options,
    },
  );
  if (context === null) throw new Error(message);
  const writer = ringWriter(requests.words, requestCapacity, signal);
  const reader = ringReader(results.words, resultCapacity, signal);
  const turns = createTurns(1);
  const burst: RawBurst = {
    context,
    memories,
    requests,
    writer,
    signal,
    send(data) {
      if (!writer.write(data instanceof Int32Array ? data : requestWords(data))) throw new Error("no room");
    },
    pulse: () => reader.pulse(),
    receiveWords: () => sleepUntil(reader, () => reader.read(), turns),
    receive: async () => resultData(await burst.receiveWords()),
    async ask(data) {
      burst.send(data);
      const result = readResult(resultWords(await burst.receive()));
      if ("malformed" in result) throw new Error(result.malformed);
      return result;
    },
    hasMore: () => reader.read() !== undefined,
  };
  return burst;
}

/** An execution's answer. */
export function result(status: ErrorStatus, outputShapes: ExecutionResult["outputShapes"] = []): ExecutionResult {
  return { status, outputShapes, timing: notMeasured };
}

export interface Adder {
  readonly memory: Memory;
  readonly request: Request;
  /** Input, input, output. */
  readonly values: Float32Array;
  readonly model: Pick<PreparedModel, "execute">;
  /** Requests that the model was asked to execute. */
  readonly executed: Request[];
}

const shape = { dimensions: [1], isSufficient: true };

/** A model that adds two numbers in the first pool of a valid request; all others are refused as a device would. */
export function adder(): Adder {
  const memory = allocateMemory(12);
  const bytes = mapMemory(memory);
  if ("unmappable" in bytes) throw new Error(bytes.unmappable);
  const argument = (offset: number): RequestArgument => ({
    hasNoValue: false,
    location: { poolIndex: 0, offset, length: 4 },
    dimensions: [1],
  });
  const request: Request = {
    inputs: [argument(0), argument(4)],
    outputs: [argument(8)],
    pools: [{ kind: "memory", memory }],
  };
  const executed: Request[] = [];
  const valuesOf = (asked: Request) => {
    const pool = asked.pools[0];
    const mapped = pool?.kind === "memory" ? mapMemory(pool.memory) : undefined;
    return mapped === undefined || "unmappable" in mapped ? undefined : new Float32Array(mapped.buffer, 0, 3);
  };
  return {
    memory,
    request,
    values: new Float32Array(bytes.buffer),
    executed,
    model: {
      async execute(asked) {
        executed.push(asked);
        const isSame = (list: readonly RequestArgument[], like: readonly RequestArgument[]) =>
          JSON.stringify(list) === JSON.stringify(like);
        const values = valuesOf(asked);
        const isValid =
          isSame(asked.inputs, request.inputs) && isSame(asked.outputs, request.outputs) && asked.pools.length === 1;
        if (!isValid || values === undefined) return result(ErrorStatus.INVALID_ARGUMENT);
        values[2] = elementAt(values, 0) + elementAt(values, 1);
        return result(ErrorStatus.NONE, [shape]);
      },
    },
  };
}
