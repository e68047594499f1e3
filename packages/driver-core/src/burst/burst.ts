/**
 * The client's side of a burst, as its users see it. It executes through queues (`queued-burst.ts`) or directly
 * (`direct-burst.ts`).
 */
import type { ExecuteOptions, ExecutionResult, Memory, Request } from "@nnhal/types";
import type { LimitOptions } from "./limits.ts";
import type { MemoryKey } from "./memory-slots.ts";
import type { Signal } from "./signal.ts";

/** How to start a burst. */
export interface BurstOptions extends LimitOptions {
  /**
   * Whether requests go to the service without the queues if the service is in this thread. Default: true. False serves to
   * test the queues.
   */
  readonly direct?: boolean | undefined;
  /** How to sleep until a result comes. Default: `sharedSignal({ keepAlive: true })`. */
  readonly signal?: Signal | undefined;
  /** Microseconds to look for a result before sleeping; 0 saves power. Default 50. */
  readonly pollingWindow?: number | undefined;
  /** Data that the request queue holds: a power of two. Default 1024. */
  readonly requestCapacity?: number | undefined;
  /** Data that the result queue holds: a power of two. Default 1024. */
  readonly resultCapacity?: number | undefined;
  /** Why a memory cannot be handed to the service; requests that use it fall back. Default: all can. */
  readonly refuseMemory?: ((memory: Memory) => string | undefined) | undefined;
}

/** How to execute a request in a burst. */
export interface BurstExecuteOptions extends ExecuteOptions {
  /** What stands for each pool, as `freeMemory` is called with. Default: the Memory objects themselves. */
  readonly keys?: readonly MemoryKey[] | undefined;
}

/** The answer to a request in a burst. */
export interface BurstExecutionResult extends ExecutionResult {
  /** The request was not sent, because a burst cannot carry it or is over: execute it the ordinary way. */
  readonly fallback: boolean;
}

/** The client's side of a burst. */
export interface BurstController {
  /**
   * Executes a request. Requests are executed one after the other. Those with token pools, a deadline or a loop timeout
   * need more than HAL 1.2 and fall back; so do requests whose packet does not fit the queue. Never rejects.
   *
   * DEVICE_UNAVAILABLE: the service is gone, or has shown no sign of life for `silenceLimit`. MISSED_DEADLINE_TRANSIENT:
   * no result came within `requestLimit`. Either ends the burst; the service may still write to the request's outputs.
   */
  compute(request: Request, options?: BurstExecuteOptions): Promise<BurstExecutionResult>;
  /**
   * Lets go of a memory on both sides; it may be used again afterwards. One that is not known is not an error. A service
   * that does not answer within `silenceLimit` ends the burst. Never rejects.
   */
  freeMemory(key: MemoryKey): Promise<void>;
  /** Ends the burst after the request under way, which has its limits. Never rejects. */
  close(): Promise<void>;
  /** Ends the burst at once, because the service is gone: the request under way fails, unless it is executed directly. */
  abandon(reason: string): void;
}
