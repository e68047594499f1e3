/** The parts of the plan that kernels read beside their step. */

/** The regions of a plan. */
export interface Regions {
  /** Where a region begins. */
  address(region: number): number;
  /** Threads that may compute units at the same time. If there are several, functions have the number of theirs as a third parameter. */
  readonly threads: number;
  /** True if products of floats may be added without rounding them first. */
  readonly relaxed: boolean;
  /** See `Plan`. */
  readonly isWide: boolean;
}

/** The third parameter. */
export const threadLocal = 2;
