/** The settings of an execution, and the options of the device's call that they become. */
import { type ExecuteOptions, type Hints, MeasureTiming, type StopSignal } from "@nnhal/types";
import { makeDeadline } from "@nnhal/utils";

/** See the file's head. Durations are nanoseconds. */
export class ExecutionSettings {
  measure = false;
  /** True if the execution may be computed again. */
  reusable = false;
  timeout: bigint | undefined;
  loopTimeout: bigint | undefined;
  signal: StopSignal | undefined;
  /** For the driver. */
  hints: Hints | undefined;

  /** The options of a run that starts now, on a clock. */
  options(now: () => bigint): ExecuteOptions {
    const { measure, timeout, loopTimeout, signal, hints } = this;
    const isTimed = timeout !== undefined || loopTimeout !== undefined;
    if (!isTimed && signal === undefined && hints === undefined && !measure) return notMeasuring;
    const deadline = makeDeadline(timeout, now());
    return {
      measure: measure ? MeasureTiming.YES : MeasureTiming.NO,
      ...(deadline !== undefined && { deadline }),
      ...(loopTimeout !== undefined && { loopTimeoutDuration: loopTimeout }),
      ...(signal !== undefined && { signal }),
      ...(hints !== undefined && { hints }),
    };
  }
}

/** The options of executions without any. */
const notMeasuring: ExecuteOptions = { measure: MeasureTiming.NO };
