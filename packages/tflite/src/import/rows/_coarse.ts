/**
 * Scaling of 8-bit elements by TensorFlow Lite's engine in QUANTIZE and LEAKY_RELU: with multipliers of 8 bits after the point, halves up. It
 * is less exact than the ratio of the scales, and the difference goes in one direction. Here it is done in float, where all products are within a
 * fraction of a step of the exact ones.
 */
import { roundHalfEven } from "@nnhal/operations";
import { bytesOfFloat } from "../bytes.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8, type OperandSpec } from "../operand-types.ts";

const MULTIPLIER_STEPS = 2 ** 8;
const LEAST_RATIO = 2 ** -8;
const GREATEST_RATIO = 2 ** 7;

/** The multiplier for a ratio; undefined if TensorFlow Lite's engine does not take such types or ratios, so that the exact one is used. */
export function coarseMultiplier(from: OperandSpec, to: OperandSpec, ratio: number): number | undefined {
  if (!isQuant8(from.type) || !isQuant8(to.type)) return undefined;
  const magnitude = Math.abs(ratio);
  const isTaken = magnitude >= LEAST_RATIO && magnitude < GREATEST_RATIO;
  if (!isTaken) return undefined;
  return roundHalfEven(ratio * MULTIPLIER_STEPS) / MULTIPLIER_STEPS;
}

function floats(dimensions: readonly number[]): OperandSpec {
  return { type: "TENSOR_FLOAT32", dimensions, scale: 0, zeroPoint: 0 };
}

/** A constant of one element. */
export function floatConstant(op: Lowering, value: number): number {
  return op.graph.share(`TENSOR_FLOAT32 ${value}`, floats([1]), bytesOfFloat(value, "TENSOR_FLOAT32"));
}

/** The operator's input as real numbers, as `multiplier` makes steps of `to` of its own. */
export function scaleCoarsely(op: Lowering, from: OperandSpec, to: OperandSpec, multiplier: number): number {
  const factor = (multiplier * to.scale) / from.scale;
  if (factor === 1) return op.asFloat(0);
  const scaled = op.graph.temporary(floats(from.dimensions));
  op.emit("MUL", [op.asFloat(0), floatConstant(op, factor), op.int32(0)], [scaled]);
  return scaled;
}

/** Writes the operator's result from real numbers that are multiples of 1 / 256 of a step; halves go up. */
export function quantiseCoarsely(op: Lowering, real: number, to: OperandSpec): void {
  // A quarter of the distance between two products: halves go up, and nothing else changes.
  const raised = op.graph.temporary(floats(op.graph.spec(real).dimensions));
  op.emit("ADD", [real, floatConstant(op, to.scale / (4 * MULTIPLIER_STEPS)), op.int32(0)], [raised]);
  op.emit("QUANTIZE", [raised], [op.output()]);
}
