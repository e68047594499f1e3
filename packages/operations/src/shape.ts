/**
 * Arithmetic of shapes: strides, axes, broadcasting, and combining two descriptions of the same shape.
 */
import { ensure, OperationError } from "./fail.ts";

/** Most axes that a message writes; a hostile model may have millions. */
const mostShown = 16;

/** Most elements that one operand may have (HAL: sizes are 32-bit). */
const MOST_ELEMENTS = 2 ** 32 - 1;

/** `8x3x3x2`, or `scalar`; how messages write a shape. */
export function formatShape(dimensions: readonly number[]): string {
  if (dimensions.length === 0) return "scalar";
  if (dimensions.length <= mostShown) return dimensions.join("x");
  return `${dimensions.slice(0, mostShown).join("x")}x… (${dimensions.length} axes)`;
}

/** Returns whether two shapes are the same. */
export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let axis = 0; axis < a.length; axis++) if (a[axis] !== b[axis]) return false;
  return true;
}

/** Throws an OperationError if a tensor has another shape; an omitted one passes. `name`: its name in messages, with the article. */
export function ensureShape(
  name: string,
  tensor: { readonly dimensions: readonly number[] } | undefined,
  needed: readonly number[],
): void {
  if (tensor === undefined) return;
  const { dimensions } = tensor;
  ensure(
    sameShape(dimensions, needed),
    () => `the shape of ${name}: expected ${formatShape(needed)}, got ${formatShape(dimensions)}`,
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
 * Two descriptions of one shape combined (HAL combineDimensions): an unknown rank or extent is replaced by the other's. Undefined if
 * they contradict each other.
 */
export function combineDimensions(a: readonly number[], b: readonly number[]): readonly number[] | undefined {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  if (a.length !== b.length) return undefined;
  const combined = a.map((extent, axis) => extent || b[axis]);
  return combined.every((extent, axis) => b[axis] === 0 || extent === b[axis]) ? combined : undefined;
}

/**
 * The actual shape of an operand, checked against its declaration: an unknown rank ([]) or extent (0) allows any. Throws
 * OperationError if the two contradict each other, or if the shape is too large.
 */
export function refineDimensions(
  index: number,
  known: readonly number[],
  actual: readonly number[],
): readonly number[] {
  // Called for each output of each run: it leaves nothing to collect.
  const { length } = known;
  let agrees = length === 0 || length === actual.length;
  let isShape = true;
  let count = 1;
  for (let axis = 0; axis < actual.length; axis++) {
    const extent = actual[axis];
    if (length > 0 && known[axis] !== 0 && known[axis] !== extent) agrees = false;
    if (!Number.isInteger(extent) || extent < 0) isShape = false;
    count *= extent;
  }
  if (agrees && isShape && count <= MOST_ELEMENTS) return actual;
  const shape = formatShape(actual);
  if (!agrees)
    throw new OperationError(
      `operand ${index} is declared as ${formatShape(known)}, but the result has shape ${shape}`,
    );
  if (!isShape) throw new OperationError(`operand ${index} would have shape ${shape}`);
  throw new OperationError(`operand ${index} would have ${count} elements, more than 2^32 - 1`);
}
