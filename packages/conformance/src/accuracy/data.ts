/** A folder of inputs with expected answers: its `answers.json`, and the files that it names. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Boxed } from "./metrics.ts";

/** Task of a network, which decides how its answers are judged. */
export type AccuracyTask = "classification" | "segmentation" | "detection" | "sequence";

/** An input: a file for each input of the network, little-endian and packed, and the right answer. */
export interface AccuracyInput {
  readonly files: readonly string[];
  /** The class; the file of a class for each element (bytes); boxes; or symbols. */
  readonly answer: number | string | readonly Boxed[] | readonly number[];
}

/** A data set. */
export interface AccuracyData {
  readonly folder: string;
  readonly task: AccuracyTask;
  /** Minimum of each metric by name, as a fraction of 1. A device that is more than `mostLoss` below one has failed. */
  readonly expected: Readonly<Record<string, number>>;
  readonly inputs: readonly AccuracyInput[];
}

const tasks: readonly AccuracyTask[] = ["classification", "segmentation", "detection", "sequence"];

/** Reads a data set. Throws an Error that names the field that is wrong. */
export function readAccuracyData(folder: string): AccuracyData {
  const path = join(folder, "answers.json");
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const given = objectOf(value, path);
  const task = tasks.find((known) => known === given.task);
  if (task === undefined)
    throw new Error(`${path}: task: expected one of ${tasks.join(", ")}, got ${String(given.task)}`);
  const { inputs, expected = {} } = given;
  if (!Array.isArray(inputs) || inputs.length === 0)
    throw new Error(`${path}: inputs: expected a list that is not empty`);
  const least = Object.entries(objectOf(expected, `${path}: expected`)).map(([name, part]): [string, number] => {
    if (typeof part !== "number") throw new Error(`${path}: expected.${name}: expected a number, got ${String(part)}`);
    return [name, part];
  });
  return {
    folder,
    task,
    expected: Object.fromEntries(least),
    inputs: inputs.map((input: unknown, index) => inputOf(input, task, `${path}: inputs[${index}]`)),
  };
}

function objectOf(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${path}: expected an object`);
  return { ...value };
}

function inputOf(value: unknown, task: AccuracyTask, path: string): AccuracyInput {
  const { files, answer } = objectOf(value, path);
  if (!isListOf(files, (file) => typeof file === "string"))
    throw new Error(`${path}.files: expected a list of file names`);
  if (!isAnswer(answer, task)) throw new Error(`${path}.answer: expected ${wanted[task]}`);
  return { files, answer };
}

const wanted: Readonly<Record<AccuracyTask, string>> = {
  classification: "the number of a class",
  segmentation: "the name of a file",
  detection: "a list of { box: [top, left, bottom, right], class }",
  sequence: "a list of symbols",
};

function isAnswer(answer: unknown, task: AccuracyTask): answer is AccuracyInput["answer"] {
  if (task === "classification") return isNumber(answer);
  if (task === "segmentation") return typeof answer === "string";
  if (task === "sequence") return isListOf(answer, isNumber);
  return isListOf(
    answer,
    (one): one is Boxed =>
      typeof one === "object" &&
      one !== null &&
      "box" in one &&
      isListOf(one.box, isNumber) &&
      one.box.length === 4 &&
      "class" in one &&
      isNumber(one.class),
  );
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(isItem);
}
