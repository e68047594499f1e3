/**
 * Text for a terminal: bars, columns, durations.
 */
import { oneLine, plain, shapeText } from "@nnhal/network/tensors";
import { messageOf } from "./failure.ts";

export { oneLine, plain, shapeText };

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
    for (const [place, cell] of row.entries()) widths[place] = Math.max(widths[place] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, place) => cell.padEnd(widths[place] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Milliseconds with about three digits. */
export function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}

/** A number of bytes. */
export function byteText(size: number): string {
  if (size < 10_000) return counted(size, "byte");
  return size < 10_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

/** A number of things: `1 step`, `2 steps`. */
export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** The line for an error that no command expects. `debug`: its stack is shown already. */
export function unexpectedLine(error: unknown, debug: boolean): string {
  return `unexpected problem: ${oneLine(messageOf(error))}${debug ? "" : "; --debug shows where"}`;
}

const MOST_COLUMNS = 100;

/** A list with commas between its items, in lines of at most 100 columns; those after the first begin below the first item. */
export function wrapped(head: string, items: readonly string[]): string[] {
  const lines: string[] = [];
  let line = head;
  for (const [place, item] of items.entries()) {
    const next = place === items.length - 1 ? item : `${item},`;
    const isEmpty = line.length === head.length;
    if (!isEmpty && line.length + 1 + next.length > MOST_COLUMNS) {
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
