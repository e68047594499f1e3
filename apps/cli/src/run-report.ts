/**
 * The report of `nnhal run`, for people and as JSON.
 */
import { basename } from "node:path";
import { type ScoredClass, tensorText } from "@nnhal/network/tensors";
import { typeText } from "@nnhal/operations";
import type { OutputValue } from "./model/execute.ts";
import type { PreparedInput } from "./model/inputs.ts";
import type { Latency } from "./model/measure.ts";
import { isString, shownValues, valueCount } from "./model/values.ts";
import { formatProfile, type Profile } from "./profile.ts";
import type { Found } from "./seen/finder.ts";
import { formatSeen, hasNames, type Seen } from "./seen/format.ts";
import { bar, columns, milliseconds, plain, shapeText } from "./text.ts";

/** Contents of a report. */
export interface RunReport {
  /** As the user named it. */
  readonly model: string;
  readonly device: string;
  readonly inputs: readonly PreparedInput[];
  readonly outputs: readonly OutputValue[];
  /** States that the model keeps between runs, after the last one. */
  readonly states: readonly OutputValue[];
  readonly found: Found;
  /** Runs after the first. */
  readonly runs: number;
  readonly latency: Latency;
  /** The files that outputs were written to. */
  readonly written: readonly string[];
  readonly profile?: Profile;
}

/** An output, as `--json` prints it. */
export interface OutputJson {
  readonly name: string;
  /** Its name in the signature, if there is one. */
  readonly signatureName?: string;
  /** The HAL's type. */
  readonly type: string;
  readonly shape: readonly number[];
  /** 0 if the type has none. */
  readonly scale: number;
  readonly zeroPoint: number;
  /**
   * The values, row by row: strings, real numbers (null for NaN and infinities), and the digits of 64-bit integers that a number does not
   * hold exactly. Absent if there are more than were asked for.
   */
  readonly values?: readonly (number | string)[];
}

/** Output of `--json`. */
export interface RunJson {
  readonly model: string;
  readonly device: string;
  /** In the model's order; `output<k>.bin` is the element k. */
  readonly outputs: readonly OutputJson[];
  /** States that the model keeps between runs, after the last one. Absent if it keeps nothing. */
  readonly states?: readonly OutputJson[];
  /** The best classes. Empty if no output holds scores, and if the model sees something else. */
  readonly top: readonly ScoredClass[];
  readonly latencyMs: Latency;
  readonly profile?: Profile;
  /** Things, areas or points in the picture. */
  readonly seen?: Seen;
}

/** Outputs with more elements are printed without their values, unless all are asked for. */
export const MOST_VALUES = 1000;

/** An output as JSON, with its values if they are not more than `most`. */
export function outputJson({ info, bytes }: OutputValue, most: number): OutputJson {
  const { name, signatureName, type, shape, scale, zeroPoint } = info;
  return {
    name,
    ...(signatureName !== undefined && { signatureName }),
    type: typeText(type),
    shape,
    scale,
    zeroPoint,
    ...(valueCount(info) <= most && { values: shownValues(info, bytes) }),
  };
}

/** The report as JSON. */
export function toJson(
  { model, device, outputs, states, found: { top, seen }, latency, profile }: RunReport,
  most = MOST_VALUES,
): RunJson {
  return {
    model,
    device,
    outputs: outputs.map((output) => outputJson(output, most)),
    ...(states.length > 0 && { states: states.map((state) => outputJson(state, most)) }),
    top,
    latencyMs: latency,
    ...(profile && { profile }),
    ...(seen && { seen }),
  };
}

/** The report as text. */
export function formatReport(report: RunReport, width = Number.POSITIVE_INFINITY): string {
  const { model, device, inputs, outputs, states, found, runs, latency, written, profile } = report;
  const { top, seen } = found;
  const { prepare, first, min, median } = latency;
  const repeated = runs === 0 ? "" : `; ${runs} more: fastest ${milliseconds(min)}, median ${milliseconds(median)}`;
  const facts = [
    ["model", basename(model)],
    ["device", device],
    ...inputs.map(({ info, source }) => ["input", `${tensorText(info)} from ${plain(source)}`]),
    ...outputs.map(({ info }) => ["output", resultText(info)]),
    ...(seen === undefined ? [] : [["task", seen.task]]),
    ["latency", `prepared in ${milliseconds(prepare)}, first run ${milliseconds(first)}${repeated}`],
    ...written.map((file) => ["written", file]),
  ];
  const results =
    seen !== undefined ? formatSeen(seen) : top.length > 0 ? formatTop(top, width) : outputs.map(formatValues);
  const times = profile === undefined ? [] : ["", ...formatProfile(profile)];
  const hint =
    seen === undefined || hasNames(seen) ? [] : ["", "--labels FILE, coco, coco80 or pascal-voc names the classes."];
  return `${[...columns(facts), "", ...results, ...formatStates(states), ...times, ...hint].join("\n")}\n`;
}

const mostStates = 8;

/** The first values of states, one line each. */
export function formatStates(states: readonly OutputValue[]): string[] {
  const rest = states.length - mostStates;
  return [
    ...states.slice(0, mostStates).map((state) => `state "${plain(state.info.name)}": ${valuesText(state, mostShown)}`),
    ...(rest > 0 ? [`and ${rest} more states`] : []),
  ];
}

const barWidth = 24;

/** One line a class: index, label, score, and a bar. Bars are shares of 1, or of the best score if that is above 1. */
export function formatTop(top: readonly ScoredClass[], width = Number.POSITIVE_INFINITY): string[] {
  const whole = Math.max(1, ...top.map(({ score }) => (Number.isFinite(score) ? score : 0)));
  // Labels that are only the index again, as those of digits, need no column.
  const hasLabels = top.some(({ index, label }) => label !== null && label !== String(index));
  const indexWidth = Math.max(...top.map((each) => String(each.index).length));
  const scoreWidth = Math.max(...top.map(({ score }) => score.toFixed(4).length));
  const most = Math.max(leastLabel, width - indexWidth - scoreWidth - leastBar - 3 * 2);
  const labels = top.map(({ label }) => shorten(plain(label ?? ""), most));
  const labelWidth = hasLabels ? Math.max(...labels.map(({ length }) => length)) + 2 : 0;
  const barColumns = Math.min(barWidth, Math.max(leastBar, width - indexWidth - labelWidth - scoreWidth - 2 * 2));
  return columns(
    top.map(({ index, score }, place) => [
      String(index).padStart(indexWidth),
      ...(hasLabels ? [labels[place] ?? ""] : []),
      score.toFixed(4),
      bar(score / whole, barColumns),
    ]),
  );
}

const leastLabel = 12;
const leastBar = 8;

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** An output of a run, whose shape is that of its value. */
function resultText({ name, type, shape }: OutputValue["info"]): string {
  const kind = `${typeText(type)} ${shapeText(shape)}`;
  return name === "" ? kind : `"${plain(name)}" (${kind})`;
}

const mostShown = 8;

function formatValues(output: OutputValue, place: number): string {
  return `output ${place}: ${valuesText(output, mostShown)}`;
}

/** The first real values of an output. */
export function valuesText({ info, bytes }: OutputValue, most: number): string {
  const values = shownValues(info, bytes);
  const text = (value: string) => (isString(info) ? JSON.stringify(value) : value);
  const shown = values
    .slice(0, most)
    .map((value) => (typeof value === "string" ? text(value) : String(Number(value.toPrecision(6)))));
  const rest = values.length - shown.length;
  return `${shown.join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
}
