/**
 * Options of the task of a batch, of which its digest is made.
 */
import type { Json } from "@nnhal/batch";
import type { ScoredClass } from "@nnhal/network/tensors";
import type { EntryOptions, Hybrid } from "../option-values.ts";
import type { OutputJson } from "../run-report.ts";
import type { Seen } from "../seen/format.ts";
import type { GivenTask } from "../task-names.ts";

/** Options of computing, as `nnhal run` takes them. All of it is JSON. */
export type BatchTaskOptions = EntryOptions & {
  readonly device: string;
  readonly hybrid: Hybrid;
  readonly top: number;
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  /** Names of the classes. */
  readonly labels?: readonly string[];
  /** True if the values of all outputs are kept; else those of outputs of up to 1000 elements. */
  readonly allValues?: boolean;
  /** True if the raw outputs are kept as files. */
  readonly raw?: boolean;
  /** True if a picture of what the network sees is kept. */
  readonly draw?: boolean;
  /** The task for which the outputs are read. Default: derived from the outputs. */
  readonly task?: GivenTask;
  /** Things with a lower score are left out. Default: 0.5. */
  readonly threshold?: number;
};

/** Record of an input. */
export type BatchOutcome = {
  /** A summary of the result. */
  readonly found: string;
  readonly device: string;
  readonly outputs: readonly OutputJson[];
  readonly top: readonly ScoredClass[];
  /** Milliseconds of the run. */
  readonly ms: number;
  readonly seen?: Seen;
};

/** Options as JSON, and back. Both sides are this file's types. */
export function toJson(value: BatchTaskOptions | BatchOutcome): { readonly [key: string]: Json | undefined } {
  return value as unknown as { readonly [key: string]: Json | undefined };
}

export function taskOptionsOf(json: { readonly [key: string]: Json | undefined }): BatchTaskOptions {
  return json as unknown as BatchTaskOptions;
}

export function outcomeOf(json: Json): BatchOutcome {
  return json as unknown as BatchOutcome;
}

/** True if a result that comes from elsewhere can be printed as an outcome. */
export function isOutcome(json: Json): boolean {
  if (!isRecord(json) || typeof json.found !== "string") return false;
  const { top, outputs, seen } = json;
  const isClass = (each: Json) =>
    isRecord(each) &&
    typeof each.index === "number" &&
    typeof each.score === "number" &&
    (each.label === null || typeof each.label === "string");
  const isOutput = (each: Json) =>
    isRecord(each) && (each.values === undefined || each.values === null || Array.isArray(each.values));
  return (
    Array.isArray(top) &&
    top.every(isClass) &&
    Array.isArray(outputs) &&
    outputs.every(isOutput) &&
    (seen === undefined || isSeen(seen))
  );
}

/** Tells a result that can be printed as `Seen` from other JSON. */
function isSeen(json: Json): boolean {
  if (!isRecord(json)) return false;
  const hasNumbers = (each: Json | undefined, names: readonly string[]) =>
    each !== undefined && isRecord(each) && names.every((name) => typeof each[name] === "number");
  const isName = (label: Json | undefined) => label === null || typeof label === "string";
  const areAll = (list: Json | undefined, test: (each: { readonly [key: string]: Json | undefined }) => boolean) =>
    Array.isArray(list) && list.every((each) => isRecord(each) && test(each));
  switch (json.task) {
    case "detect":
      return (
        typeof json.threshold === "number" &&
        areAll(
          json.detections,
          (each) =>
            isName(each.label) &&
            hasNumbers(each, ["index", "score"]) &&
            hasNumbers(each.box, ["left", "top", "right", "bottom"]),
        )
      );
    case "segment":
      return areAll(json.areas, (each) => isName(each.label) && hasNumbers(each, ["index", "share"]));
    case "landmarks":
      return areAll(json.landmarks, (each) => isName(each.name) && hasNumbers(each, ["x", "y", "score"]));
    default:
      return false;
  }
}

function isRecord(value: Json): value is { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
