/**
 * The report of a benchmark for people at a terminal.
 */
import { basename } from "node:path";
import { byteText, columns, countText, formatCount, milliseconds, oneLine, plain, shapeText } from "../text.ts";
import type { Peak } from "./calibrate.ts";
import type { BenchmarkReport, ContestantReport, ModelReport, OverheadReport, RatioReport } from "./report.ts";
import type { Difference, Ratio } from "./statistics.ts";

/** The report as text. */
export function formatBenchmark(report: BenchmarkReport): string {
  const { machine, models } = report;
  const facts = columns([
    [
      "machine",
      `${machine.processor}, ${formatCount(machine.processors, "processor")}, ${machine.system}, Node.js ${machine.node}`,
    ],
    ["threads", String(report.threads)],
    ...report.peaks.map((peak) => ["peak", peakText(peak)]),
    ...notesOf(report).map((note) => ["note", note]),
  ]);
  return `${[...facts, ...models.flatMap((model) => ["", ...formatModel(model)])].join("\n")}\n`;
}

/** Notes on what makes the figures doubtful. */
export function notesOf({ machine, interrupted, models }: BenchmarkReport): string[] {
  const notes: string[] = [];
  if (interrupted) notes.push("it was interrupted: these are the figures until then");
  if (machine.load > machine.processors / 2) {
    notes.push(
      `the machine was busy before: load ${machine.load.toFixed(1)} on ${formatCount(machine.processors, "processor")}`,
    );
  }
  for (const { model, contestants, rounds } of models) {
    for (const { name, threads, cores, warmUp, roundTimes, problem } of contestants) {
      const of = `${name} on ${basename(model)}`;
      if (warmUp?.stable === false) notes.push(`${of}: the times had not settled when the warm-up ended`);
      if (threads !== null && cores !== null && cores > threads + 0.3) {
        notes.push(
          `${of}: it was told ${formatCount(threads, "thread")}, and kept ${cores.toFixed(1)} processors busy`,
        );
      }
      if (cores !== null && cores < 0.85) {
        notes.push(`${of}: it had only ${Math.round(100 * cores)}% of a processor; other programs disturb it`);
      }
      if (problem === null && roundTimes.length < rounds) notes.push(`${of}: ${roundTimes.length} of ${rounds} rounds`);
    }
  }
  return notes;
}

function formatModel(model: ModelReport): string[] {
  const { contestants, ratios, noReference } = model;
  const work = model.multiplyAdds === 0 ? "" : `, ${countText(model.multiplyAdds)} multiply-adds`;
  const measured = contestants.filter(({ times }) => times !== null);
  const others = contestants.filter(({ problem }) => problem !== null);
  return [
    ...columns([
      ["model", `${basename(model.model)}, ${byteText(model.bytes)}${work}, ${model.arithmetic}`],
      ...model.inputs.map(({ name, shape, source }) => [
        "input",
        `"${plain(name)}" ${shapeText(shape)} from ${plain(source)}`,
      ]),
      ...(noReference === null ? [] : [["note", `there are no reference outputs: ${oneLine(noReference)}`]]),
    ]),
    ...[timesOf(model), costs].flatMap(({ headings, row }) => table(headings, measured.map(row))),
    ...(others.length === 0 ? [] : ["", ...columns(others.map(({ name, problem }) => [name, oneLine(problem ?? "")]))]),
    ...formatRatios(ratios),
    ...formatOverheads(model.overheads),
  ];
}

function unitOf({ arithmetic }: Pick<ModelReport, "arithmetic">): string {
  return arithmetic === "float" ? "GFLOP/s" : "GOP/s";
}

/** Text of a peak that was measured in one way. */
export function peakText({ how, threads, float, integer }: Peak): string {
  const rates = [
    ...(float === null ? [] : [`${rateText(float)} GFLOP/s`]),
    ...(integer === null ? [] : [`${rateText(integer)} GOP/s`]),
  ];
  return `${rates.length === 0 ? "not known" : rates.join(", ")} with ${formatCount(threads, "thread")}: ${how}`;
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ["", ...columns([headings, ...rows])];
}

/** A table: its columns, and the cells of a contestant. */
export interface TableShape {
  readonly title: string;
  readonly headings: readonly string[];
  row(one: ContestantReport): readonly string[];
}

/** Table of the times of runs. */
export function timesOf(model: Pick<ModelReport, "arithmetic">): TableShape {
  return {
    title: "Times",
    headings: ["", "min", "median", "p90", "a second", "cores", "processor", unitOf(model), "of peak", "difference"],
    row: (one) => [
      one.name,
      ...(one.times === null ? ["", "", ""] : [one.times.min, one.times.median, one.times.p90].map(durationText)),
      orNothing(one.perSecond, rateText),
      orNothing(one.cores, (value) => value.toFixed(2)),
      orNothing(one.processorTime, durationText),
      orNothing(one.gigaOperations, rateText),
      orNothing(one.shareOfPeak, (value) => `${(100 * value).toFixed(value < 0.1 ? 1 : 0)}%`),
      differenceText(one),
    ],
  };
}

/** Table of the costs of a network before and beside its runs. */
export const costs: TableShape = {
  title: "Costs",
  headings: ["", "prepare", "from cache", "first", "memory", "heap a run"],
  row: ({ name, prepare, first, memory, heap }) => [
    name,
    orNothing(prepare, ({ cold }) => durationText(Math.min(...cold))),
    orNothing(prepare, ({ cached }) => cachedText(cached)),
    orNothing(first, durationText),
    orNothing(memory, byteText),
    orNothing(heap, (value) => byteText(Math.round(value))),
  ],
};

function cachedText(cached: readonly number[] | null): string {
  if (cached === null) return "no cache";
  return cached.length === 0 ? "" : durationText(Math.min(...cached));
}

function orNothing<Value>(value: Value | null, text: (value: Value) => string): string {
  return value === null ? "" : text(value);
}

/** A number with three digits. */
function rateText(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

/** Text of the distance of outputs from the reference's. */
function differenceText({ agreement }: Pick<ContestantReport, "agreement">): string {
  if (agreement === null) return "unknown";
  const { agrees, difference, unit } = agreement;
  const by =
    unit === "steps" ? formatCount(difference, "step") : difference === 0 ? "none" : difference.toExponential(1);
  return agrees ? by : `${by} (too much)`;
}

function formatRatios(ratios: readonly RatioReport[]): string[] {
  const shown = ratios.filter(({ reason }) => reason === null || !reason.endsWith("has no times"));
  if (shown.length === 0) return [];
  return [
    "",
    "Ratios: time of the one / time of the other, median of the rounds (10% to 90% of them), of the least times",
    ...columns(
      shown.map(({ name, other, ratio, reason }) => [
        `  ${name} / ${other}`,
        ...(ratio === null
          ? [`not printed: ${oneLine(reason ?? "")}`]
          : [ratioText(ratio), ratio.ofMinima.toFixed(2), verdictOf(ratio)]),
      ]),
    ),
  ];
}

function formatOverheads(overheads: readonly OverheadReport[]): string[] {
  if (overheads.length === 0) return [];
  return [
    "",
    "Overhead above the engine by itself: median of the rounds (10% to 90% of them), of the least times",
    ...columns(
      overheads.map(({ name, engine, difference }) => [
        `  ${name} - ${engine}`,
        overheadText(difference),
        microseconds(difference.ofMinima),
      ]),
    ),
  ];
}

/** A difference with its spread. */
export function overheadText({ median, low, high }: Difference): string {
  return `${microseconds(median)} (${microseconds(low)} to ${microseconds(high)})`;
}

/** Milliseconds as microseconds: overheads are short. */
export function microseconds(value: number): string {
  return `${(1000 * value).toFixed(1)} us`;
}

/** A ratio with its spread. */
export function ratioText({ median, low, high }: Ratio): string {
  return `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

/** Text of a ratio in words. */
export function verdictOf({ median, low, high }: Ratio): string {
  if (low <= 1 && high >= 1) return "no clear difference";
  return median < 1 ? `${(1 / median).toFixed(1)} times as fast` : `takes ${median.toFixed(2)} times as long`;
}

/** Milliseconds, or microseconds if they are few. */
export function durationText(value: number): string {
  return value < 0.1 ? `${(1000 * value).toFixed(1)} us` : milliseconds(value);
}
