/**
 * Policies: the objectives of partitioning. `android` selects the best device for each operation by itself, as
 * Android's runtime does. `cost` also counts boundaries between devices.
 */

/** Costs in nanoseconds. Computing costs are for a device of performance 1. */
export interface CostModel {
  /** One multiply-add of a convolution or a matrix product. */
  readonly multiplyAdd: number;
  /** One multiply-add of a recurrent cell, which computes few at a time. */
  readonly recurrentMultiplyAdd: number;
  /** One multiply-add of a depthwise convolution, which reuses few values. */
  readonly depthwiseMultiplyAdd: number;
  /** One element that any other operation reads or writes. */
  readonly element: number;
  /** The same, for an element that must be requantised. */
  readonly quantisedElement: number;
  /**
   * The same, for an operation that computes a function of each element, such as TANH, or reads many for each, such as
   * a pooling.
   */
  readonly functionElement: number;
  /** Starting one operation, or one of the computations that a device makes of it, on any device. */
  readonly operation: number;
  /** One byte moved between two steps. */
  readonly byteMoved: number;
  /** Starting one step. */
  readonly step: number;
}

/** A policy. */
export interface Policy {
  readonly kind: "android" | "cost";
  readonly costs: CostModel;
}

/**
 * The default figures, rounded from measurements: the kernels of the reference device, a byte copied, and the call of a
 * device in the same thread with its validation and mapping.
 */
export const defaultCosts: CostModel = {
  multiplyAdd: 1,
  recurrentMultiplyAdd: 2,
  depthwiseMultiplyAdd: 3.5,
  element: 1,
  quantisedElement: 7,
  functionElement: 6,
  operation: 2000,
  byteMoved: 0.25,
  step: 10_000,
};

/** Counts boundaries; the default. */
export const costPolicy: Policy = { kind: "cost", costs: defaultCosts };

/** Decides as Android's runtime does. */
export const androidPolicy: Policy = { kind: "android", costs: defaultCosts };
