/**
 * The problems of an import: each is recorded once, and the import goes on, so that a user learns of all of them together.
 */
import { MOST_PROBLEMS, outcomeOf, problemText, TfliteError, type TfliteProblem, type Where } from "../error.ts";

/** The problems so far. */
export interface ProblemList {
  /** Number of problems, including those that the error leaves out. */
  readonly count: number;
  /**
   * Records the problems of an error, those that are known already excepted. A problem that is not about an operator gets the
   * operator that it occurred at. Returns the first one as it concerns that operator.
   */
  add(error: TfliteError, at?: () => Where): TfliteProblem | undefined;
  /** Runs `work`. A TfliteError becomes problems, and the result is undefined; any other error is thrown. */
  attempt<T>(work: () => T, at?: () => Where): T | undefined;
  /** All problems as one error; undefined if there are none. */
  error(): TfliteError | undefined;
  /** Throws that error if there is one. */
  throwIfAny(): void;
}

/** A problem of a tensor or of the file as that of the operator where it was found. */
function atOperator(problem: TfliteProblem, at: (() => Where) | undefined): TfliteProblem {
  if (problem.operator !== undefined || at === undefined) return problem;
  return { ...problem, ...at(), message: problemText(problem) };
}

/** Starts a list of problems. */
export function createProblemList(): ProblemList {
  const problems: TfliteProblem[] = [];
  const seen = new Set<string>();
  let count = 0;

  function add(error: TfliteError, at?: () => Where): TfliteProblem | undefined {
    for (const problem of error.problems) {
      const known = problemText(problem);
      if (seen.has(known)) continue;
      const placed = atOperator(problem, at);
      seen.add(known).add(problemText(placed));
      count++;
      if (problems.length < MOST_PROBLEMS) problems.push(placed);
    }
    const [first] = error.problems;
    return first && atOperator(first, at);
  }
  const error = () => (count === 0 ? undefined : new TfliteError(problems, count));
  return {
    get count() {
      return count;
    },
    add,
    attempt(work, at) {
      const outcome = outcomeOf(work);
      if ("result" in outcome) return outcome.result;
      add(outcome.refused, at);
      return undefined;
    },
    error,
    throwIfAny() {
      const all = error();
      if (all !== undefined) throw all;
    },
  };
}
