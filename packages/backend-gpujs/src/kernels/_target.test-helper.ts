/** Code that is written for no machine, and run as JavaScript. */
import type { Program } from "../machine/machine.ts";
import type { Target } from "./_code.ts";

/** Where nothing is special. */
export const plainTarget: Target = {
  mostElements: 2 ** 28,
  bakes: false,
  grids: true,
  block: [1, 1],
  packs: false,
  groups: false,
  lanes: false,
  unrolls: 0,
  floats: false,
};

/** Returns the results of the threads of a program without inputs, in their order. */
export function resultsOf({ body, threads }: Pick<Program, "body" | "threads">): unknown[] {
  const [x, y = 1, z = 1] = threads;
  const run = new Function(body);
  return Array.from({ length: x * y * z }, (_, index) => {
    const thread = { x: index % x, y: Math.floor(index / x) % y, z: Math.floor(index / (x * y)) };
    return run.call({ thread, output: { x } });
  });
}
