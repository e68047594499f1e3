/**
 * The best classes of an output that holds one score for each class.
 */
import { elementAt, isExtensionType, numbersPerElement } from "@nnhal/operations";
import { expectAttached } from "./bytes.ts";
import { check } from "./error.ts";
import { elementsOf, realValues, type TensorValue } from "./tensor.ts";

import { kindOf } from "./values.ts";

/** A class and its score. */
export interface ScoredClass {
  readonly index: number;
  /** null if there are no labels, or none for this class. */
  readonly label: string | null;
  /** The real value of the element. */
  readonly score: number;
}

/**
 * The first output that looks like scores: more than one number, in the shape [classes] or [1, classes]. Strings, complex numbers and
 * integers of extensions are not scores.
 */
export function scoresOf<Value extends TensorValue>(outputs: readonly Value[]): Value | undefined {
  return outputs.find(({ info }) => {
    const { shape } = info;
    const isList = shape.length === 1 || (shape.length === 2 && shape[0] === 1);
    return isList && elementsOf(shape) > 1 && maySayScores(info);
  });
}

function maySayScores({ type, scale }: TensorValue["info"]): boolean {
  if (!isExtensionType(type)) return type !== "TENSOR_BOOL8";
  return numbersPerElement(type) === 1 && (scale !== 0 || type.array.name.startsWith("Float"));
}

/** The classes with the highest scores, best first; equal ones in the order of their indexes, NaN last. */
export function topClasses(scores: TensorValue, count: number, labels?: readonly string[]): ScoredClass[] {
  return best(realValues(scores.info, scores.bytes), count, labels);
}

/**
 * The classes with the highest scores, best first; equal ones in the order of their indexes, NaN last. `labels`: default those of the
 * tensor. Throws a NetworkError for a value that is not scores.
 */
export function top(
  scores: ArrayLike<number> | { readonly data: ArrayLike<number>; readonly labels?: readonly string[] },
  count = 5,
  labels?: readonly string[],
): ScoredClass[] {
  const isObject = typeof scores === "object" && scores !== null;
  const values: unknown = isObject && "data" in scores ? scores.data : scores;
  check(isNumbers(values), "WRONG_TYPE", () => `top: expected a tensor or numbers, got ${kindOf(scores)}`);
  if (ArrayBuffer.isView(values)) expectAttached(values, "top");
  check(Number.isInteger(count) && count >= 0, "BAD_OPTION", () => `top: its count is ${count}, not a whole number`);
  checkLabels("top", labels);
  return best(values, count, labels ?? (isObject && "labels" in scores ? scores.labels : undefined));
}

/** True if a value is a list or an array of numbers. */
export function isNumbers(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** Throws BAD_OPTION for labels that are not a list of names, such as the path of a file. */
export function checkLabels(what: string, labels: unknown): void {
  const isList = labels === undefined || (Array.isArray(labels) && labels.every((label) => typeof label === "string"));
  const help = typeof labels === "string" ? "; read the file, and make a list of it with parseLabels" : "";
  check(isList, "BAD_OPTION", () => `${what}: expected labels as a list of names, got ${kindOf(labels)}${help}`);
}

function best(values: ArrayLike<number>, count: number, labels: readonly string[] | undefined): ScoredClass[] {
  const rank = (index: number) => {
    const value = elementAt(values, index);
    return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
  };
  const indexes = Array.from({ length: values.length }, (_, index) => index);
  indexes.sort((a, b) => (rank(a) === rank(b) ? a - b : rank(b) - rank(a)));
  return indexes
    .slice(0, count)
    .map((index) => ({ index, label: labels?.[index] ?? null, score: elementAt(values, index) }));
}

/** One label a line; a byte order mark and the end of the last line do not count. */
export function parseLabels(text: string): string[] {
  check(typeof text === "string", "WRONG_TYPE", () => `parseLabels: expected the text of a file, got ${kindOf(text)}`);
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
