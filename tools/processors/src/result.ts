/** Result of one check on one processor. */

/** Counts, and what failed in words: the first of it. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Cases that a device refuses, with a reason, or a test leaves out. */
  readonly skipped: number;
  readonly problems: readonly string[];
}
