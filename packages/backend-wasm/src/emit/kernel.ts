/** The parts of the plan that kernels read beside their step. */

/** The regions of a plan. */
export interface Regions {
  /** Where a region begins. */
  address(region: number): number;
}
