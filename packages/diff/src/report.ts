/** The report of a comparison: names instead of indexes, and the outcome in a sentence. It can be printed as JSON, and passed between threads. */
import { elementAt } from "@nnhal/operations";
import type { ModelDiff } from "./diff-model.ts";
import type { OperationDiff, OperationVerdict } from "./diff-operation.ts";
import type { Difference } from "./difference.ts";
import { firstName, formatCount, formatSigned, real, shapeText, shareText, sizeText } from "./text.ts";
import { judgeDiff } from "./verdict.ts";

/** The model and the devices of a report. */
export interface DiffSubject {
  /** As the user named it. */
  readonly model: string;
  readonly devices: readonly string[];
  readonly against: readonly string[];
  /** True if differences are expected and measured, as those of a quantised network from its float form. */
  readonly isMeasured: boolean;
  /** Where the inputs of each run are from. */
  readonly inputs: readonly string[];
  /** The operator of the file of each operation. */
  readonly operators: readonly { readonly name: string; readonly index: number }[];
  readonly operandNames: readonly (string | undefined)[];
  readonly outputIndexes: readonly number[];
}

/** A difference as JSON: null for what is infinite or not a number. */
export interface ReportedDifference {
  readonly isFloat: boolean;
  readonly elements: number;
  readonly differing: number;
  /** The part of the allowance that is used up, above 1 it is wrong; null: it is wrong whatever the allowance. */
  readonly excess: number | null;
  /** Real numbers in a step. */
  readonly step: number;
  /** In steps: 1 of integers and quantised elements, of floats the unit in the last place of the root mean square. */
  readonly largest: number;
  readonly largestReal: number;
  readonly mean: number;
  readonly meanMagnitude: number;
  readonly signalToNoise: number | null;
  readonly cosine: number;
  readonly unusual: number;
  readonly unusualExpected: number;
  readonly unusualActual: number;
  /** Shares of the elements at the ends of a quantised type; of expected ones in another type beyond the ends. */
  readonly saturatedExpected: number;
  readonly saturatedActual: number;
  readonly expectedRange: Range | null;
  readonly actualRange: Range | null;
  readonly possibleRange: Range | null;
  /** The element with the greatest difference. */
  readonly worst: { readonly element: number; readonly expected: number | null; readonly actual: number | null } | null;
  /** The shape that there is instead of the expected one. */
  readonly otherShape?: readonly number[];
}

interface Range {
  readonly least: number;
  readonly greatest: number;
}

/** An operation as JSON. */
export interface ReportedOperation {
  /** In the order of the model, from 0. */
  readonly index: number;
  readonly operation: string;
  /** The operator of the file; empty for one that the import added. */
  readonly operator: string;
  readonly device: string | null;
  readonly verdict: OperationVerdict;
  readonly failure?: string;
  readonly outputs: readonly {
    readonly name: string | null;
    readonly alone: ReportedDifference | null;
    readonly accumulated: ReportedDifference | null;
  }[];
}

/** The report of a comparison. */
export interface DiffReport {
  readonly model: string;
  readonly devices: readonly string[];
  readonly against: readonly string[];
  /** True if another form of the network judges, so that differences are expected. */
  readonly isMeasured: boolean;
  readonly inputs: readonly string[];
  readonly isRight: boolean;
  /** The outcome in a sentence. */
  readonly verdict: string;
  /** Index of the first operation that is wrong or failed. */
  readonly first: number | null;
  /** Indexes of the operations that add an error, the greatest first. */
  readonly ranking: readonly number[];
  /** The beginning of the ranking that adds half of all noise. */
  readonly heaviest: readonly number[];
  /** Indexes of operations that are right, and nearly all of whose differences have one sign. */
  readonly oneSided: readonly number[];
  readonly operations: readonly ReportedOperation[];
  readonly outputs: readonly { readonly name: string | null; readonly difference: ReportedDifference }[];
  readonly wholeFailure?: string;
  /** The operation up to which the network is wrong only as a whole. */
  readonly together?: { readonly operation: number; readonly tries: number; readonly difference: ReportedDifference };
}

/** Makes the report of a comparison. */
export function reportDiff(found: ModelDiff, subject: DiffSubject): DiffReport {
  const { operators, operandNames, outputIndexes, ...rest } = subject;
  const { first, wrong, ranking, heaviest, oneSided, isRight } = judgeDiff(found);
  const nameOf = (operand: number) => operandNames[operand] ?? null;
  const operations = found.operations.map(
    ({ index, operation, device, verdict, failure, outputs }): ReportedOperation => ({
      index,
      operation,
      operator: operators[index]?.name ?? "",
      device: device ?? null,
      verdict,
      ...(failure !== undefined && { failure }),
      outputs: outputs.map(({ operand, alone, accumulated }) => ({
        name: nameOf(operand),
        alone: jsonOf(alone),
        accumulated: jsonOf(accumulated),
      })),
    }),
  );
  const { together, wholeFailure } = found;
  return {
    ...rest,
    isRight,
    verdict: sentenceOf(found, operations, { first, wrong, heaviest, oneSided }, rest),
    first: first?.index ?? null,
    ranking: ranking.map(({ index }) => index),
    heaviest: heaviest.map(({ index }) => index),
    oneSided: oneSided.map(({ index }) => index),
    operations,
    outputs: found.whole.map((difference, place) => ({
      name: nameOf(elementAt(outputIndexes, place)),
      difference: differenceJson(difference),
    })),
    ...(wholeFailure !== undefined && { wholeFailure }),
    ...(together && { together: { ...together, difference: differenceJson(together.difference) } }),
  };
}

function sentenceOf(
  { together, wholeFailure, whole, operations }: ModelDiff,
  shown: readonly ReportedOperation[],
  found: Pick<ReturnType<typeof judgeDiff>, "first" | "wrong" | "heaviest" | "oneSided">,
  { devices, against, isMeasured }: Pick<DiffSubject, "devices" | "against" | "isMeasured">,
): string {
  const judge = against.join(", ");
  const { first, wrong, heaviest, oneSided } = found;
  if (first !== undefined) {
    const what = `operation ${first.index + 1}, ${titleOf(elementAt(shown, first.index))}`;
    const by = first.device ?? devices.join(", ");
    const gone = operations.filter(({ verdict }) => verdict === "gone").length;
    const left = gone === 0 ? "" : `; ${formatCount(gone, "operation")} could not be asked for afterwards`;
    const others = wrong.length > 1 ? `; ${wrong.length - 1} more ${wrong.length === 2 ? "is" : "are"} wrong` : "";
    if (first.verdict === "failed")
      return `${what}, is the first that fails on ${by}: ${first.failure}${others}${left}.`;
    return `${what}, is the first that ${by} computes wrong: ${differenceText(worstOf(first))}${others}.`;
  }
  if (wholeFailure !== undefined && operations.some(({ verdict }) => verdict === "gone"))
    return `The device has ended, and no operation is to blame that ran by itself. The whole network fails: ${wholeFailure}`;
  if (wholeFailure !== undefined)
    return `Each operation by itself is right, and the whole network fails: ${wholeFailure}`;
  if (together !== undefined) {
    const at = elementAt(shown, together.operation);
    return `Each operation by itself is right; together the operations up to ${together.operation + 1}, ${titleOf(at)}, are wrong: ${differenceText(together.difference)}. The device joins operations there.`;
  }
  if (isMeasured) return measuredText(whole, heaviest, shown, judge);
  return [
    rightText(operations, whole, devices, judge),
    sidedText(oneSided, shown),
    refusedText(operations, shown, devices, judge),
  ]
    .filter((text) => text !== "")
    .join(" ");
}

/** The cost of another form of the network, such as a quantised one. */
function measuredText(
  whole: readonly Difference[],
  heaviest: readonly OperationDiff[],
  shown: readonly ReportedOperation[],
  judge: string,
): string {
  const [most, ...others] = heaviest;
  const end = whole.map(({ signalToNoise }) => signalToNoise).reduce((least, each) => Math.min(least, each), Infinity);
  const outputs =
    whole.length === 0 ? "" : `The signal-to-noise ratio of the outputs against ${judge} is ${ratioText(end)}. `;
  if (most === undefined) return `${outputs}No operation that was compared loses anything.`;
  const alone = Math.min(...most.outputs.map((output) => output.alone?.signalToNoise ?? Infinity));
  const beyond = Math.max(...most.outputs.map((output) => output.alone?.saturatedExpected ?? 0));
  const clipped =
    beyond > 0.01 ? `, where ${shareText(beyond, 1)} of the exact values lie beyond the ends of the range` : "";
  const numbers = others.slice(0, MOST_TITLES).map(({ index }) => index + 1);
  const more = others.length > numbers.length ? ` and ${others.length - numbers.length} others` : "";
  const half = others.length === 0 ? "it adds" : `with ${numbers.join(", ")}${more} it adds`;
  return `${outputs}Operation ${most.index + 1}, ${titleOf(elementAt(shown, most.index))}, loses most: ${ratioText(alone)} alone${clipped}; ${half} half of all noise. Keep ${others.length === 0 ? "it" : "these"} in float first.`;
}

/** A signal-to-noise ratio. */
function ratioText(decibels: number): string {
  return Number.isFinite(decibels) ? `${decibels.toFixed(1)} dB` : "without limit";
}

function rightText(
  operations: readonly OperationDiff[],
  whole: readonly Difference[],
  devices: readonly string[],
  judge: string,
): string {
  const compared = operations.filter(({ verdict }) => verdict === "right").length;
  if (compared === 0)
    return `Nothing was compared: ${devices.join(", ")} ${devices.length === 1 ? "computes" : "compute"} no operation that ${judge} does not compute.`;
  const [end] = [...whole].sort((a, b) => b.largest - a.largest);
  const text =
    end === undefined
      ? "the whole network cannot run there"
      : end.differing === 0
        ? "the outputs are equal"
        : `the outputs differ by up to ${sizeText(end)}`;
  return compared === 1
    ? `The only operation that was compared is right; ${text}.`
    : `All ${compared} operations that were compared are right; ${text}.`;
}

function sidedText(oneSided: readonly OperationDiff[], shown: readonly ReportedOperation[]): string {
  if (oneSided.length === 0) return "";
  const titles = oneSided.slice(0, MOST_TITLES).map(({ index }) => `${index + 1} ${titleOf(elementAt(shown, index))}`);
  const more = oneSided.length > MOST_TITLES ? ", and others" : "";
  return `${formatCount(oneSided.length, "operation")} nearly always ${oneSided.length === 1 ? "differs" : "differ"} in one direction: ${titles.join(", ")}${more}.`;
}

const MOST_TITLES = 5;

function refusedText(
  operations: readonly OperationDiff[],
  shown: readonly ReportedOperation[],
  devices: readonly string[],
  judge: string,
): string {
  const refused = operations.filter(({ verdict }) => verdict === "refused");
  const [first] = refused;
  if (first === undefined) return "";
  return `${judge} stands in for ${formatCount(refused.length, "operation")} that ${devices.join(", ")} ${devices.length === 1 ? "does" : "do"} not take, such as ${first.index + 1} ${titleOf(elementAt(shown, first.index))}: ${first.failure}.`;
}

function titleOf({ operation, operator, outputs }: ReportedOperation): string {
  const name = outputs[0]?.name;
  const of = operator === "" || operator === operation ? operation : `${operation} of ${operator}`;
  if (name == null || name === "") return of;
  const shown = firstName(name);
  return `${of} (${shown.length > MOST_TITLE ? `…${shown.slice(-MOST_TITLE)}` : shown})`;
}

/** Characters of a name in a sentence. */
const MOST_TITLE = 48;

function worstOf({ outputs }: OperationDiff): Difference | undefined {
  const all = outputs.flatMap(({ alone }) => alone ?? []);
  return all.sort((a, b) => b.largestReal - a.largestReal)[0];
}

function differenceText(difference: Difference | undefined): string {
  if (difference === undefined) return "it was not compared";
  const { count, differing, unusual, otherShape, worst, mean } = difference;
  if (otherShape !== undefined) return `its shape is ${shapeText(otherShape)}`;
  if (unusual > 0)
    return `${formatCount(unusual, "element")} of ${count} ${unusual === 1 ? "is" : "are"} NaN or infinite on one side`;
  const at =
    worst === undefined
      ? ""
      : `, at element ${worst.element}: expected ${real(worst.expected)}, got ${real(worst.actual)}`;
  const bias = difference.isQuantised && Math.abs(mean) > 0.1 ? `, ${formatSigned(mean)} in the mean` : "";
  return `${shareText(differing, count)} of the elements differ, by up to ${sizeText(difference)}${bias}${at}`;
}

function jsonOf(difference: Difference | undefined): ReportedDifference | null {
  return difference === undefined ? null : differenceJson(difference);
}

function differenceJson(difference: Difference): ReportedDifference {
  const { sums: _, isHalf: _2, isQuantised: _3, excess, count, worst, ...rest } = difference;
  const { expectedRange, actualRange, possibleRange, otherShape, signalToNoise, ...numbers } = rest;
  const finite = (value: number) => (Number.isFinite(value) ? value : null);
  return {
    ...numbers,
    excess: finite(excess),
    elements: count,
    signalToNoise: finite(signalToNoise),
    expectedRange: expectedRange ?? null,
    actualRange: actualRange ?? null,
    possibleRange: possibleRange ?? null,
    worst: worst ? { element: worst.element, expected: finite(worst.expected), actual: finite(worst.actual) } : null,
    ...(otherShape !== undefined && { otherShape }),
  };
}
