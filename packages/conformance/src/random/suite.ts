/**
 * The suite over the definitions themselves: random operations on the reference kernels, one case for each operation.
 */
import type { OnStart } from "../isolated.ts";
import type { CaseResult } from "../result.ts";
import { drawAll, kernelOperations, type RandomExamplesOptions } from "./examples.ts";
import { type RandomOutcome, runRandomOperation } from "./run.ts";

/** Options of runRandomOperations. */
export interface RandomOptions extends RandomExamplesOptions {
  /** The share of each operation's cases that must be computed and not refused. Default 0.5. */
  readonly leastComputed?: number | undefined;
  /** The number of operations to leave out at the beginning. Default 0. */
  readonly skip?: number | undefined;
  readonly onStart?: OnStart | undefined;
  /** Called with the tally of each operation. */
  readonly onTally?: ((operation: string, tally: RandomTally) => void) | undefined;
}

/** Numbers of cases by outcome. */
export type RandomTally = Readonly<Record<RandomOutcome["kind"], number>>;

/** Runs random operations on their kernels. */
export async function* runRandomOperations(options: RandomOptions = {}): AsyncGenerator<CaseResult> {
  const { leastComputed = 0.5, skip = 0, onStart, onTally, count = 100 } = options;
  const { operations = kernelOperations() } = options;
  for (const operation of operations.slice(skip)) {
    const start = { name: `random/${operation.name}`, subject: operation.name };
    await onStart?.(start);
    const tally = { computed: 0, refused: 0, large: 0, long: 0, faulty: 0 };
    let fault: string | undefined;
    for (const drawn of drawAll({ ...options, count, operations: [operation] })) {
      const outcome = runRandomOperation(drawn.operation, drawn.random);
      tally[outcome.kind]++;
      if (outcome.kind === "faulty") fault ??= `${drawn.name}: ${outcome.fault}`;
    }
    onTally?.(operation.name, tally);
    if (tally.computed < leastComputed * count) fault ??= `only ${tally.computed} of ${count} cases were computed`;
    if (fault === undefined) yield { ...start, verdict: "passed" };
    else yield { ...start, verdict: "failed", reason: fault };
  }
}
