/**
 * Results as CSV: what a network sees, the best classes, or all values of the outputs.
 */
import type { OutputValue } from "./model/execute.ts";
import { shownValues } from "./model/values.ts";
import type { Found } from "./seen/finder.ts";
import { seenCells, seenColumns } from "./seen/format.ts";

/** The result of an input, from which its lines are made. */
type Result = Pick<Found, "top" | "seen">;

/** A part of CSV: quoted if that is needed. */
function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function lineOf(cells: readonly (string | number)[]): string {
  return `${cells.map(cell).join(",")}\n`;
}

/** The head of the lines for a result. */
export function csvHead({ top, seen }: Result): string {
  if (seen !== undefined) return lineOf(["input", ...seenColumns[seen.task]]);
  return lineOf(top.length > 0 ? ["input", "rank", "index", "label", "score"] : ["input", "output", "index", "value"]);
}

/** Lines of one input: what was seen, its best classes, or all values of its outputs if it is neither. */
export function csvLines(input: string, outputs: readonly OutputValue[], result: Result): string {
  return csvOf(input, result, () =>
    outputs.map(({ info, bytes }) => ({ name: info.name, values: shownValues(info, bytes) })),
  );
}

/** The same of values that are read already. */
export function csvOf(
  input: string,
  { top, seen }: Result,
  outputs: () => readonly { readonly name: string; readonly values: readonly (number | string)[] }[],
): string {
  if (seen !== undefined)
    return seenCells(seen)
      .map((cells) => lineOf([input, ...cells]))
      .join("");
  if (top.length > 0) {
    return top.map(({ index, label, score }, rank) => lineOf([input, rank + 1, index, label ?? "", score])).join("");
  }
  return outputs()
    .flatMap(({ name, values }, place) => values.map((value, index) => lineOf([input, name || place, index, value])))
    .join("");
}
