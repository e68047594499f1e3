/** The steps of a program with control flow, computed in parts. Programs without it do not load this. */
import { type RunContext, StatusError } from "@nnhal/backend";
import { ErrorStatus } from "@nnhal/types";
import { computePart, type Parts, unitsAtOnce, workBetweenLooks } from "./parts.ts";
import type { Program, ProgramStep } from "./program.ts";

/** Runs the steps in parts, each of some milliseconds at most. */
export function controlledParts({ steps, memory }: Program, { now, loopTimeoutDuration }: RunContext): Parts {
  let work = 0;
  return run(steps);

  function* run(list: readonly ProgramStep[]): Generator<void, void> {
    for (const step of list) {
      if (step.kind === "compute") {
        const { units, workPerUnit } = step;
        const most = unitsAtOnce(workPerUnit);
        for (let unit = 0; unit < units; unit += most) {
          const end = Math.min(units, unit + most);
          for (let isPaused = false; ; ) {
            isPaused = computePart(step, unit, end, memory, isPaused);
            if (!isPaused) break;
            yield;
          }
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
