/**
 * Descriptions of a random operand list before its elements are drawn: shapes, scalars, and the elements that matter to the
 * shape of the result.
 */
import type { OperandTypeName } from "@nnhal/types";
import type { Random } from "./random.ts";

/** A tensor: its shape and other required facts. Absent ones are drawn at random for its type. */
export interface WantedTensor {
  readonly dimensions: readonly number[];
  /** The elements as stored. */
  readonly values?: readonly number[];
  /** The elements as real numbers, to be quantised where the type is. */
  readonly reals?: readonly number[];
  readonly scale?: number;
  readonly zeroPoint?: number;
  /** The dimension that per-channel scales belong to. Default: 0. */
  readonly channelDim?: number;
}

/** An argument: one tensor, those of a variadic parameter, a scalar, or undefined if it is omitted. */
export type Wanted = WantedTensor | readonly WantedTensor[] | number | boolean | undefined;

/** Arguments by parameter name. */
export type WantedArguments = Readonly<Record<string, Wanted>>;

/** The operand list and random source that plausible arguments are drawn for. */
export interface Draw extends Random {
  /** Returns true if the operand list has a parameter. */
  has(param: string): boolean;
  /** The type of a parameter, an output's included. */
  typeOf(param: string): OperandTypeName;
  /** Returns the number of operands of a variadic parameter. */
  countOf(param: string): number;
  /** A small extent, rarely 0. */
  extent(): number;
  /** A small shape whose rank is within bounds. */
  shape(leastRank?: number, greatestRank?: number): number[];
  /** A scale for a quantised type. */
  scale(): number;
  /** The shape of a tensor that is there already, if it has this rank: the operation should take it. Absent: there is none. */
  offerShape?(rank: number): readonly number[] | undefined;
}

/** Draws arguments that an operation should be able to compute. Those it leaves out are drawn by their names. */
export type Plausible = (draw: Draw) => WantedArguments;

/** Returns true if an argument is a tensor's. */
export function isWantedTensor(wanted: Wanted): wanted is WantedTensor {
  return typeof wanted === "object" && "dimensions" in wanted;
}
