/**
 * The report of `nnhal run` on several inputs: a table or JSON.
 */
import { basename } from "node:path";
import type { OutputValue } from "./model/execute.ts";
import { formatProfile, type Profile } from "./profile.ts";
import { type OutputJson, valuesText } from "./run-report.ts";
import type { Found } from "./seen/finder.ts";
import { type Seen, seenText } from "./seen/format.ts";
import { columns, formatCount, milliseconds, plain } from "./text.ts";

/** Outcome of one input. */
export interface BatchResult {
  readonly input: string;
  /** As many of its values as reports need: those of many large outputs would fill the memory. Empty if it has a problem. */
  readonly outputs: readonly OutputJson[];
  /** A summary of the result. */
  readonly text: string;
  readonly found: Pick<Found, "top" | "seen">;
  /** Milliseconds of the run. */
  readonly time: number;
  /** Why it could not be used. */
  readonly problem?: string;
}

/** Contents of a report. */
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
  /** States of the model after the last input, if the runs followed one another. */
  readonly states?: readonly OutputJson[];
}

/** Output of `--json`. */
export interface BatchJson {
  readonly model: string;
  readonly device: string;
  readonly results: readonly {
    readonly input: string;
    readonly outputs: readonly OutputJson[];
    readonly top: Found["top"];
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
    results: results.map(({ input, outputs, found: { top, seen }, time, problem }) => ({
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

/** A summary of a run: things that it sees, its best class, or its first values. */
export function foundText(outputs: readonly OutputValue[], { top: [best], seen }: Found): string {
  if (seen !== undefined) return seenText(seen);
  if (best === undefined) return outputs.map((output) => valuesText(output, mostShown)).join("; ");
  return `${plain(best.label ?? String(best.index))}  ${best.score.toFixed(4)}`;
}

/** The report for people: a line for each input, with a summary of its result. */
export function formatBatch(report: BatchReport): string {
  const { model, device, results, prepare, median, profile, drawings, stateFile } = report;
  const rows = results.flatMap(({ input, text, time, problem }) =>
    problem === undefined ? [[plain(input), text, milliseconds(time)]] : [],
  );
  const problems = results.flatMap(({ problem }) => (problem === undefined ? [] : [`  ${problem}`]));
  const facts = [
    ["model", basename(model)],
    ["device", device],
    ["latency", `prepared in ${milliseconds(prepare)}, median ${milliseconds(median)} an input`],
    ...[drawings, stateFile].flatMap((file) => (file === undefined ? [] : [["written", plain(file)]])),
  ];
  const failed =
    problems.length === 0 ? [] : ["", `${formatCount(problems.length, "input")} could not be used`, ...problems];
  const times = profile === undefined ? [] : ["", ...formatProfile(profile)];
  return `${[...columns(facts), "", ...columns(rows), ...times, ...failed].join("\n")}\n`;
}
