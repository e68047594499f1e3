/**
 * The contexts that the parts of a device share.
 */

import type { RunContext } from "@nnhal/backend";
import type { Logger, Tracer } from "@nnhal/utils";
import type { Timer } from "@nnhal/utils/time";
import type { Caching } from "../cache/caching.ts";
import type { BufferDomain } from "../domains/domain.ts";
import type { Client } from "../engine/client.ts";
import type { GuardedSession } from "../engine/guarded-session.ts";
import type { Scheduler } from "../schedule/scheduler.ts";
import type { TurnLimit } from "../schedule/turn-limit.ts";

/** Members that preparation and execution share. */
export interface RunningContext {
  readonly name: string;
  readonly session: GuardedSession;
  readonly now: () => bigint;
  readonly timer: Timer;
  /** Nanoseconds. */
  readonly idleAfter: bigint;
  /** Bytes. Undefined: no limit. */
  readonly temporaryLimit?: number;
  readonly random: () => number;
  /** The context of runs without options: see run-context.ts. */
  readonly plainRun: RunContext;
  readonly scheduler: Scheduler;
  readonly turnLimit: TurnLimit;
  /** See `DeviceOptions`. */
  readonly overrun: bigint;
  /** Undefined: no caching. */
  readonly caching: Caching | undefined;
  readonly log: Logger;
  readonly trace: Tracer;
}

/** Members that the parts of a device share. */
export interface SharedContext extends RunningContext {
  readonly closeTimeout: bigint;
  readonly bufferBytes: number;
}

/** Members that the parts of one client share. */
export interface DeviceContext extends RunningContext {
  /** The scheduler is fair among clients. */
  readonly client: Client;
  readonly domain: BufferDomain;
}
