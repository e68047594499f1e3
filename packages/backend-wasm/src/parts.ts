/** The steps of a program, computed in parts: between two of them the engine looks at the clock, and lets the event loop have a turn. */
import { type RunContext, StatusError } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { nextTurn } from "@nnhal/utils/time";
import type { Program, ProgramStep } from "./program.ts";

/** A step that is not control flow. */
type ComputeStep = Extract<ProgramStep, { kind: "compute" }>;

/** Steps of work between two looks at the clock: some milliseconds. */
export const workBetweenLooks = 2 ** 22;

/** Milliseconds after which a run lets the event loop have a turn. */
const mostAtOnce = 15n * 1_000_000n;

/** The work of a run in parts. `next` computes one. */
interface Parts {
  next(): { readonly done?: boolean | undefined };
}

/** Steps without control flow: a generator would leave some hundred bytes for each. */
function straightParts(steps: readonly ComputeStep[]): Parts {
  let place = 0;
  let next = 0;
  return {
    next() {
      let work = 0;
      for (; place < steps.length; place++) {
        const { units, workPerUnit, compute } = elementAt(steps, place);
        while (next < units) {
          const first = next;
          next = Math.min(units, first + unitsAtOnce(workPerUnit));
          compute(first, next);
          work += (next - first) * workPerUnit;
          if (work >= workBetweenLooks) return goingOn;
        }
        next = 0;
      }
      return ended;
    },
  };
}

const goingOn = { done: false };
const ended = { done: true };

function isCompute(step: ProgramStep): step is ComputeStep {
  return step.kind === "compute";
}

function unitsAtOnce(workPerUnit: number): number {
  return Math.max(1, Math.floor(workBetweenLooks / Math.max(1, workPerUnit)));
}

/** Runs the steps in parts, each of some milliseconds at most. */
export function partsOf({ steps, memory }: Program, { now, loopTimeoutDuration }: RunContext): Parts {
  if (steps.every(isCompute)) return straightParts(steps);
  let work = 0;
  return run(steps);

  function* run(list: readonly ProgramStep[]): Generator<void, void> {
    for (const step of list) {
      if (step.kind === "compute") {
        const { units, workPerUnit } = step;
        const most = unitsAtOnce(workPerUnit);
        for (let unit = 0; unit < units; unit += most) {
          const end = Math.min(units, unit + most);
          step.compute(unit, end);
          work += (end - unit) * workPerUnit;
          if (work < workBetweenLooks) continue;
          work = 0;
          yield;
        }
      } else if (step.kind === "branch") yield* run(memory[step.address] === 0 ? step.no : step.yes);
      else yield* repeat(step);
    }
  }

  function* repeat({ address, test, body }: Extract<ProgramStep, { kind: "loop" }>): Generator<void, void> {
    const begun = now();
    for (;;) {
      yield* run(test);
      if (memory[address] === 0) return;
      if (now() - begun > loopTimeoutDuration) {
        const message = `WHILE: the loop took longer than ${loopTimeoutDuration} ns`;
        throw new StatusError(ErrorStatus.MISSED_DEADLINE_TRANSIENT, message);
      }
      yield* run(body);
      // A turn may have little work, and there may be many.
      yield;
    }
  }
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
