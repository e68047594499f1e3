/**
 * Policies: what partitioning minimises. `android` takes the best device of each operation by itself, as Android's
 * runtime does. `cost` also counts what a boundary between devices costs.
 */

/** What things cost, in nanoseconds. Those of computing are for a device of performance 1. */
export interface CostModel {
  /** One multiply-add of a convolution or a matrix product. */
  readonly multiplyAdd: number;
  /** One multiply-add of a recurrent cell, for few at a time. */
  readonly recurrentMultiplyAdd: number;
  /** One multiply-add of a depthwise convolution, which has little to use again. */
  readonly depthwiseMultiplyAdd: number;
  /** One element that any other operation reads or writes. */
  readonly element: number;
  /** The same, where it has to be requantised. */
  readonly quantisedElement: number;
  /** The same, of an operation that computes a function of each, such as TANH, or looks at many for each, such as a pooling. */
  readonly functionElement: number;
  /** Starting one operation, or one of the computations that a device makes of it, on any device. */
  readonly operation: number;
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

/** As Android's runtime decides. */
export const androidPolicy: Policy = { kind: "android", costs: defaultCosts };
