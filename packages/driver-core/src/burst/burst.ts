/** The client's side of a burst. It executes through queues (`queued-burst.ts`) or directly (`direct-burst.ts`). */
import type { ExecuteOptions, ExecutionResult, Memory, Request } from "@nnhal/types";
import type { Signal } from "../memory/signal.ts";
import type { LimitOptions } from "./limits.ts";
import type { MemoryKey } from "./memory-slots.ts";

/** Options for starting a burst. */
export interface BurstOptions extends LimitOptions {
  /**
   * If true, requests go to the service without the queues if the service is in this thread. Default: true. False is for tests
   * of the queues.
   */
  readonly direct?: boolean | undefined;
  /** Makes the memory of the queues. Default: memory that all threads of this process can share. */
  readonly allocate?: ((size: number) => Memory) | undefined;
  /**
   * Signal that wakes the reader of results. Default: the signal of the queues' memory, or `sharedSignal({ keepAlive: true })`.
   */
  readonly signal?: Signal | undefined;
  /** Microseconds to poll for a result before sleeping; 0 saves power. Default 50. */
  readonly pollingWindow?: number | undefined;
  /** Data that the request queue holds: a power of two. Default 1024. */
  readonly requestCapacity?: number | undefined;
  /** Data that the result queue holds: a power of two. Default 1024. */
  readonly resultCapacity?: number | undefined;
  /**
   * Returns why a memory cannot be passed to the service; requests that use it fall back. Default: every memory can.
   */
  readonly refuseMemory?: ((memory: Memory) => string | undefined) | undefined;
}

/** Options for executing a request in a burst. */
export interface BurstExecuteOptions extends ExecuteOptions {
  /** The key of each pool, for `freeMemory`. Default: the Memory objects themselves. */
  readonly keys?: readonly MemoryKey[] | undefined;
}

/** The answer to a request in a burst. */
export interface BurstExecutionResult extends ExecutionResult {
  /**
   * True if the request was not sent, because the burst cannot carry it or is over. Execute it with the prepared model then.
   */
  readonly fallback: boolean;
}

/** The client's side of a burst. */
export interface BurstController {
  /**
   * Executes a request. Requests are executed one after the other. Requests with token pools, a deadline, a loop timeout or hints need
   * a newer HAL and fall back; so do those with a signal, and those whose packet does not fit the queue. Never rejects.
   *
   * DEVICE_UNAVAILABLE: the service is gone, or has shown no sign of life for `silenceLimit`.
   * MISSED_DEADLINE_TRANSIENT: no result came within `requestLimit`. Either ends the burst; the service may still write
   * to the request's outputs.
   */
  compute(request: Request, options?: BurstExecuteOptions): Promise<BurstExecutionResult>;
  /**
   * Removes a memory from the tables of both sides; it can be used again afterwards. An unknown memory is not an error.
   * A service that does not answer within `silenceLimit` ends the burst. Never rejects.
   */
  freeMemory(key: MemoryKey): Promise<void>;
  /** Ends the burst after the current request, whose limits still apply. Never rejects. */
  close(): Promise<void>;
  /** Ends the burst at once, because the service is gone. The current request fails, unless it is executed directly. */
  abandon(reason: string): void;
}
