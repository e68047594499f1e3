/**
 * The pools of an execution's request: the caller's arrays, one pool for each, and the application's memories.
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import type { Memory as HalMemory, RequestMemoryPool } from "@nnhal/types";
import type { Memory } from "./memory.ts";
import type { MemoryContent } from "./memory-content.ts";

/** See the file's head. Empty at first. */
export class RequestPools {
  /** Has room for the most pools. The first `#count` are set. */
  readonly #pools: RequestMemoryPool[];
  #count = 0;
  /** The application's memories; most executions have none. */
  #used: Set<Memory> | undefined;
  #indexes: Map<MemoryContent, number> | undefined;
  #memories: Map<HalMemory, Memory> | undefined;

  /** `most`: the number of arguments. */
  constructor(most: number) {
    this.#pools = new Array(most);
  }

  /** The application's memories in the request. */
  get memories(): ReadonlyMap<HalMemory, Memory> {
    return this.#memories ?? noMemories;
  }

  /** True if there are memories of the application. */
  get hasMemories(): boolean {
    return this.#used !== undefined;
  }

  list(): readonly RequestMemoryPool[] {
    return this.#count === this.#pools.length ? this.#pools : this.#pools.slice(0, this.#count);
  }

  /** Adds an array, and returns the index of its pool. AIDL has no memory without bytes. */
  addBytes(bytes: Uint8Array): number {
    this.#pools[this.#count] = { kind: "memory", memory: memoryOf(bytes.length > 0 ? bytes : new Uint8Array(1)) };
    return this.#count++;
  }

  /** Adds a memory, if it is new, and returns the index of its pool. */
  addMemory(memory: Memory, content: MemoryContent): number {
    this.#indexes ??= new Map();
    let index = this.#indexes.get(content);
    if (index === undefined) {
      index = this.#count++;
      this.#pools[index] = content.pool;
      this.#indexes.set(content, index);
    }
    this.#used ??= new Set();
    this.#used.add(memory);
    if (content.plain !== undefined) {
      this.#memories ??= new Map();
      this.#memories.set(content.plain, memory);
    }
    return index;
  }

  /** Marks all memories as in use. */
  retain(): void {
    if (this.#used !== undefined) for (const memory of this.#used) memory.retain();
  }

  giveBack(): void {
    if (this.#used !== undefined) for (const memory of this.#used) memory.giveBack();
  }
}

const noMemories: ReadonlyMap<HalMemory, Memory> = new Map();
