/**
 * Walks two tensors side by side, each with its own steps: the loop under every operation that moves, repeats or reduces
 * elements.
 */
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";

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

/**
 * Calls `visit` for each run of elements along the last axis, axes before it in row-major order. The two records are the
 * same ones at every call. Pauses every few milliseconds.
 */
export function* walk(
  extents: readonly number[],
  left: Steps,
  right: Steps,
  visit: (left: Readonly<Run>, right: Readonly<Run>, length: number) => void,
): Generator<void, void> {
  if (extents.includes(0)) return;
  const axes = joinAxes(extents, left.steps, right.steps);
  const last = axes.length - 1;
  const inner = axes[last];
  const position = new Array<number>(last).fill(0);
  const leftRun = { at: left.start, step: inner.left };
  const rightRun = { at: right.start, step: inner.right };
  let work = 0;
  for (;;) {
    for (let done = 0; done < inner.extent; ) {
      const length = Math.min(inner.extent - done, WORK_BETWEEN_PAUSES);
      visit(leftRun, rightRun, length);
      leftRun.at += length * inner.left;
      rightRun.at += length * inner.right;
      done += length;
      work += length;
      if (work >= WORK_BETWEEN_PAUSES) {
        work = 0;
        yield;
      }
    }
    leftRun.at -= inner.extent * inner.left;
    rightRun.at -= inner.extent * inner.right;
    let axis = last - 1;
    for (; axis >= 0; axis--) {
      const { extent, left: leftStep, right: rightStep } = axes[axis];
      leftRun.at += leftStep;
      rightRun.at += rightStep;
      if (++position[axis] < extent) break;
      leftRun.at -= leftStep * extent;
      rightRun.at -= rightStep * extent;
      position[axis] = 0;
    }
    if (axis < 0) return;
  }
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
