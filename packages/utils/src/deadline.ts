/**
 * Deadlines: points in time on the steady clock, in nanoseconds. Sums do not overflow: they are at most the greatest
 * deadline.
 */
import type { OptionalTimeoutDuration, OptionalTimePoint } from "@nnhal/types";

/** The greatest time of a steady clock: 2^63 - 1 nanoseconds. */
export const greatestDeadline = 0x7fff_ffff_ffff_ffffn;

/** The deadline `duration` nanoseconds from `now`; none for no duration. A negative duration counts as 0. */
export function makeDeadline(duration: bigint, now: bigint): bigint;
export function makeDeadline(duration: bigint | undefined, now: bigint): bigint | undefined;
export function makeDeadline(duration: bigint | undefined, now: bigint): bigint | undefined {
  if (duration === undefined) return undefined;
  return clamp(now + (duration > 0n ? duration : 0n));
}

/** The earlier of two deadlines; undefined: no deadline. */
export function earlierDeadline(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

/** Returns whether a deadline has passed; never true for undefined. */
export function hasDeadlinePassed(deadline: bigint | undefined, now: bigint): boolean {
  return deadline !== undefined && now >= deadline;
}

/** The deadline that HAL 1.3 writes as a union. */
export function deadlineOf(timePoint: OptionalTimePoint): bigint | undefined {
  return timePoint.kind === "none" ? undefined : clamp(timePoint.nanosecondsSinceEpoch);
}

/** A deadline as HAL 1.3 writes it. */
export function makeTimePoint(deadline: bigint | undefined): OptionalTimePoint {
  return deadline === undefined
    ? { kind: "none" }
    : { kind: "nanosecondsSinceEpoch", nanosecondsSinceEpoch: clamp(deadline) };
}

/** The duration that HAL 1.3 writes as a union. */
export function durationOf(duration: OptionalTimeoutDuration): bigint | undefined {
  return duration.kind === "none" ? undefined : duration.nanoseconds;
}

/** A duration as HAL 1.3 writes it. */
export function makeTimeoutDuration(nanoseconds: bigint | undefined): OptionalTimeoutDuration {
  return nanoseconds === undefined ? { kind: "none" } : { kind: "nanoseconds", nanoseconds };
}

/** HAL 1.3 writes time points without a sign. */
function clamp(time: bigint): bigint {
  if (time > greatestDeadline) return greatestDeadline;
  return time < 0n ? 0n : time;
}
