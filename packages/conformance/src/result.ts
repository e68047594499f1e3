/**
 * The report of a suite: one result for each case on a device, and their sum. Every suite of the kit is a function of a
 * device that yields such results, so that all suites share isolation, counting and output.
 */
import type { Device, OperandTypeName } from "@nnhal/types";
import { addDeviations, type Deviation } from "./deviation.ts";
import type { Need } from "./needs.ts";

/**
 * The outcome of a case. `unsupported`: the device does not support something that the case needs, so nothing is
 * proven. `skipped`: the suite did not run it; the reason says why.
 */
export type Verdict = "passed" | "failed" | "unsupported" | "skipped";

/**
 * Why a case of a device suite is unsupported. `halVersion`: the HAL version that the device is driven through cannot
 * express it. `need`: the device lacks something optional.
 */
export type UnsupportedCause = { readonly kind: "halVersion" } | { readonly kind: "need"; readonly need: Need };

/** The outcome of one case. */
export interface CaseResult {
  /** Unique within a run. */
  readonly name: string;
  /** Subject of the case, usually an operation's name. Each case counts under one subject. */
  readonly subject: string;
  readonly verdict: Verdict;
  /** Why; set unless the case passed. */
  readonly reason?: string;
  /** The kind of reason why a device suite's case is unsupported. */
  readonly cause?: UnsupportedCause;
  /** Measured value of a case on time or memory, whatever its verdict: the worst of several values, with units. */
  readonly measured?: string;
  /** Of a failed case: the device did not answer, or the case ended its process. */
  readonly isLost?: true;
  /** Number of cases that the result represents. Default 1. */
  readonly count?: number;
  /** Of a random graph: how many elements its outputs have, and how many of them are compared. */
  readonly elements?: JudgedElements;
  /** Of an example: the type of the operation's first result. */
  readonly type?: OperandTypeName;
  /**
   * Of an example whose results were compared: the greatest part of its allowance that an element uses up. 0: all are exactly as
   * expected; above 1 the case has failed; 1e9 stands for all that is greater.
   */
  readonly error?: number;
  /** Of an example whose results were compared: how far they are from the expected ones, one for each output. */
  readonly deviations?: readonly Deviation[];
}

/** Number of output elements, and number of those that are compared: the HAL leaves the values of the others open. */
export interface JudgedElements {
  readonly judged: number;
  readonly total: number;
}

/** A suite: it yields a result for each of its cases, in order, and never rejects because of the device. */
export type Suite<Options> = (device: Device, options: Options) => AsyncIterable<CaseResult>;

/** Numbers of cases by outcome. */
export type Counts = Readonly<Record<Verdict, number>>;

/** Numbers of cases of an operation and a type, and the greatest of their errors; undefined if no results were compared. */
export interface Precision extends Counts {
  readonly worst: number | undefined;
}

/** The sum of a run. */
export interface Summary extends Counts {
  readonly total: number;
  /** By subject, in the order of the first case of each. */
  readonly bySubject: ReadonlyMap<string, Counts>;
  /** Of examples, by subject and by the type of the result. */
  readonly byType: ReadonlyMap<string, ReadonlyMap<OperandTypeName, Precision>>;
  /** Of examples whose results were compared, by subject and by the type of an output. */
  readonly deviations: ReadonlyMap<string, ReadonlyMap<OperandTypeName, Deviation>>;
  /** The failed cases, in the order in which they ran. */
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
  /** Why cases were unsupported or skipped, and how many each, in the order of the first case of each. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Of all random graphs. Absent if there were none. */
  readonly elements?: JudgedElements;
}

/** Adds up the results of a run. `onResult` sees each as it comes. */
export async function summarise(
  results: AsyncIterable<CaseResult>,
  onResult: (result: CaseResult) => void = () => {},
): Promise<Summary> {
  const all = noCounts();
  const bySubject = new Map<string, Record<Verdict, number>>();
  const byType = new Map<string, Map<OperandTypeName, MutablePrecision>>();
  const deviationsOf = new Map<string, Map<OperandTypeName, Deviation>>();
  const failures: { name: string; reason: string }[] = [];
  const reasons = new Map<string, number>();
  let sum: JudgedElements | undefined;
  for await (const result of results) {
    const { name, subject, verdict, reason = "", count = 1, elements, type, error, deviations = [] } = result;
    if (elements !== undefined) {
      sum = { judged: (sum?.judged ?? 0) + elements.judged, total: (sum?.total ?? 0) + elements.total };
    }
    const counts = bySubject.get(subject) ?? noCounts();
    bySubject.set(subject, counts);
    counts[verdict] += count;
    all[verdict] += count;
    if (type !== undefined) addPrecision(byType, subject, type, verdict, error);
    for (const deviation of deviations) addDeviation(deviationsOf, subject, deviation);
    if (verdict === "failed") failures.push({ name, reason });
    else if (verdict !== "passed") reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    onResult(result);
  }
  return {
    ...all,
    total: all.passed + all.failed + all.unsupported + all.skipped,
    bySubject,
    byType,
    deviations: deviationsOf,
    failures,
    reasons,
    ...(sum && { elements: sum }),
  };
}

type MutablePrecision = Record<Verdict, number> & { worst: number | undefined };

function addPrecision(
  byType: Map<string, Map<OperandTypeName, MutablePrecision>>,
  subject: string,
  type: OperandTypeName,
  verdict: Verdict,
  error: number | undefined,
): void {
  const types = byType.get(subject) ?? new Map<OperandTypeName, MutablePrecision>();
  byType.set(subject, types);
  const sum = types.get(type) ?? { ...noCounts(), worst: undefined };
  types.set(type, sum);
  sum[verdict]++;
  if (error !== undefined) sum.worst = Math.max(sum.worst ?? 0, error);
}

function addDeviation(
  deviationsOf: Map<string, Map<OperandTypeName, Deviation>>,
  subject: string,
  deviation: Deviation,
): void {
  const types = deviationsOf.get(subject) ?? new Map<OperandTypeName, Deviation>();
  deviationsOf.set(subject, types);
  const sum = types.get(deviation.type);
  types.set(deviation.type, sum === undefined ? deviation : addDeviations(sum, deviation));
}

function noCounts(): Record<Verdict, number> {
  return { passed: 0, failed: 0, unsupported: 0, skipped: 0 };
}
