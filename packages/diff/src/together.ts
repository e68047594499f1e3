/**
 * The whole network as it runs on the device. Operations that are right one by one may be wrong together, since devices join them; then the
 * shortest part from the beginning that is wrong is found by halving.
 */
import { elementAt } from "@nnhal/operations";
import { type Bound, boundOf, type Compared } from "./allowance.ts";
import type { DiffContext } from "./context.ts";
import { isRecorded, type OperationDiff } from "./diff-operation.ts";
import { addDifferences, compareTensors, type Difference } from "./difference.ts";
import type { TensorValue } from "./prepared-part.ts";
import type { Values } from "./values.ts";
import type { WholeResult } from "./whole.ts";

/** Operations that are wrong only together. */
export interface TogetherDiff {
  /** The last operation of the shortest part from the beginning that is wrong: with one of those before it, it is computed otherwise. */
  readonly operation: number;
  /** The difference of its results. */
  readonly difference: Difference;
  /** Parts that were tried. */
  readonly tries: number;
}

/** The results of the whole network. */
export interface Ends {
  /** By output of the model. Empty if the network did not run, or if no device takes some of its operations. */
  readonly whole: readonly Difference[];
  readonly wholeFailure?: string;
  readonly together?: TogetherDiff;
}

/** The whole network counts as wrong together if it is so many times as far off as its operations one by one. */
const margin = 4;

/** Compares the results of the whole network, and searches what is wrong only together. Rejects if the judge fails. */
export async function diffTogether(
  context: DiffContext,
  found: {
    readonly operations: readonly OperationDiff[];
    readonly values: Values;
    readonly whole: WholeResult;
    readonly inputs: readonly (readonly TensorValue[])[];
    readonly signal: AbortSignal | undefined;
  },
): Promise<Ends> {
  const { operations, values, whole, inputs, signal } = found;
  if (whole.failure !== undefined) return { whole: [], wholeFailure: whole.failure };
  if (whole.outputs.length === 0) return { whole: [] };
  const { outputIndexes } = context.model.main;
  const differenceOf = (values: Values["judge"], run: number, place: number): Difference | undefined => {
    const operand = elementAt(outputIndexes, place);
    const [as, expected] = [context.comparedAs(operand), elementAt(values, run).get(operand)];
    return (
      as &&
      expected &&
      compareTensors(as, expected, elementAt(elementAt(whole.outputs, run), place), ofSeveral(context, as))
    );
  };
  const ends = outputIndexes.map((_, place) =>
    inputs
      .map((_, run) => differenceOf(values.judge, run, place))
      .reduce((sum, each) => (sum && each ? addDifferences(sum, each) : undefined)),
  );
  const known = ends.filter((each) => each !== undefined);
  const isDrawn = operations.some(({ verdict }) => verdict === "drawn");
  if (isDrawn || isRecorded(context.judge)) return { whole: known };
  const { judge } = context;
  const isWorse = (difference: Difference | undefined, writer: number | undefined) => {
    if (difference === undefined) return false;
    const accumulated = writer === undefined ? undefined : operations[writer]?.outputs;
    const before = Math.max(1, ...(accumulated ?? []).map((each) => each.accumulated?.excess ?? 0));
    return difference.excess > margin * before;
  };
  const writerOf = (operand: number) =>
    context.model.main.operations.findIndex(({ outputs }) => outputs.includes(operand));
  if (!ends.some((each, place) => isWorse(each, writerOf(elementAt(outputIndexes, place))))) return { whole: known };
  let tries = 0;
  /** The worst result of the first operations together, if it is wrong. */
  const wrongIn = async (count: number): Promise<Difference | undefined> => {
    signal?.throwIfAborted();
    tries++;
    const part = context.partOf(Array.from({ length: count }, (_, index) => index));
    const [right, own] = [await context.prepare(part.model, judge), await context.prepare(part.model, context.suspect)];
    try {
      let worst: Difference | undefined;
      for (const given of inputs) {
        const values = part.inputs.map((operand) => elementAt(given, context.model.main.inputIndexes.indexOf(operand)));
        const [expected, actual] = [await right.run(values), await own.run(values)];
        for (const [place, operand] of part.outputs.entries()) {
          const as = context.comparedAs(operand);
          const difference =
            as && compareTensors(as, elementAt(expected, place), elementAt(actual, place), ofSeveral(context, as));
          if (difference && isWorse(difference, writerOf(operand))) worst = difference;
        }
      }
      return worst;
    } finally {
      right.close();
      own.close();
    }
  };
  // All operations together are wrong; none are right.
  let [rightUpTo, wrongFrom] = [0, context.model.main.operations.length];
  let difference = known.reduce((worst, each) => (each.largestReal > worst.largestReal ? each : worst));
  while (wrongFrom - rightUpTo > 1) {
    const middle = (rightUpTo + wrongFrom) >> 1;
    const wrong = await wrongIn(middle);
    if (wrong === undefined) rightUpTo = middle;
    else [wrongFrom, difference] = [middle, wrong];
  }
  return { whole: known, together: { operation: wrongFrom - 1, difference, tries } };
}

/** The bound for results of several operations one after the other. */
function ofSeveral({ allowance }: DiffContext, as: Compared): (rootMeanSquare: number) => Bound {
  return (rootMeanSquare) => boundOf(as, rootMeanSquare, allowance);
}
