/** The steps of a program, computed in parts: between two of them the engine looks at the clock, and lets the event loop have a turn. */
import type { RunContext } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { nextTurn } from "@nnhal/utils/time";
import type { ProgramStep } from "./program.ts";

/** A step that is not control flow. */
export type ComputeStep = Extract<ProgramStep, { kind: "compute" }>;

/** Steps of work between two looks at the clock: some milliseconds. */
export const workBetweenLooks = 2 ** 22;

/** Milliseconds after which a run lets the event loop have a turn. */
const mostAtOnce = 15n * 1_000_000n;

/** The work of a run in parts. `next` computes one. */
export interface Parts {
  next(): { readonly done?: boolean | undefined };
}

/** Steps without control flow: a generator would leave some hundred bytes for each. */
export function straightParts(steps: readonly ComputeStep[], memory: Uint8Array): Parts {
  let place = 0;
  let next = 0;
  let isPaused = false;
  return {
    next() {
      let work = 0;
      for (; place < steps.length; place++) {
        const step = elementAt(steps, place);
        const { units, workPerUnit } = step;
        while (next < units) {
          const end = Math.min(units, next + unitsAtOnce(workPerUnit));
          isPaused = computePart(step, next, end, memory, isPaused);
          if (isPaused) return goingOn;
          work += (end - next) * workPerUnit;
          next = end;
          if (work >= workBetweenLooks) return goingOn;
        }
        next = 0;
      }
      return ended;
    },
  };
}

/** Computes units, or goes on with them. Returns true if the step has paused before it has computed them. */
export function computePart(
  { compute, state }: ComputeStep,
  begin: number,
  end: number,
  memory: Uint8Array,
  isPaused: boolean,
): boolean {
  // A run that has ended meanwhile may have left it.
  if (state !== undefined && !isPaused) memory.fill(0, state, state + 4);
  compute(begin, end);
  return state !== undefined && memory[state] !== 0;
}

const goingOn = { done: false };
const ended = { done: true };

export function isCompute(step: ProgramStep): step is ComputeStep {
  return step.kind === "compute";
}

/** The units of a step that are computed without a look at the clock. */
export function unitsAtOnce(workPerUnit: number): number {
  return Math.max(1, Math.floor(workBetweenLooks / Math.max(1, workPerUnit)));
}

/** Computes until it is done, or for some milliseconds. Returns true if it is done. */
export function advance(parts: Parts, { now }: RunContext, check: () => void): boolean {
  const begun = now();
  while (!parts.next().done) {
    check();
    if (now() - begun > mostAtOnce) return false;
  }
  return true;
}

export async function rest(parts: Parts, context: RunContext, check: () => void): Promise<void> {
  do await nextTurn();
  while (!advance(parts, context, check));
}
