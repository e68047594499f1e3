/** Loops over places, with as few axes as possible. */

/** Loops, and for each operand its steps. */
export interface Merged {
  readonly loops: readonly number[];
  readonly steps: readonly (readonly number[])[];
}

/** Leaves out axes of extent 1, and joins neighbours over which all operands go in even steps. At least one loop remains. */
export function mergeAxes(extents: readonly number[], steps: readonly (readonly number[])[]): Merged {
  const loops: number[] = [];
  const result: number[][] = steps.map(() => []);
  for (let axis = extents.length - 1; axis >= 0; axis--) {
    const extent = extents[axis] ?? 1;
    if (extent === 1) continue;
    const [inner = 0] = loops;
    const joins =
      loops.length > 0 && steps.every((each, operand) => each[axis] === inner * (result[operand]?.[0] ?? 0));
    if (joins) {
      loops[0] = inner * extent;
      continue;
    }
    loops.unshift(extent);
    for (const [operand, each] of steps.entries()) result[operand]?.unshift(each[axis] ?? 0);
  }
  if (loops.length === 0) return { loops: [1], steps: steps.map(() => [1]) };
  return { loops, steps: result };
}
