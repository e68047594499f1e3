/** Limits of waits between the two ends of a burst. */
import { systemTimer, type Timer } from "../schedule/timer.ts";
import { createWatchdog, type Watchdog } from "../schedule/watchdog.ts";

/** Limits of both ends. A wait ends at most two seconds after its limit. */
export interface LimitOptions {
  /**
   * Milliseconds without a sign of life from the other end while its answer is awaited. Default 30,000. A service
   * signals once per second while it executes.
   */
  readonly silenceLimit?: number | undefined;
  /** Milliseconds that one request may take in total, with or without signs of life. Default 600,000. */
  readonly requestLimit?: number | undefined;
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

/** The limits of one end. Throws a RangeError for a limit that is not a number of milliseconds above 0. */
export function limitsOf(options: LimitOptions): Limits {
  const { silenceLimit = 30_000, requestLimit = 600_000, timer = systemTimer } = options;
  const silence = nanoseconds("silenceLimit", silenceLimit);
  const request = nanoseconds("requestLimit", requestLimit);
  const least = silence < request ? silence : request;
  const interval = least < longestInterval ? least : longestInterval;
  return { silence, request, watchdog: createWatchdog({ interval, timer }) };
}

function nanoseconds(name: string, milliseconds: number): bigint {
  const whole = Math.round(milliseconds * 1e6);
  if (Number.isSafeInteger(whole) && whole > 0) return BigInt(whole);
  throw new RangeError(`the ${name} of a burst is ${milliseconds}: a number of milliseconds above 0 is needed`);
}

/** A limit as messages name it. */
export function milliseconds(limit: bigint): string {
  return `${limit / 1_000_000n} ms`;
}
