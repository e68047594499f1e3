/**
 * Lanes: the elements of a tensor along one axis.
 */
import { type Phase, STEPS_BETWEEN_PAUSES } from "../phases.ts";
import { extentProduct } from "../shape.ts";
import type { TensorData } from "../tensor.ts";

/** The lanes of a tensor along an axis, in row-major order of the other axes. */
export interface Lanes {
  readonly count: number;
  /** Elements of a lane. */
  readonly length: number;
  /** The distance between two elements of a lane. */
  readonly step: number;
}

/** The lanes along an axis. */
export function lanesOf(dimensions: readonly number[], axis: number): Lanes {
  const step = extentProduct(dimensions, axis + 1);
  return { count: extentProduct(dimensions, 0, axis) * step, length: dimensions[axis], step };
}

/** A piece of a lane. */
export interface Piece {
  /** The index of its first element. */
  readonly from: number;
  /** The index of the first element behind it. */
  readonly to: number;
  /** The distance between two elements. */
  readonly step: number;
  /** The index of the lane's first element. */
  readonly start: number;
  /** The number of the lane. */
  readonly lane: number;
}

/**
 * Goes over the elements of a piece, in their order, and returns what it has found so far, such as a sum. `found`: the results of the passes of
 * this lane, its own being that of the pieces before; undefined at the first.
 */
export type Pass = (piece: Piece, found: readonly number[]) => number | undefined;

/**
 * Computes each lane in passes, of which one ends before the next begins. `cost`: of an element in all passes. A unit is a lane, or in longer lanes
 * a piece of one in a pass.
 */
export function computeLanes(lanes: Lanes, cost: number, passes: readonly Pass[]): Phase {
  const { count, length } = lanes;
  const pieces = Math.ceil((length * cost) / STEPS_BETWEEN_PAUSES);
  if (pieces > 1) return computePieces(lanes, cost, passes, pieces);
  const compute = (first: number, end: number) => {
    for (let lane = first; lane < end; lane++) {
      const piece = pieceOf(lanes, lane, 0, length);
      const found: number[] = [];
      for (let pass = 0; pass < passes.length; pass++) found[pass] = passes[pass](piece, found) ?? 0;
    }
  };
  return { units: count, cost: length * cost, inTurn: false, apart: true, compute };
}

/** The same for long lanes, which are cut. */
function computePieces(lanes: Lanes, cost: number, passes: readonly Pass[], pieces: number): Phase {
  const { count, length } = lanes;
  const inPiece = Math.ceil(length / pieces);
  const units = pieces * passes.length;
  const found: number[] = [];
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      if (unit % units === 0) found.length = 0;
      const pass = Math.floor((unit % units) / pieces);
      const from = (unit % pieces) * inPiece;
      const piece = pieceOf(lanes, Math.floor(unit / units), from, Math.min(from + inPiece, length));
      found[pass] = passes[pass](piece, found) ?? 0;
    }
  };
  return { units: count * units, cost: (length * cost) / units, inTurn: true, compute };
}

/** The elements [from, to) of a lane. */
function pieceOf({ length, step }: Lanes, lane: number, from: number, to: number): Piece {
  const start = step === 1 ? lane * length : Math.floor(lane / step) * step * length + (lane % step);
  return { from: start + from * step, to: start + to * step, step, start, lane };
}

/** max(greatest, x) */
export function greatestOf(x: TensorData, { from, to, step }: Piece, greatest = Number.NEGATIVE_INFINITY): number {
  let result = greatest;
  for (let at = from; at < to; at += step) result = Math.max(result, x[at]);
  return result;
}

/** sum + Σ exp(beta · (x − most)). Writes the exponentials of the lane, if they are wanted. */
export function addExponentials(x: TensorData, beta: number, most: number, piece: Piece, sum = 0, into?: Float64Array) {
  const { from, to, step, start } = piece;
  let result = sum;
  for (let at = from; at < to; at += step) {
    const exponential = Math.exp((x[at] - most) * beta);
    if (into !== undefined) into[(at - start) / step] = exponential;
    result += exponential;
  }
  return result;
}
