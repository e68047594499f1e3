/**
 * Points in time and durations as HAL 1.3 writes them: unions that may hold none. The device contract has optional
 * bigints instead.
 */

/** A deadline (HAL 1.3 OptionalTimePoint). */
export type OptionalTimePoint =
  | { readonly kind: "none" }
  /** On the steady clock. */
  | { readonly kind: "nanosecondsSinceEpoch"; readonly nanosecondsSinceEpoch: bigint };

/** A duration (HAL 1.3 OptionalTimeoutDuration). */
export type OptionalTimeoutDuration =
  | { readonly kind: "none" }
  | { readonly kind: "nanoseconds"; readonly nanoseconds: bigint };
