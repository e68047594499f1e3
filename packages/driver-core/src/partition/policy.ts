/**
 * Policies: what partitioning minimises. `android` takes the best device of each operation by itself, as Android's
 * runtime does. `cost` also counts what a boundary between devices costs.
 */

/** What things cost, in nanoseconds; only ratios matter. */
export interface CostModel {
  /** One multiply-add on a device of performance 1. */
  readonly multiplyAdd: number;
  /** One byte moved between two steps. */
  readonly byteMoved: number;
  /** Starting one step. */
  readonly step: number;
}

/** How to decide. */
export interface Policy {
  readonly kind: "android" | "cost";
  readonly costs: CostModel;
}

/**
 * The default figures: a multiply-add of a plain CPU kernel, a byte copied, and the call of a device in the same thread
 * with its validation and mapping, rounded from measurements of the reference device.
 */
export const defaultCosts: CostModel = { multiplyAdd: 1, byteMoved: 0.25, step: 10_000 };

/** Counts boundaries; the default. */
export const costPolicy: Policy = { kind: "cost", costs: defaultCosts };

/** As Android's runtime decides. */
export const androidPolicy: Policy = { kind: "android", costs: defaultCosts };
