/**
 * Times of AIDL: nanoseconds with a sign, -1 for none. Deadlines are on the clock since the start of the machine, canonical ones on the
 * steady clock; measured times are microseconds in the canonical shape.
 */
import { TIMING_NOT_MEASURED, type Timing } from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { notMeasured } from "@nnhal/utils";
import { hasFields, show, throwBroken } from "@nnhal/validation";

/** The clock of deadlines of AIDL. */
export interface BootClockOptions {
  /**
   * The time since the start of the machine, in nanoseconds, on the clock that goes on during suspension: that of the other side's
   * deadlines. Default: the steady clock, which the two are the same as on a machine that does not suspend.
   */
  readonly bootClock?: (() => bigint) | undefined;
}

/** Converts deadlines between the two clocks. */
export interface DeadlineConverter {
  /** The canonical deadline. Throws a RangeError for a value below -1, or none of 64 bits. */
  read(deadlineNs: bigint): bigint | undefined;
  write(deadline: bigint | undefined): bigint;
}

const none = -1n;

/** The greatest number of 64 bits with a sign. */
const greatest = 0x7fff_ffff_ffff_ffffn;

/** See `DeadlineConverter`. `now`: the steady clock. */
export function deadlineConverter({ bootClock }: BootClockOptions, now: () => bigint): DeadlineConverter {
  const shift = (time: bigint, from: () => bigint, to: () => bigint) => clamp(time - from() + to());
  return {
    read(deadlineNs) {
      const time = readDuration(deadlineNs, "deadlineNs");
      return time === undefined || bootClock === undefined ? time : shift(time, bootClock, now);
    },
    write(deadline) {
      if (deadline === undefined) return none;
      return bootClock === undefined ? clamp(deadline) : shift(deadline, now, bootClock);
    },
  };
}

/** A duration. Throws a RangeError for a value below -1, or none of 64 bits. `name`: the argument. */
export function readDuration(ns: bigint, name: string): bigint | undefined {
  const isTime = typeof ns === "bigint" && ns >= none && ns <= greatest;
  if (!isTime) throw new RangeError(`${name}: expected a bigint within [-1, 2^63 - 1], got ${show(ns)}`);
  return ns === none ? undefined : ns;
}

export function writeDuration(duration: bigint | undefined): bigint {
  return duration === undefined ? none : clamp(duration);
}

function clamp(time: bigint): bigint {
  if (time > greatest) return greatest;
  return time < 0n ? 0n : time;
}

/** Measured times: microseconds as nanoseconds. */
export function writeTiming({ timeOnDevice, timeInDriver }: Timing): AIDL1.Timing {
  const nanoseconds = (time: bigint) => (time === TIMING_NOT_MEASURED ? none : clamp(time * 1000n));
  return { timeOnDeviceNs: nanoseconds(timeOnDevice), timeInDriverNs: nanoseconds(timeInDriver) };
}

/** The times of an execution that has not succeeded. */
export const unknownTiming: AIDL1.Timing = { timeOnDeviceNs: none, timeInDriverNs: none };

/**
 * Measured times of a driver: nanoseconds as microseconds, rounded up. Throws for times below -1, and for more time on the device than in
 * the driver.
 */
export function readTiming(timing: AIDL1.Timing): Timing {
  if (!hasFields(timing)) return throwBroken(`answered ${show(timing)} as timing`);
  const { timeOnDeviceNs, timeInDriverNs } = timing;
  for (const time of [timeOnDeviceNs, timeInDriverNs]) {
    if (typeof time !== "bigint" || time < none) return throwBroken(`answered a time of ${show(time)} ns`);
  }
  if (timeInDriverNs !== none && timeOnDeviceNs > timeInDriverNs) {
    return throwBroken(`answered ${timeOnDeviceNs} ns on the device, more than ${timeInDriverNs} ns in the driver`);
  }
  const microseconds = (time: bigint) => (time === none ? TIMING_NOT_MEASURED : (time + 999n) / 1000n);
  if (timeOnDeviceNs === none && timeInDriverNs === none) return notMeasured;
  return { timeOnDevice: microseconds(timeOnDeviceNs), timeInDriver: microseconds(timeInDriverNs) };
}
