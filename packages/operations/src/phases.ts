/**
 * The work of a kernel as phases of units, and the one executor of phases: it cuts them into ranges of a few milliseconds and pauses
 * between. Kernels know neither pauses nor clocks.
 */

/**
 * A part of a kernel's work: units of about the same cost, such as elements, rows, lanes or pixels, numbered from 0. Phases run one after
 * the other.
 */
export interface Phase {
  /**
   * The number of units. Read before each range, so a getter may return what earlier phases have found, and units in turn may
   * find while they work how many there are.
   */
  readonly units: number;
  /** Computes the units from `first` up to but not including `end`. All ranges together compute each unit once. */
  compute(first: number, end: number): void;
  /** Steps of one unit, about as long as a multiply-add of a compiled loop. Default: 4, such as an element that is read, changed and stored. */
  readonly cost?: number;
  /** True if a unit needs the results of those before it. Otherwise ranges may be computed in any order. */
  readonly inTurn?: boolean;
  /**
   * True if threads may compute ranges at the same time, each with the kernel's scratch memory for itself: a unit writes elements of outputs
   * that no other phase and no other unit writes or reads. Only the last phase of a kernel is asked; each thread computes all before it.
   */
  readonly apart?: boolean;
}

/** An array, and the phases that fill it. */
export interface Filled<Data> {
  readonly data: Data;
  readonly phases: readonly Phase[];
}

/** Steps between two pauses: a few milliseconds, even before loops are compiled. */
export const STEPS_BETWEEN_PAUSES = 1 << 18;

/** The result of a kernel: nothing if the work is done, or the phases that do it. */
// biome-ignore lint/suspicious/noConfusingVoidType: a kernel that has done its work returns nothing
export type KernelResult = void | Phase | readonly Phase[];

/** The phases of a kernel's result, in their order. */
export function phasesOf(work: KernelResult): readonly Phase[] {
  if (work === undefined) return [];
  return "compute" in work ? [work] : work;
}

/** A phase of steps in turn, until one returns false: it had nothing to do. */
export function stepsInTurn(step: () => boolean, cost: number): Phase {
  let isDone = false;
  return {
    get units() {
      return isDone ? 0 : Number.POSITIVE_INFINITY;
    },
    cost,
    inTurn: true,
    compute(first, end) {
      for (let unit = first; unit < end && !isDone; unit++) isDone = !step();
    },
  };
}

/** Runs the work of a kernel, with a pause after every few milliseconds. */
export function* runInSteps(work: KernelResult): Generator<void, void> {
  let left = STEPS_BETWEEN_PAUSES;
  for (const phase of phasesOf(work)) {
    const { cost = 4 } = phase;
    for (let first = 0; first < phase.units; ) {
      if (left <= 0) {
        yield;
        left = STEPS_BETWEEN_PAUSES;
      }
      const end = Math.min(first + Math.max(1, Math.floor(left / cost)), phase.units);
      phase.compute(first, end);
      left -= (end - first) * cost;
      first = end;
    }
  }
}

/** Runs the work of a kernel if it is one phase that needs no pause. Returns false if it has not begun. */
export function runIfShort(work: KernelResult): boolean {
  const [phase, ...others] = phasesOf(work);
  if (phase === undefined) return true;
  const { units, cost = 4 } = phase;
  if (others.length > 0 || units * cost > STEPS_BETWEEN_PAUSES) return false;
  phase.compute(0, units);
  return true;
}

/** Runs the work of a kernel to its end at once. */
export function runToEnd(work: KernelResult): void {
  const steps = runInSteps(work);
  while (!steps.next().done);
}
