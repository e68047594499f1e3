/**
 * The report of a benchmark as data: what `nnhal bench --json` prints, and what text and page show. docs/benchmarking.md describes
 * each field for users.
 */
import { elementAt } from "@nnhal/operations";
import { OperandType } from "@nnhal/types";
import type { LoadedModel } from "../model/load.ts";
import { type Agreement, agreementOf, worse } from "./agreement.ts";
import { type Arithmetic, greatest, type Peak } from "./calibrate.ts";
import type { Measured } from "./contest.ts";
import { type ContestantId, type PeerName, titleOf } from "./contestant.ts";
import type { Machine } from "./machine.ts";
import { type Difference, differenceOf, type Ratio, ratioOf, type Times, timesOf } from "./statistics.ts";

/** The format of this report. A change that breaks readers gets another number. */
export const reportFormat = "nnhal-benchmark-1";

export interface BenchmarkReport {
  readonly format: typeof reportFormat;
  readonly machine: Machine;
  /** Peaks of the machine, by each way that there is to find out. */
  readonly peaks: readonly Peak[];
  /** Threads that each engine was told to use, if it can be told. */
  readonly threads: number;
  /** Rounds that the user wanted; null if they follow from the time of a run, for each model. */
  readonly rounds: number | null;
  /** True if the user ended it early. */
  readonly interrupted: boolean;
  readonly models: readonly ModelReport[];
}

export interface ModelReport {
  /** As the user named it. */
  readonly model: string;
  readonly bytes: number;
  readonly multiplyAdds: number;
  /** Arithmetic of most of its constants: `integer` for types of 8 bits. */
  readonly arithmetic: Arithmetic;
  readonly inputs: readonly { readonly name: string; readonly shape: readonly number[]; readonly source: string }[];
  /** Rounds that were wanted. */
  readonly rounds: number;
  /** Why there is nothing to compare outputs with; null if there is. */
  readonly noReference: string | null;
  readonly contestants: readonly ContestantReport[];
  readonly ratios: readonly RatioReport[];
  /** Time that runtime, driver and backend add to the engine of a device, if that engine was measured by itself. */
  readonly overheads: readonly OverheadReport[];
}

export interface ContestantReport {
  readonly name: string;
  readonly kind: ContestantId["kind"];
  /** Of the engine; null if it was not loaded. */
  readonly version: string | null;
  readonly settings: readonly string[];
  /** Threads that it was told to use; null if it cannot be told. */
  readonly threads: number | null;
  /** Why it has no times, or not all; null if it has. */
  readonly problem: string | null;
  /** Milliseconds. */
  readonly load: number | null;
  readonly prepare: PrepareReport | null;
  /** Milliseconds of the first execution after preparing. */
  readonly first: number | null;
  readonly warmUp: { readonly executions: number; readonly stable: boolean } | null;
  /** Milliseconds of an execution. */
  readonly times: Times | null;
  /** The times of each round. */
  readonly roundTimes: readonly (readonly number[])[];
  /** Executions in a second, at the median time. */
  readonly perSecond: number | null;
  /** Processors that it kept busy on average; null, like `processorTime` and `memory`, if it computes in another process. */
  readonly cores: number | null;
  /** Milliseconds of processors for an execution, on average. Other programs change it less than the times. */
  readonly processorTime: number | null;
  /** Thousand million operations in a second at the least time; a multiply-add is two. */
  readonly gigaOperations: number | null;
  /** The share of the machine's greatest peak for this arithmetic that `gigaOperations` is; null if no peak is known. */
  readonly shareOfPeak: number | null;
  /** Bytes by which the process grew at its peak. */
  readonly memory: number | null;
  /** Bytes of JavaScript heap for each execution. */
  readonly heap: number | null;
  /** Distance of its outputs from the reference's; null if it has none. Infinity is null in JSON. */
  readonly agreement: Agreement | null;
}

/** Milliseconds from the bytes of the file to the network that can run, each in a fresh process. */
export interface PrepareReport {
  readonly cold: readonly number[];
  /** From the cache; empty if that was not reached, null if it keeps nothing. */
  readonly cached: readonly number[] | null;
}

export interface RatioReport {
  /** A device of ours. */
  readonly name: string;
  readonly other: string;
  /** The time of the one divided by the time of the other; null if it would mean nothing. */
  readonly ratio: Ratio | null;
  /** Why there is no ratio; null if there is one. */
  readonly reason: string | null;
}

export interface OverheadReport {
  /** A device of ours. */
  readonly name: string;
  /** The peer that is its engine. */
  readonly engine: string;
  /** Milliseconds. */
  readonly difference: Difference;
}

/** The engines of devices, as peers. */
const engines: Readonly<Record<string, PeerName>> = { "nnhal-ort": "onnxruntime", "nnhal-tfjs": "tfjs" };

/** Results of a benchmark of one network. */
export interface ModelResults {
  readonly model: LoadedModel;
  readonly multiplyAdds: number;
  readonly inputs: ModelReport["inputs"];
  /** The reference's outputs, or why there are none. */
  readonly expected: readonly Uint8Array[] | string;
  readonly measured: readonly Measured[];
  /** Rounds that were wanted. */
  readonly rounds: number;
  /** Milliseconds of other preparations in processes of their own, by contestant. */
  readonly preparations: readonly PrepareReport[];
  readonly peaks: readonly Peak[];
}

/** The report of one network. */
export function modelReport(results: ModelResults): ModelReport {
  const { model, multiplyAdds, inputs, expected, measured, rounds } = results;
  const contestants = measured.map((one, place) => contestantReport(one, results, place));
  return {
    model: model.path,
    bytes: model.bytes.length,
    multiplyAdds,
    arithmetic: arithmeticOf(model),
    inputs,
    rounds,
    noReference: typeof expected === "string" ? expected : null,
    contestants,
    ratios: measured.flatMap((one, place) =>
      one.id.kind === "device"
        ? measured.flatMap((other, at) =>
            isCompared(one.id, other.id) && (other.id.kind === "peer" || at > place)
              ? [ratioReport(elementAt(contestants, place), elementAt(contestants, at), one, other)]
              : [],
          )
        : [],
    ),
    overheads: measured.flatMap((one, place) => {
      const at = measured.findIndex(({ id }) => one.id.kind === "device" && id.name === engines[one.id.name]);
      if (at < 0) return [];
      const [ours, theirs] = [elementAt(contestants, place), elementAt(contestants, at)];
      if ((whyNoRatio(ours) ?? whyNoRatio(theirs)) !== undefined) return [];
      const difference = differenceOf(one.rounds, elementAt(measured, at).rounds);
      return difference === undefined ? [] : [{ name: ours.name, engine: theirs.name, difference }];
    }),
  };
}

/** Devices are compared with peers, with each other, and with their own bursts. */
function isCompared(one: ContestantId, other: ContestantId): boolean {
  if (one.kind === "peer" || other.kind === "peer") return true;
  return one.name === other.name || (one.path === "compute" && other.path === "compute");
}

function contestantReport(one: Measured, results: ModelResults, place: number): ContestantReport {
  const { id, opened, prepared, warmUp, rounds, cpu, footprint } = one;
  const times = timesOf(rounds) ?? null;
  const spent = rounds.flat().reduce((sum, time) => sum + time, 0);
  const others = results.preparations[place];
  const rate = times === null || results.multiplyAdds === 0 ? null : (2 * results.multiplyAdds) / times.min / 1e6;
  const peak = greatest(results.peaks, arithmeticOf(results.model));
  // Measurements of the process do not describe a contestant that computes in another one.
  const isMeasured = opened?.isElsewhere !== true;
  return {
    name: titleOf(id),
    kind: id.kind,
    version: opened?.version ?? null,
    settings: opened?.settings ?? [],
    threads: opened?.threads ?? null,
    problem: problemText(one) ?? null,
    load: opened?.milliseconds ?? null,
    prepare:
      prepared === undefined
        ? null
        : { cold: [prepared.milliseconds, ...(others?.cold ?? [])], cached: others === undefined ? [] : others.cached },
    first: prepared?.first ?? null,
    warmUp: warmUp === undefined ? null : { executions: warmUp.runs, stable: warmUp.stable },
    times,
    roundTimes: rounds,
    perSecond: times === null ? null : 1000 / times.median,
    cores: isMeasured && spent > 0 ? cpu / spent : null,
    processorTime: isMeasured && times !== null ? cpu / times.executions : null,
    gigaOperations: rate,
    shareOfPeak: rate === null || peak === undefined ? null : rate / peak,
    memory: (isMeasured ? footprint?.memory : undefined) ?? null,
    heap: footprint?.heap ?? null,
    agreement: agreementWith(one, results),
  };
}

/** Why a contestant has no times, as one text. */
export function problemText({ problem }: Measured): string | undefined {
  if (problem === undefined) return undefined;
  if ("cannot" in problem) return `cannot: ${problem.cannot}`;
  if ("failed" in problem) return `failed: ${problem.failed}`;
  return problem.remedy === undefined ? problem.unavailable : `${problem.unavailable}; to add it: ${problem.remedy}`;
}

/** The first run and the last one count; of a network with state only the first, since engines carry state in their own ways. */
function agreementWith({ prepared, footprint }: Measured, { model, expected }: ModelResults): Agreement | null {
  if (prepared === undefined || typeof expected === "string") return null;
  const outputs = model.wantedOutputs.map((index) => elementAt(model.outputs, index));
  const first = agreementOf(outputs, expected, prepared.outputs);
  if (footprint === undefined || model.states.length > 0) return first;
  return worse(first, agreementOf(outputs, expected, footprint.outputs));
}

function ratioReport(ours: ContestantReport, theirs: ContestantReport, one: Measured, other: Measured): RatioReport {
  const names = { name: ours.name, other: theirs.name };
  const reason = whyNoRatio(ours) ?? whyNoRatio(theirs);
  if (reason !== undefined) return { ...names, ratio: null, reason };
  const ratio = ratioOf(one.rounds, other.rounds);
  return ratio === undefined
    ? { ...names, ratio: null, reason: "no round is complete" }
    : { ...names, ratio, reason: null };
}

function whyNoRatio({ name, problem, times, agreement }: ContestantReport): string | undefined {
  if (problem !== null || times === null) return `${name} has no times`;
  if (agreement === null) return "there is no reference to compare the outputs with";
  return agreement.agrees ? undefined : `the outputs of ${name} are not those of the reference: ${agreement.reason}`;
}

const integerTypes: ReadonlySet<number> = new Set([
  OperandType.TENSOR_QUANT8_ASYMM,
  OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
  OperandType.TENSOR_QUANT8_SYMM,
  OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,
]);

function arithmeticOf({ model }: LoadedModel): ModelReport["arithmetic"] {
  const bytes = { integer: 0, float: 0 };
  for (const { type, location } of model.main.operands) {
    bytes[integerTypes.has(type) ? "integer" : "float"] += location.length;
  }
  // A bias of 32 bits belongs to weights of 8 bits, of which there are more.
  return bytes.integer > bytes.float ? "integer" : "float";
}
