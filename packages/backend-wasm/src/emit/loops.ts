/** Loops over locals, which kernels are made of. */
import type { Code, Local } from "../assembler/code.ts";

/** A bound: a number, or a local that has it. */
export type Bound = number | { readonly local: Local };

/** Pushes a bound. */
export function push(code: Code, bound: Bound): void {
  if (typeof bound === "number") code.i32(bound);
  else code.get(bound.local);
}

/** local += amount. */
export function advance(code: Code, local: Local, amount: number): void {
  if (amount !== 0) code.get(local).i32(amount).op("i32.add").set(local);
}

/** Counts a local from a bound up to another one, by a step that divides their difference. Does nothing if they are equal. */
export function count(code: Code, local: Local, from: Bound, to: Bound, step: number, body: () => void): void {
  push(code, from);
  code.set(local);
  if (typeof from === "number" && typeof to === "number") {
    if (from < to) repeat(code, local, to, step, body);
    return;
  }
  code.get(local);
  push(code, to);
  code.op("i32.lt_s");
  code.if(() => repeat(code, local, to, step, body));
}

function repeat(code: Code, local: Local, to: Bound, step: number, body: () => void): void {
  code.loop((again) => {
    body();
    code.get(local).i32(step).op("i32.add").tee(local);
    push(code, to);
    code.op("i32.lt_s").brIf(again);
  });
}

/** Repeats a body as often as a number says that is known now: written once, and not in a loop, for one turn. */
export function times(code: Code, turns: number, body: () => void): void {
  if (turns === 1) body();
  else if (turns > 1) count(code, code.local("i32"), 0, turns, 1, body);
}

/** Moves pointers along after each turn of loops, of which all but the innermost are written here. */
export function nest(
  code: Code,
  extents: readonly number[],
  pointers: readonly { readonly local: Local; readonly steps: readonly number[] }[],
  body: () => void,
): void {
  const [extent, ...rest] = extents;
  if (extent === undefined) {
    body();
    return;
  }
  const inner = pointers.map(({ local, steps }) => ({ local, steps: steps.slice(1) }));
  // The amount that the inner loops add to a pointer.
  const added = pointers.map(({ steps }) => (rest[0] ?? 0) * (steps[1] ?? 0));
  times(code, extent, () => {
    nest(code, rest, inner, body);
    for (const [place, { local, steps }] of pointers.entries())
      advance(code, local, (steps[0] ?? 0) - (added[place] ?? 0));
  });
}
