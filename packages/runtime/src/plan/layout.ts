/**
 * The layout of the temporaries between steps in one region of memory: two share a place if one is read for the last time
 * before the other is written.
 */

import { elementAt } from "@nnhal/operations";

/** A temporary's size in bytes and the levels in which it is alive, both included. */
export interface Lifetime {
  readonly operand: number;
  readonly size: number;
  readonly first: number;
  readonly last: number;
}

/** Offsets of temporaries in a region. */
export interface Layout {
  /** Size of the region in bytes. */
  readonly size: number;
  /** By operand. */
  readonly offsets: ReadonlyMap<number, number>;
  /** Least size that any layout could have: the greatest total size of values alive at the same time. */
  readonly lowerBound: number;
}

/** Every temporary starts at a multiple of this, enough for any element type and for vector loads. */
const ALIGNMENT = 16;

/** An unused part of the region. */
interface Gap {
  offset: number;
  size: number;
}

/** With more temporaries, the layout that takes quadratic time is not tried. */
const MOST_FOR_LARGEST_FIRST = 4096;

/** Lays temporaries out in order of time or, if that leaves gaps, in order of size. */
export function layOut(lifetimes: readonly Lifetime[]): Layout {
  const aligned = lifetimes.map((one) => ({
    ...one,
    size: Math.ceil(Math.max(one.size, 1) / ALIGNMENT) * ALIGNMENT,
  }));
  const inTime = layOutInTime(aligned);
  if (inTime.size === inTime.lowerBound || aligned.length > MOST_FOR_LARGEST_FIRST) return inTime;
  const largestFirst = layOutLargestFirst(aligned);
  return largestFirst.size < inTime.size ? { ...largestFirst, lowerBound: inTime.lowerBound } : inTime;
}

/** The largest first, each at the lowest place where nothing lies that is alive at the same time. */
function layOutLargestFirst(lifetimes: readonly Lifetime[]): Omit<Layout, "lowerBound"> {
  const placed: (Lifetime & { readonly offset: number })[] = [];
  const offsets = new Map<number, number>();
  let end = 0;
  for (const one of [...lifetimes].sort((a, b) => b.size - a.size || a.first - b.first)) {
    let offset = 0;
    // `placed` is in the order of offsets.
    for (const other of placed) {
      if (other.last < one.first || one.last < other.first) continue;
      if (other.offset >= offset + one.size) break;
      offset = Math.max(offset, other.offset + other.size);
    }
    const behind = placed.findIndex((other) => other.offset > offset);
    placed.splice(behind < 0 ? placed.length : behind, 0, { ...one, offset });
    offsets.set(one.operand, offset);
    end = Math.max(end, offset + one.size);
  }
  return { size: end, offsets };
}

/** In order of time, each in the smallest gap that is large enough, else at the end. */
function layOutInTime(lifetimes: readonly Lifetime[]): Layout {
  const offsets = new Map<number, number>();
  const gaps: Gap[] = [];
  const alive: { readonly last: number; readonly offset: number; readonly size: number }[] = [];
  let end = 0;
  let live = 0;
  let lowerBound = 0;
  const inOrder = [...lifetimes].sort((a, b) => a.first - b.first || b.size - a.size);
  for (const { operand, size, first, last } of inOrder) {
    for (let index = alive.length - 1; index >= 0; index--) {
      const other = elementAt(alive, index);
      if (other.last >= first) continue;
      alive[index] = elementAt(alive, alive.length - 1);
      alive.pop();
      release(gaps, other);
      live -= other.size;
    }
    // A gap at the very end can grow.
    const fitting = gaps.filter((gap) => gap.size >= size);
    const atEnd = gaps.find((gap) => gap.offset + gap.size === end);
    const gap = fitting.reduce<Gap | undefined>((a, b) => (a === undefined || b.size < a.size ? b : a), undefined);
    let offset: number;
    if (gap !== undefined) {
      offset = gap.offset;
      gap.offset += size;
      gap.size -= size;
      if (gap.size === 0) gaps.splice(gaps.indexOf(gap), 1);
    } else if (atEnd !== undefined) {
      offset = atEnd.offset;
      end = offset + size;
      gaps.splice(gaps.indexOf(atEnd), 1);
    } else {
      offset = end;
      end += size;
    }
    offsets.set(operand, offset);
    alive.push({ last, offset, size });
    live += size;
    lowerBound = Math.max(lowerBound, live);
  }
  return { size: end, offsets, lowerBound };
}

/** Frees a range as a gap, merged with adjacent gaps. */
function release(gaps: Gap[], place: { readonly offset: number; readonly size: number }): void {
  const gap = { ...place };
  for (let index = gaps.length - 1; index >= 0; index--) {
    const other = elementAt(gaps, index);
    if (other.offset + other.size === gap.offset) gap.offset = other.offset;
    else if (gap.offset + gap.size !== other.offset) continue;
    gap.size += other.size;
    gaps.splice(index, 1);
  }
  gaps.push(gap);
}
