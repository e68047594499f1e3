/** Shared parts of tests of a burst between processes. */
import type { ConfigureExecutionBurst } from "@nnhal/driver-core/burst";
import { mapPool } from "@nnhal/driver-core/memory";
import { type BurstMemories, ErrorStatus, type IBurstCallback, type Memory, type Request } from "@nnhal/types";
import { descriptorWay } from "./file-way.ts";
import { createPassing, type MemoryPassing } from "./passing.ts";
import { createSharedMemory } from "./shared-memory.ts";
import type { Peer } from "./start-peer.test-helper.ts";

/** A queue, as a message brings it. */
interface QueueMessage {
  readonly reference: Uint8Array;
  readonly capacity: number;
}

/** Options of starting the service's side. */
export interface ConfigureMessage {
  readonly requests: QueueMessage;
  readonly results: QueueMessage;
  readonly pollingWindow: number;
  /** The way the service waits; `stall`: it never ends an execution. */
  readonly how: "sleep" | "park" | "block" | "stall";
}

/** A value that is not a reason. */
export function unwrap<T extends object>(
  value: T | { refused: string } | { noSocket: string } | { notPassed: string },
): Exclude<T, { refused: string } | { noSocket: string } | { notPassed: string }> {
  if ("refused" in value || "noSocket" in value || "notPassed" in value) throw new Error(JSON.stringify(value));
  return value as Exclude<T, { refused: string } | { noSocket: string } | { notPassed: string }>;
}

export function passingOver(socket: number): MemoryPassing {
  return createPassing(unwrap(descriptorWay(socket)));
}

/** A request that adds two numbers in shared memory. */
export function adderRequest(): { readonly request: Request; readonly values: Float32Array; readonly memory: Memory } {
  const memory = unwrap(createSharedMemory(12));
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const { buffer, byteOffset } = mapping.bytes;
  const argument = (offset: number) => ({
    hasNoValue: false,
    location: { poolIndex: 0, offset, length: 4 },
    dimensions: [1],
  });
  return {
    memory,
    values: new Float32Array(buffer, byteOffset, 3),
    request: {
      inputs: [argument(0), argument(4)],
      outputs: [argument(8)],
      pools: [{ kind: "memory", memory }],
    },
  };
}

/** The service's question for memories. */
export async function memoriesOf(
  passing: MemoryPassing | undefined,
  ask: Peer["ask"],
  slots: readonly number[],
): Promise<BurstMemories> {
  const references = await ask("getMemories", slots);
  if (!Array.isArray(references)) return { status: ErrorStatus.INVALID_ARGUMENT, buffers: [] };
  return {
    status: ErrorStatus.NONE,
    buffers: references.map((reference) => unwrap(passing?.receive(reference) ?? { refused: "not connected" })),
  };
}

/** The client's calls of a service. */
export function clientContext(
  passing: () => MemoryPassing | undefined,
  ask: Peer["ask"],
  { pollingWindow = 0, how = "sleep" }: Partial<ConfigureMessage> = {},
  ended?: Promise<void>,
) {
  let callback: IBurstCallback | undefined;
  const referenceOf = (memory: Memory) => unwrap(passing()?.pass(memory) ?? { refused: "not connected" }).reference;
  const configure: ConfigureExecutionBurst = async (given, requests, results) => {
    callback = given;
    const queue = ({ memory, capacity }: typeof requests | typeof results) => ({
      reference: referenceOf(memory),
      capacity,
    });
    const message: ConfigureMessage = { requests: queue(requests), results: queue(results), pollingWindow, how };
    const answer = await ask("configure", message);
    const status = Object(answer).status;
    return {
      status,
      message: Object(answer).message,
      context: {
        freeMemory: (slot) => ask("freeMemory", slot),
        close: () => ask("close").catch(() => {}),
        ...(ended !== undefined && { ended }),
      },
    };
  };
  return {
    configure,
    /** Remembers the client's side of a burst that is started in another way. */
    adopt(given: IBurstCallback) {
      callback = given;
    },
    /** Answers the service's question. */
    async getMemories(slots: readonly number[]) {
      const { status, buffers } = (await callback?.getMemories(slots)) ?? { status: -1, buffers: [] };
      return status === ErrorStatus.NONE ? buffers.map(referenceOf) : undefined;
    },
  };
}
