/**
 * Arithmetic of shapes: strides, axes, broadcasting, and combining what two sources know of the same shape.
 */
import { ensure, OperationError } from "./fail.ts";

/** `8x3x3x2`, or `scalar`; how messages write a shape. */
export function formatShape(dimensions: readonly number[]): string {
  return dimensions.length === 0 ? "scalar" : dimensions.join("x");
}

/** Whether two shapes are the same. */
export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((extent, axis) => extent === b[axis]);
}

/** Refuses a tensor of another shape; one that is omitted passes. `name`: what it is, with its article. */
export function ensureShape(
  name: string,
  tensor: { readonly dimensions: readonly number[] } | undefined,
  needed: readonly number[],
): void {
  if (tensor === undefined) return;
  const { dimensions } = tensor;
  ensure(
    sameShape(dimensions, needed),
    () => `the shape of ${name} is ${formatShape(dimensions)} where ${formatShape(needed)} is needed`,
  );
}

/** Row-major strides in elements. */
export function stridesOf(dimensions: readonly number[]): number[] {
  const strides = new Array<number>(dimensions.length);
  let stride = 1;
  for (let axis = dimensions.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= dimensions[axis];
  }
  return strides;
}

/** An axis in [-rank, rank) as one in [0, rank). */
export function resolveAxis(axis: number, rank: number): number {
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank) {
    throw new OperationError(`axis ${axis} is outside [-${rank}, ${rank})`);
  }
  return axis < 0 ? axis + rank : axis;
}

/** The product of the extents in [begin, end). */
export function extentProduct(dimensions: readonly number[], begin: number, end = dimensions.length): number {
  let product = 1;
  for (let axis = begin; axis < end; axis++) product *= dimensions[axis];
  return product;
}

/**
 * The shape that two shapes broadcast to: aligned at the last axis, extents are equal or one of them is 1 (HAL: "two
 * dimensions are compatible").
 */
export function broadcastShape(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  const result = new Array<number>(rank);
  for (let axis = 0; axis < rank; axis++) {
    const left = a[axis - (rank - a.length)] ?? 1;
    const right = b[axis - (rank - b.length)] ?? 1;
    if (left !== right && left !== 1 && right !== 1) {
      throw new OperationError(`shapes ${formatShape(a)} and ${formatShape(b)} do not broadcast`);
    }
    result[axis] = left === 1 ? right : left;
  }
  return result;
}

/**
 * What two sources know of one shape taken together (HAL combineDimensions): an unknown rank or extent yields to the
 * other's. Undefined where they contradict each other.
 */
export function combineDimensions(a: readonly number[], b: readonly number[]): readonly number[] | undefined {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  if (a.length !== b.length) return undefined;
  const combined = a.map((extent, axis) => extent || b[axis]);
  return combined.every((extent, axis) => b[axis] === 0 || extent === b[axis]) ? combined : undefined;
}
