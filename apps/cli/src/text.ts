/**
 * Text for a terminal: bars, columns, durations.
 */
import { oneLine, openShapeText, plain, shapeText } from "@nnhal/network/tensors";
import { textWidth } from "./columns.ts";
import { messageOf } from "./failure.ts";

export { oneLine, openShapeText, plain, shapeText };

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of `width` characters where the fraction is 1. */
export function bar(fraction: number, width: number): string {
  const filled = Math.round(Math.min(Math.max(fraction || 0, 0), 1) * width * 8);
  return "█".repeat(filled >> 3) + eighths[filled & 7];
}

/** Rows of cells in columns that are as wide as their widest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [place, cell] of row.entries()) widths[place] = Math.max(widths[place] ?? 0, textWidth(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, place) => cell + " ".repeat((widths[place] ?? 0) - textWidth(cell)))
      .join("  ")
      .trimEnd(),
  );
}

/** Milliseconds with about three digits; from 10 seconds on as seconds. */
export function milliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(value < 100_000 ? 1 : 0)} s`;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}

/** A number of bytes. */
export function byteText(size: number): string {
  if (size < 10_000) return formatCount(size, "byte");
  // A size that would be 1000.0 of a unit is 1.0 of the next.
  if (size < 999_950) return `${(size / 1e3).toFixed(1)} kB`;
  return size < 999_950_000 ? `${(size / 1e6).toFixed(1)} MB` : `${(size / 1e9).toFixed(1)} GB`;
}

/** A large number in words, with three digits: `301 million`. */
export function countText(count: number): string {
  if (count < 10_000) return String(count);
  for (const [unit, name] of [
    [1e12, "trillion"],
    [1e9, "billion"],
    [1e6, "million"],
  ] as const) {
    // Three digits of a little less than a unit are a whole one.
    if (count >= 0.9995 * unit) return `${Number((count / unit).toPrecision(3))} ${name}`;
  }
  return `${Number((count / 1e3).toPrecision(3))} thousand`;
}

/** A number of things: `1 step`, `2 steps`. */
export function formatCount(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** The line for an error that no command expects. `debug`: its stack is shown already. */
export function unexpectedLine(error: unknown, debug: boolean): string {
  return `unexpected problem: ${oneLine(messageOf(error))}${debug ? "" : "; --debug shows where"}`;
}

const MOST_COLUMNS = 100;

/** A list with commas between its items, in lines of at most `width` columns, and at most 100; those after the first begin below the first item. */
export function wrapList(head: string, items: readonly string[], width = MOST_COLUMNS): string[] {
  const lines: string[] = [];
  let line = head;
  for (const [place, item] of items.entries()) {
    const next = place === items.length - 1 ? item : `${item},`;
    const isEmpty = line.length === head.length;
    if (!isEmpty && line.length + 1 + next.length > Math.min(width, MOST_COLUMNS)) {
      lines.push(line);
      line = " ".repeat(head.length) + next;
    } else line += isEmpty ? next : ` ${next}`;
  }
  return [...lines, line];
}

/** A word as a shell reads it: quoted if the shell would change it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Words as a line for a shell. */
export function commandLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}
