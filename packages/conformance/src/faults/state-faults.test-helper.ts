/**
 * Faults of state that a device keeps from one call to the next: results of other requests, models of other tokens, exchanged
 * slots.
 */
import { ErrorStatus, type Memory, type PrepareResult, type Request } from "@nnhal/types";
import { type FaultRow, never } from "../suites/faulty-device.test-helper.ts";

/** The bytes of a memory that the kit has made; undefined for any other. */
function bytesOf(memory: Memory): Uint8Array | undefined {
  const { handle } = memory;
  return handle?.kind === "buffer" ? new Uint8Array(handle.buffer, handle.byteOffset, memory.size) : undefined;
}

/** The place of the first output of a request, of the first input if `inputs`. */
function placeOf(request: Request, inputs = false): { bytes: Uint8Array; offset: number; length: number } | undefined {
  const [argument] = inputs ? request.inputs : request.outputs;
  const pool = request.pools[argument?.location.poolIndex ?? -1];
  const bytes = pool?.kind === "memory" ? bytesOf(pool.memory) : undefined;
  if (argument === undefined || argument.hasNoValue || bytes === undefined) return undefined;
  return { bytes, offset: argument.location.offset, length: argument.location.length };
}

/** Does something to the memory of a request that was executed. */
function afterwards(change: (request: Request) => void): FaultRow[1] {
  return {
    preparedModel: ({ execute }) => ({
      async execute(request, options) {
        const result = await execute(request, options);
        if (result.status === ErrorStatus.NONE) change(request);
        return result;
      },
    }),
  };
}

/** A fault with state: each device gets a separate state. */
function keepState(make: () => FaultRow[1]): FaultRow[1] {
  return make();
}

export const stateFaults: readonly FaultRow[] = [
  [
    "has the results of its last execution, if they are as long",
    keepState(() => {
      let last: Uint8Array | undefined;
      return afterwards((request) => {
        const place = placeOf(request);
        if (place === undefined) return;
        const { bytes, offset, length } = place;
        const own = bytes.slice(offset, offset + length);
        if (last?.length === length) bytes.set(last, offset);
        last = own;
      });
    }),
    "arithmetic/ADD",
    /element \d+/,
  ],
  [
    "is off by a bit in every fifth execution",
    keepState(() => {
      let runs = 0;
      return afterwards((request) => {
        const place = placeOf(request);
        if (place !== undefined && ++runs % 5 === 0)
          place.bytes[place.offset] = (place.bytes[place.offset] ?? 0) ^ 0x20;
      });
    }),
    "arithmetic/ADD",
    /element \d+/,
  ],
  [
    "writes a byte behind an output",
    afterwards((request) => {
      const place = placeOf(request);
      if (place !== undefined) place.bytes[place.offset + place.length] = 0;
    }),
    "arithmetic/ADD",
    /the byte 0 after the end of output 0 was written/,
  ],
  [
    "computes in the memory of an input",
    afterwards((request) => {
      const place = placeOf(request, true);
      if (place !== undefined) place.bytes[place.offset] = (place.bytes[place.offset] ?? 0) ^ 1;
    }),
    "arithmetic/ADD",
    /of the input pool was changed/,
  ],
  [
    "does not write the last element of an output",
    afterwards((request) => {
      const place = placeOf(request);
      if (place !== undefined) place.bytes[place.offset + place.length - 1] = 0xcd;
    }),
    "arithmetic/ADD",
    /element \d+/,
  ],
  [
    "loads the first model that was kept, whatever the token",
    {
      device: ({ prepareModel, prepareModelFromCache }) => {
        let kept: (() => Promise<PrepareResult>) | undefined;
        return {
          prepareModel(model, options) {
            if (options?.cache !== undefined) kept ??= () => prepareModel(model, { ...options, cache: undefined });
            return prepareModel(model, options);
          },
          async prepareModelFromCache(cache, options) {
            const right = (await prepareModelFromCache?.(cache, options)) ?? never();
            return right.preparedModel === null || kept === undefined ? right : kept();
          },
        };
      },
    },
    "caching/retrieval",
    /./,
  ],
  [
    "exchanges the memories of a burst",
    {
      preparedModel: ({ configureExecutionBurst }) => ({
        configureExecutionBurst: async (callback, ...queues) =>
          (await configureExecutionBurst?.(
            callback && {
              async getMemories(slots) {
                const { buffers, ...outcome } = await callback.getMemories(slots);
                return { ...outcome, buffers: [...buffers].reverse() };
              },
            },
            ...queues,
          )) ?? never(),
      }),
    },
    "burst/service",
    /./,
  ],
  [
    "copies the first half of a memory only",
    {
      buffer: ({ copyTo }) => ({
        async copyTo(memory) {
          const outcome = await copyTo(memory);
          const bytes = bytesOf(memory);
          if (outcome.status === ErrorStatus.NONE) bytes?.fill(0, bytes.length >> 1);
          return outcome;
        },
      }),
    },
    "memory/copy",
    /./,
  ],
  [
    "signals the fence before the results are there",
    {
      preparedModel: ({ executeFenced }) => ({
        async executeFenced(request, waitFor, options) {
          const launched = (await executeFenced?.(request, waitFor, options)) ?? never();
          void launched.syncFence?.wait().then(() => {
            const place = placeOf(request);
            place?.bytes.fill(0, place.offset, place.offset + place.length);
          });
          return launched;
        },
      }),
    },
    "fenced/waiting",
    /./,
  ],
];
