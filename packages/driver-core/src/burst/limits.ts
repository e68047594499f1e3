/** Limits of waits between the two ends of a burst. */
import { systemTimer, type Timer } from "@nnhal/utils/time";
import { show } from "@nnhal/validation";
import { createWatchdog, type Watchdog } from "./watchdog.ts";

/** Limits of both ends. A wait ends at most two seconds after its limit. */
export interface LimitOptions {
  /**
   * Nanoseconds without a sign of life from the other end while its answer is awaited. Default: 30 s. A service
   * signals once per second while it executes.
   */
  readonly silenceLimit?: bigint | undefined;
  /** Nanoseconds that one request may take in total, with or without signs of life. Default: 10 minutes. */
  readonly requestLimit?: bigint | undefined;
  /** Waits for the limits. Default: the system's. */
  readonly timer?: Timer | undefined;
}

/** Limits in nanoseconds, and the watchdog that enforces them. */
export interface Limits {
  readonly silence: bigint;
  readonly request: bigint;
  readonly watchdog: Watchdog;
}

/** Interval of the watchdogs, and of the signs of life of a service that executes: one second. */
const longestInterval = 1_000_000_000n;

/** The limits of one end. Throws a RangeError for a limit that is not a number of nanoseconds above 0. */
export function limitsOf(options: LimitOptions): Limits {
  const { silenceLimit = 30_000_000_000n, requestLimit = 600_000_000_000n, timer = systemTimer } = options;
  const silence = check("silenceLimit", silenceLimit);
  const request = check("requestLimit", requestLimit);
  const least = silence < request ? silence : request;
  const interval = least < longestInterval ? least : longestInterval;
  return { silence, request, watchdog: createWatchdog({ interval, timer }) };
}

function check(name: string, nanoseconds: bigint): bigint {
  if (typeof nanoseconds === "bigint" && nanoseconds > 0n) return nanoseconds;
  throw new RangeError(`the ${name} of a burst: expected nanoseconds above 0 as a bigint, got ${show(nanoseconds)}`);
}

/** A limit as messages name it. */
export function milliseconds(limit: bigint): string {
  return `${limit / 1_000_000n} ms`;
}
