/** The sentence that a comparison comes to, and the order of its operations. */
import { elementAt } from "@nnhal/operations";
import type { ModelDiff } from "./diff-model.ts";
import type { OperationDiff } from "./diff-operation.ts";

/** The judgement of a comparison. */
export interface DiffVerdict {
  /** The first operation that is wrong, or that failed; undefined if none is. */
  readonly first: OperationDiff | undefined;
  /** Those that are wrong or failed, in order. */
  readonly wrong: readonly OperationDiff[];
  /** Operations that add an error, the greatest first: by the ratio of the noise that each adds alone to its signal. */
  readonly ranking: readonly OperationDiff[];
  /** The beginning of the ranking that adds half of all noise, at least: the islands of error. Of a quantised network: what to keep in float first. */
  readonly heaviest: readonly OperationDiff[];
  /**
   * Operations that are right, and of whose differing elements nine of ten differ in one direction, at least 32: they round otherwise than
   * the judge. In a deep network such errors add up.
   */
  readonly oneSided: readonly OperationDiff[];
  /** True if everything is within the allowances. */
  readonly isRight: boolean;
}

/** Judges a comparison. */
export function judgeDiff({ operations, together, wholeFailure }: ModelDiff): DiffVerdict {
  const wrong = operations.filter(({ verdict }) => verdict === "wrong" || verdict === "failed");
  const ranking = operations
    .filter((operation) => noiseOf(operation) > 0)
    .sort((a, b) => noiseOf(b) - noiseOf(a) || a.index - b.index);
  const oneSided = operations.filter((operation) => operation.verdict === "right" && isOneSided(operation));
  const isRight = wrong.length === 0 && together === undefined && wholeFailure === undefined;
  const total = ranking.reduce((sum, operation) => sum + noiseOf(operation), 0);
  let added = 0;
  const heaviest = ranking.filter((operation) => {
    const isNeeded = added < total / 2;
    added += noiseOf(operation);
    return isNeeded;
  });
  return { first: wrong.length === 0 ? undefined : elementAt(wrong, 0), wrong, ranking, heaviest, oneSided, isRight };
}

/** The greatest ratio of noise to signal that an operation adds on the judge's values; Infinity if it failed or its shape is another. */
export function noiseOf({ verdict, outputs }: OperationDiff): number {
  if (verdict === "failed") return Number.POSITIVE_INFINITY;
  const ratios = outputs.map(({ alone }) => {
    if (alone === undefined || alone.differing === 0) return 0;
    if (alone.otherShape !== undefined || alone.unusual > 0) return Number.POSITIVE_INFINITY;
    return 10 ** (-alone.signalToNoise / 10);
  });
  return Math.max(0, ...ratios);
}

const LEAST_DIFFERING = 32;

function isOneSided({ outputs }: OperationDiff): boolean {
  return outputs.some(({ alone }) => {
    if (alone === undefined || !alone.isQuantised || alone.differing < LEAST_DIFFERING) return false;
    return Math.abs(alone.sums.signed) >= 0.8 * alone.sums.magnitude;
  });
}
