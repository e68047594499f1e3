/**
 * Copying and filling of many elements.
 */
import type { Phase } from "../phases.ts";
import type { TensorData } from "../tensor.ts";

/** Much quicker than computing. */
const cost = 1 / 4;

/** target[at + i] = source[i] */
export function copyElements(source: ArrayLike<number> & Sliceable, target: TensorData, at = 0): Phase {
  return {
    units: source.length,
    cost,
    compute: (first, end) => target.set(source.subarray(first, end), at + first),
  };
}

/** target[i] = value */
export function fillElements<Element>(target: Fillable<Element>, value: Element): Phase {
  return { units: target.length, cost, compute: (first, end) => target.fill(value, first, end) };
}

/** The common methods of typed arrays. */
interface Sliceable {
  subarray(begin: number, end: number): ArrayLike<number>;
}
interface Fillable<Element> {
  readonly length: number;
  fill(value: Element, first: number, end: number): void;
}
