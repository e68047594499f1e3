/**
 * An execution's arguments and results (HAL Request, OutputShape, Timing).
 */
import type { RequestMemoryPool } from "./memory.ts";
import type { DataLocation } from "./model.ts";

/** One input or output of an execution (HAL RequestArgument). */
export interface RequestArgument {
  /** The argument is omitted: location all 0, no dimensions. */
  readonly hasNoValue: boolean;
  /** Where the bytes lie in `Request.pools`. Offset and length 0 on a token pool: the whole buffer. */
  readonly location: DataLocation;
  /** Extents that refine those of the model's operand; empty: the model's own. */
  readonly dimensions: readonly number[];
}

/** Arguments of one execution (HAL 1.3 Request). */
export interface Request {
  /** One for each of the main subgraph's inputs, in order. */
  readonly inputs: readonly RequestArgument[];
  /** One for each of the main subgraph's outputs, in order. */
  readonly outputs: readonly RequestArgument[];
  readonly pools: readonly RequestMemoryPool[];
}

/** The shape of an output after an execution (HAL 1.2 OutputShape). */
export interface OutputShape {
  readonly dimensions: readonly number[];
  /** True if the caller's buffer could hold the output. */
  readonly isSufficient: boolean;
}

/** Durations of an execution in microseconds; `TIMING_NOT_MEASURED` if unknown (HAL 1.2 Timing). */
export interface Timing {
  /** Time on the device alone. */
  readonly timeOnDevice: bigint;
  /** Time in the driver, the device's included. */
  readonly timeInDriver: bigint;
}
