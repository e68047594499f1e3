/**
 * Walks two tensors side by side, each with its own steps: the loop under every operation that moves, repeats or reduces
 * elements.
 */
import type { Phase } from "../phases.ts";
import { extentProduct } from "../shape.ts";

/** The first index of a walk through a tensor's elements, and the step along each axis. */
export interface Steps {
  readonly start: number;
  readonly steps: readonly number[];
}

/** One side of a run of elements: its first index and its step. */
export interface Run {
  at: number;
  step: number;
}

/** Visits a run of elements along the last axis. */
export type Visit = (left: Readonly<Run>, right: Readonly<Run>, length: number) => void;

/**
 * Calls `visit` for each run of elements along the last axis, axes before it in row-major order. The two records are the
 * same ones at every call. Units are elements.
 */
export function walk(extents: readonly number[], left: Steps, right: Steps, visit: Visit): Phase {
  const axes = joinAxes(extents, left.steps, right.steps);
  return {
    units: extentProduct(extents, 0),
    compute: (first, end) => walkRange(axes, left.start, right.start, visit, first, end),
  };
}

/** Visits the elements [first, end), counted in row-major order. */
function walkRange(
  axes: readonly Axis[],
  leftStart: number,
  rightStart: number,
  visit: Visit,
  first: number,
  end: number,
): void {
  const inner = axes[axes.length - 1];
  const position = positionOf(first, axes);
  const leftRun = { at: leftStart, step: inner.left };
  const rightRun = { at: rightStart, step: inner.right };
  axes.forEach((axis, index) => {
    leftRun.at += position[index] * axis.left;
    rightRun.at += position[index] * axis.right;
  });
  let within = position[axes.length - 1];
  for (let done = first; done < end; ) {
    const length = Math.min(inner.extent - within, end - done);
    visit(leftRun, rightRun, length);
    leftRun.at -= within * inner.left;
    rightRun.at -= within * inner.right;
    within = 0;
    done += length;
    for (let axis = axes.length - 2; axis >= 0; axis--) {
      const { extent, left, right } = axes[axis];
      leftRun.at += left;
      rightRun.at += right;
      if (++position[axis] < extent) break;
      leftRun.at -= left * extent;
      rightRun.at -= right * extent;
      position[axis] = 0;
    }
  }
}

/** The indexes along each axis of an element, counted in row-major order. */
function positionOf(element: number, axes: readonly Axis[]): number[] {
  const position = new Array<number>(axes.length);
  for (let axis = axes.length - 1, rest = element; axis >= 0; axis--) {
    position[axis] = rest % axes[axis].extent;
    rest = Math.floor(rest / axes[axis].extent);
  }
  return position;
}

/** An axis of a walk. */
interface Axis {
  extent: number;
  left: number;
  right: number;
}

/** The axes without those of extent 1; neighbours that both sides step through evenly become one. Never empty. */
function joinAxes(extents: readonly number[], left: readonly number[], right: readonly number[]): readonly Axis[] {
  const axes: Axis[] = [];
  extents.forEach((extent, index) => {
    if (extent === 1) return;
    const outer = axes.at(-1);
    if (outer !== undefined && outer.left === left[index] * extent && outer.right === right[index] * extent) {
      outer.extent *= extent;
      outer.left = left[index];
      outer.right = right[index];
    } else axes.push({ extent, left: left[index], right: right[index] });
  });
  return axes.length === 0 ? [{ extent: 1, left: 0, right: 0 }] : axes;
}
