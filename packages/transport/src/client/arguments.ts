/** Arguments of calls with numbers in place of memories, and which bytes of memories the server reads and writes. */
import type { Memory, Model, Request } from "@nnhal/types";
import { Unwritable } from "@nnhal/utils/codec";
import type { ClientMemories } from "../memory/client-memories.ts";
import type { Range } from "../memory/pieces.ts";
import type { WiredModel, WiredRequest } from "../protocol/values.ts";
import { listOf, objectOf } from "./values.ts";

/** The transfer of memories before and after a call. */
export interface MemoryUse {
  /** Makes the inputs visible to the server. Undefined if there is nothing to wait for. */
  store(): Promise<void> | undefined;
  /** Makes the values that the server has written visible here. */
  load(): void;
}

/** A model for a call. Throws Unwritable for a pool that is not a memory. */
export function wireModel(
  given: Model,
  memories: ClientMemories,
): { readonly model: WiredModel; readonly use: MemoryUse } {
  const { operandValues, pools: givenPools, ...structure } = objectOf(given, "the model");
  const pools = listOf(givenPools, "pools");
  const whole = pools.map((memory): Use => ({ memory, ranges: [{ offset: 0, length: memory.size }] }));
  const model = { structure, operandValues, pools: pools.map((memory) => memories.idOf(memory)) };
  return { model, use: useOf(whole, [], memories) };
}

/** A request for a call. `tokenOf`: the service's token of a buffer. Throws Unwritable for a pool that is not a memory, and as `tokenOf`. */
export function wireRequest(
  given: Request,
  memories: ClientMemories,
  tokenOf: (token: number) => number,
): { readonly request: WiredRequest; readonly use: MemoryUse } {
  const { inputs: givenInputs, outputs: givenOutputs, pools: givenPools } = objectOf(given, "the request");
  const inputs = listOf(givenInputs, "inputs");
  const outputs = listOf(givenOutputs, "outputs");
  const pools = listOf(givenPools, "pools");
  const wired = pools.map((pool) =>
    pool.kind === "memory"
      ? { kind: pool.kind, memory: memories.idOf(pool.memory) }
      : { ...pool, token: tokenOf(pool.token) },
  );
  const copied = pools.flatMap((pool, index) =>
    pool.kind === "memory" && !memories.isShared(pool.memory) ? [{ memory: pool.memory, index }] : [],
  );
  const rangesIn = (all: Request["inputs"]) =>
    copied.map(
      ({ memory, index }): Use => ({
        memory,
        ranges: all.flatMap(({ hasNoValue, location }) =>
          hasNoValue || location.poolIndex !== index ? [] : [location],
        ),
      }),
    );
  const request = { inputs, outputs, pools: wired };
  for (const { memory, ranges } of rangesIn(outputs)) {
    // The server's copy of a memory can be written.
    if (ranges.length > 0 && !memories.isWritable(memory))
      throw new Unwritable("an output lies in memory that is not writable");
  }
  if (copied.length === 0) return { request, use: nothing };
  // Outputs go along: bytes that the device does not write stay as they are.
  return { request, use: useOf([...rangesIn(inputs), ...rangesIn(outputs)], rangesIn(outputs), memories) };
}

/** The use of one whole memory. */
export function wholeUse(memory: Memory, direction: "read" | "write", memories: ClientMemories): MemoryUse {
  const use: Use[] = [{ memory, ranges: [{ offset: 0, length: memory.size }] }];
  return direction === "read" ? useOf(use, [], memories) : useOf([], use, memories);
}

interface Use {
  readonly memory: Memory;
  readonly ranges: readonly Range[];
}

const nothing: MemoryUse = { store: () => undefined, load() {} };

function useOf(read: readonly Use[], written: readonly Use[], memories: ClientMemories): MemoryUse {
  return {
    store() {
      const waits = read
        .map(({ memory, ranges }) => memories.store(memory, ranges))
        .filter((wait) => wait !== undefined);
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
    },
    load() {
      for (const { memory, ranges } of written) memories.load(memory, ranges);
    },
  };
}
