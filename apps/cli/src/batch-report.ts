/**
 * The report of `nnhal run` on several inputs: a table, CSV or JSON.
 */
import { basename } from "node:path";
import type { ScoredClass } from "@nnhal/network/tensors";
import type { Seen } from "./draw.ts";
import type { OutputValue } from "./model/execute.ts";
import { shownValues } from "./model/values.ts";
import { formatProfile, type Profile } from "./profile.ts";
import { type OutputJson, valuesText } from "./run-report.ts";
import { columns, counted, milliseconds, plain } from "./text.ts";

/** What became of one input. */
export interface BatchResult {
  readonly input: string;
  /** As many of its values as reports need: those of many large outputs would fill the memory. Empty if it has a problem. */
  readonly outputs: readonly OutputJson[];
  /** Its best class, or its first values. */
  readonly found: string;
  /** Empty if no output holds scores. */
  readonly top: readonly ScoredClass[];
  /** Milliseconds of the run. */
  readonly time: number;
  /** What was drawn onto it. */
  readonly seen?: Seen;
  /** Why it could not be used. */
  readonly problem?: string;
}

/** What there is to report. */
export interface BatchReport {
  /** As the user named it. */
  readonly model: string;
  readonly device: string;
  readonly results: readonly BatchResult[];
  /** Milliseconds of importing and compiling the model. */
  readonly prepare: number;
  /** Median of the runs, in milliseconds. */
  readonly median: number;
  /** The times of all inputs together. */
  readonly profile?: Profile;
  /** The folder of the drawings. */
  readonly drawings?: string;
  /** The file that the states were written to. */
  readonly stateFile?: string | undefined;
  /** What the model keeps, after the last input, if the runs followed one another. */
  readonly states?: readonly OutputJson[];
}

/** What `--json` prints. */
export interface BatchJson {
  readonly model: string;
  readonly device: string;
  readonly results: readonly {
    readonly input: string;
    readonly outputs: readonly OutputJson[];
    readonly top: readonly ScoredClass[];
    readonly ms: number;
    readonly seen?: Seen;
    readonly problem?: string;
  }[];
  readonly states?: readonly OutputJson[];
  readonly latencyMs: { readonly prepare: number; readonly median: number };
  readonly profile?: Profile;
}

/** The report as JSON. */
export function batchJson({ model, device, results, prepare, median, profile, states }: BatchReport): BatchJson {
  return {
    model,
    device,
    results: results.map(({ input, outputs, top, time, seen, problem }) => ({
      input,
      outputs,
      top,
      ms: time,
      ...(seen !== undefined && { seen }),
      ...(problem !== undefined && { problem }),
    })),
    ...(states && { states }),
    latencyMs: { prepare, median },
    ...(profile && { profile }),
  };
}

const mostShown = 4;

/** What a run found, in a few words: its best class, or its first values. */
export function foundText(outputs: readonly OutputValue[], [best]: readonly ScoredClass[]): string {
  if (best === undefined) return outputs.map((output) => valuesText(output, mostShown)).join("; ");
  return `${plain(best.label ?? String(best.index))}  ${best.score.toFixed(4)}`;
}

/** The report for people: a line for each input, with its best class or its first values. */
export function formatBatch(report: BatchReport): string {
  const { model, device, results, prepare, median, profile, drawings, stateFile } = report;
  const rows = results.flatMap(({ input, found, time, problem }) =>
    problem === undefined ? [[plain(input), found, milliseconds(time)]] : [],
  );
  const problems = results.flatMap(({ problem }) => (problem === undefined ? [] : [`  ${problem}`]));
  const facts = [
    ["model", basename(model)],
    ["device", device],
    ["latency", `prepared in ${milliseconds(prepare)}, median ${milliseconds(median)} an input`],
    ...[drawings, stateFile].flatMap((file) => (file === undefined ? [] : [["written", plain(file)]])),
  ];
  const failed =
    problems.length === 0 ? [] : ["", `${counted(problems.length, "input")} could not be used`, ...problems];
  const times = profile === undefined ? [] : ["", ...formatProfile(profile)];
  return `${[...columns(facts), "", ...columns(rows), ...times, ...failed].join("\n")}\n`;
}

/** A part of CSV: quoted if that is needed. */
function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function lineOf(cells: readonly (string | number)[]): string {
  return `${cells.map(cell).join(",")}\n`;
}

/** The head of the CSV report. */
export function csvHead(hasScores: boolean): string {
  return lineOf(hasScores ? ["input", "rank", "index", "label", "score"] : ["input", "output", "index", "value"]);
}

/** Lines of one input: its best classes, or all values of its outputs if it has no scores. */
export function csvLines(input: string, outputs: readonly OutputValue[], top: readonly ScoredClass[]): string {
  return csvOf(input, top, () =>
    outputs.map(({ info, bytes }) => ({ name: info.name, values: shownValues(info, bytes) })),
  );
}

/** The same of values that are read already. */
export function csvOf(
  input: string,
  top: readonly ScoredClass[],
  outputs: () => readonly { readonly name: string; readonly values: readonly (number | string)[] }[],
): string {
  if (top.length > 0) {
    return top.map(({ index, label, score }, rank) => lineOf([input, rank + 1, index, label ?? "", score])).join("");
  }
  return outputs()
    .flatMap(({ name, values }, place) => values.map((value, index) => lineOf([input, name || place, index, value])))
    .join("");
}
