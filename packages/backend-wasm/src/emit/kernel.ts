/** What kernels know of the plan around their step. */

/** The regions of a plan. */
export interface Regions {
  /** Where a region begins. */
  address(region: number): number;
}
