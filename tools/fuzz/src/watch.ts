/** Tells an input that hangs from a machine that is busy, or a process that is stopped. */

/** Findings of a look at the process that runs inputs. */
export interface Look {
  /** The input that was begun last, from 1; 0: none. */
  readonly number: number;
  /** Processor time of the process in ms. */
  readonly cpu: number;
  /** The process waits for something, and not for the processor; nor is it stopped. */
  readonly isWaiting: boolean;
}

/** Limits in milliseconds. */
export interface WatchLimits {
  /** Processor time of an input. */
  readonly cpuLimit: number;
  /** Without an answer, while the process waits and does not use the processor. */
  readonly silenceLimit: number;
  /** From one look to the next. */
  readonly lookEvery: number;
}

/** A function that is called with each look, and returns why the current input counts as a hang; undefined if it does not. */
export function createWatch({ cpuLimit, silenceLimit, lookEvery }: WatchLimits): (look: Look) => string | undefined {
  let before: Look = { number: -1, cpu: 0, isWaiting: false };
  let cpuBefore = 0;
  /** Looks are counted, not the time between them: a machine that sleeps, or two stopped processes, must not count as a hang. */
  let idle = 0;
  return (look) => {
    const { number, cpu, isWaiting } = look;
    idle = isWaiting && number === before.number && cpu === before.cpu ? idle + lookEvery : 0;
    if (number !== before.number) cpuBefore = cpu;
    before = look;
    if (number <= 0) return undefined;
    const used = cpu - cpuBefore;
    // The process itself reports what takes a little longer than the limit.
    if (used > 2 * cpuLimit) return `it has used ${used} ms of processor time, and has not ended`;
    return idle > silenceLimit ? `there is no answer after ${silenceLimit} ms` : undefined;
  };
}
