/**
 * The work of one kernel, divided: ranges of its last phase, which the first thread and the others take until none is left. The first thread pauses
 * between its ranges, so that the event loop goes on; the others do not wait for it.
 */
import { type Phase, runInSteps, STEPS_BETWEEN_PAUSES } from "@nnhal/operations";
import { mostRanges, words } from "../helper/words.ts";

/** The first thread's view of work that others share. One kernel at a time. */
export interface Division {
  isBusy(): boolean;
  /** True while threads still compute ranges of work that was given up. */
  isAstray(): boolean;
  /**
   * Computes the phases of a kernel. `pieces`: the numbers of its tensors' memory. Returns false if a thread could not compute a range. If the computation is
   * ended, or this thread throws, other threads end the ranges that they have.
   */
  compute(
    kernel: number,
    pieces: readonly number[],
    before: readonly Phase[],
    last: Phase,
  ): Generator<void, boolean, void>;
}

/** Ranges of a phase for each thread: a thread that is late, or slow, leaves its ranges to the others. */
const rangesPerThread = 24;

/** Looks at the number of ranges that are done, before the first thread sleeps: some ten microseconds. */
const looks = 4000;

/** Milliseconds for which the first thread sleeps at a time. */
const doze = 1;

/** Lets threads that sleep look for work, or for a message. */
export function wake(control: Int32Array<SharedArrayBuffer>): void {
  Atomics.add(control, words.signal, 1);
  if (Atomics.load(control, words.sleeping) > 0) Atomics.notify(control, words.signal);
}

/** `check`: called while this thread waits for others; throws if they cannot be waited for. `idle`: milliseconds since the last range was done. */
export function createDivision(
  control: Int32Array<SharedArrayBuffer>,
  threads: number,
  check: (idle: number) => void,
): Division {
  let task = 0;
  let sequence = 0;
  let isBusy = false;
  /** Ranges of work that was given up, which were taken. */
  let abandoned = 0;

  function offer(begin: number, end: number, perRange: number, ranges: number): void {
    control[words.begin] = begin;
    control[words.end] = end;
    control[words.perRange] = perRange;
    Atomics.store(control, words.done, 0);
    sequence = (sequence + mostRanges + 1) | 0;
    Atomics.store(control, words.left, sequence | ranges);
    wake(control);
  }

  function* waitFor(ranges: number): Generator<void, void, void> {
    let known = -1;
    let since = 0;
    while (!isDone(control, ranges)) {
      const done = Atomics.load(control, words.done);
      const now = performance.now();
      if (done !== known) [known, since] = [done, now];
      check(now - since);
      yield;
    }
  }

  return {
    isBusy: () => isBusy,
    isAstray: () => !isBusy && Atomics.load(control, words.done) < abandoned,
    *compute(kernel, pieces, before, last) {
      const { cost = 4, units } = last;
      const quick = Math.floor(STEPS_BETWEEN_PAUSES / cost);
      const perRange = Math.max(1, Math.min(quick, Math.ceil(units / (rangesPerThread * threads))));
      isBusy = true;
      control[words.kernel] = kernel;
      control[words.task] = ++task;
      control[words.failed] = 0;
      control.set(pieces, words.pieces);
      let ranges = 0;
      let isWhole = false;
      try {
        for (let begin = 0, end = 0; begin < units; begin = end) {
          ranges = Math.min(mostRanges, Math.ceil((units - begin) / perRange));
          end = Math.min(begin + ranges * perRange, units);
          offer(begin, end, perRange, ranges);
          if (begin === 0) yield* runInSteps(before);
          yield* computeRanges(control, last, begin, end, perRange);
          yield* waitFor(ranges);
        }
        isWhole = true;
        return Atomics.load(control, words.failed) === 0;
      } finally {
        const left = Atomics.and(control, words.left, ~mostRanges) & mostRanges;
        abandoned = isWhole ? 0 : ranges - left;
        isBusy = false;
      }
    },
  };
}

/** Computes ranges until none is left. */
function* computeRanges(
  control: Int32Array<SharedArrayBuffer>,
  phase: Phase,
  begin: number,
  end: number,
  perRange: number,
): Generator<void, void, void> {
  const { cost = 4 } = phase;
  let left = STEPS_BETWEEN_PAUSES;
  for (let range = takeRange(control); range > 0; range = takeRange(control)) {
    const first = begin + (range - 1) * perRange;
    const last = Math.min(first + perRange, end);
    try {
      phase.compute(first, last);
    } finally {
      Atomics.add(control, words.done, 1);
    }
    left -= (last - first) * cost;
    if (left > 0) continue;
    yield;
    left = STEPS_BETWEEN_PAUSES;
  }
}

/** The number of a range that this thread has taken; 0 if none is left. */
function takeRange(control: Int32Array<SharedArrayBuffer>): number {
  for (;;) {
    const left = Atomics.load(control, words.left);
    const range = left & mostRanges;
    if (range === 0 || Atomics.compareExchange(control, words.left, left, left - 1) === left) return range;
  }
}

/** Returns true if all ranges are done; else after a moment, in which this thread sleeps if it may: that of a page must not. */
function isDone(control: Int32Array<SharedArrayBuffer>, ranges: number): boolean {
  for (let look = 0; look < looks; look++) if (Atomics.load(control, words.done) === ranges) return true;
  Atomics.store(control, words.waiting, 1);
  try {
    const done = Atomics.load(control, words.done);
    if (done !== ranges) Atomics.wait(control, words.done, done, doze);
  } catch {
    // A page looks again after a pause.
  } finally {
    Atomics.store(control, words.waiting, 0);
  }
  return Atomics.load(control, words.done) === ranges;
}
