/**
 * Text for a terminal of some width. Tables keep their columns: cells are broken between words, and columns that do not fit go below, with
 * the first column again. Other lines go on below their last column. A word that is longer than the width stays whole, so that it can be copied.
 */
import { byColumns } from "./columns.ts";

/** The least width that is respected. */
const LEAST_WIDTH = 40;

/** The text within a width. undefined: it is not for a terminal, and stays as it is. */
export function fit(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return byColumns(text, (even) => fitEven(even, columns));
}

/** Fits a text each of whose characters takes one column. */
function fitEven(text: string, columns: number): string {
  const width = Math.max(LEAST_WIDTH, columns);
  const lines = text.split("\n");
  const fitted: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at + 1;
    if (isRow(lines[at])) while (isRow(lines[end])) end++;
    const block = lines.slice(at, end);
    if (block.every((line) => line.length <= width)) fitted.push(...block);
    else if (isRow(block[0])) fitted.push(...fitTable(block, width));
    else fitted.push(...block.flatMap((line) => fitLine(line, width)));
    at = end;
  }
  return fitted.join("\n");
}

/** A text of help within a width: paragraphs are filled anew, and long command lines go on behind a backslash. */
export function fitHelp(text: string, columns: number): string {
  const width = Math.max(LEAST_WIDTH, columns);
  const filled: string[] = [];
  for (const line of text.split("\n")) {
    const last = filled.at(-1);
    if (last !== undefined && isProse(last) && isProse(line) && indentOf(last) === indentOf(line))
      filled[filled.length - 1] = `${last} ${line.trim()}`;
    else filled.push(line);
  }
  const fitted: string[] = [];
  // Lists stay together: their columns are found in all lines.
  let list: string[] = [];
  const endList = () => {
    if (list.length > 0) fitted.push(fit(list.join("\n"), width));
    list = [];
  };
  for (const line of filled) {
    const isList = !isCommand(line) && !isProse(line);
    if (isList) list.push(line);
    else {
      endList();
      fitted.push(...(isCommand(line) ? fitCommand(line, width) : fitLine(line, width, 0)));
    }
  }
  endList();
  return fitted.join("\n");
}

/** True if a line has several columns. */
function isRow(line: string | undefined): line is string {
  return line !== undefined && / {2,}/.test(line.trim());
}

/** True if a line of help is a command, such as an example. */
function isCommand(line: string): boolean {
  return /^ {2,}(nnhal|npm|curl|npx)\b/.test(line);
}

/** Paragraphs of help are not further in; the lines of options, which fit already, are. */
const MOST_INDENT = 4;

/** True if a line of help belongs to a paragraph. */
function isProse(line: string): boolean {
  const indent = indentOf(line);
  return indent >= 2 && indent <= MOST_INDENT && line.trim() !== "" && !isRow(line) && !isCommand(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function fitCommand(line: string, width: number): string[] {
  const lines: string[] = [];
  const indent = indentOf(line) + 2;
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(" ", width - 2);
    if (at <= indent) break;
    lines.push(`${rest.slice(0, at)} \\`);
    rest = " ".repeat(indent) + rest.slice(at + 1);
  }
  return [...lines, rest];
}

/** `further`: how much further in the lines after the first begin. */
function fitLine(line: string, width: number, further = 2): string[] {
  const indent = indentOf(line);
  return breakIntoLines(line.trimStart(), width - indent, width - indent - further).map(
    (part, place) => " ".repeat(indent + (place > 0 ? further : 0)) + part,
  );
}

/** A row alone: it goes on below a column of its first half. */
function fitRow(row: string, width: number): string[] {
  const starts = [...row.matchAll(/(?<= {2})\S/g)].map(({ index }) => index).filter((start) => start <= width / 2);
  const start = starts.at(-1) ?? 0;
  const [first = "", ...others] = breakIntoLines(row.slice(start), width - start);
  return [row.slice(0, start) + first, ...others.map((part) => " ".repeat(start) + part)];
}

/** The words of a text in lines, the first and the others of at most some characters. */
function breakIntoLines(text: string, first: number, others = first): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/ +/)) {
    const most = lines.length === 0 ? first : others;
    if (line !== "" && line.length + 1 + word.length > most) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A column of a table: where it begins, and its cells. */
interface Column {
  readonly cells: readonly string[];
  readonly width: number;
  /** The width that the longest word needs. */
  readonly least: number;
}

const GAP = "  ";
/** No column of words becomes narrower. */
const LEAST_COLUMN = 16;
/** Tables of fewer columns behind the first are not divided. */
const LEAST_DIVIDED = 4;

function fitTable(rows: readonly string[], width: number): string[] {
  const [first, ...others] = columnsOf(rows);
  // Rows without columns in common, or whose first column, which stands before all others, leaves no room for one of them.
  const hasRoom = others.every(({ least }) => (first?.least ?? 0) + GAP.length + least <= width);
  if (first === undefined || others.length === 0 || !hasRoom) return rows.flatMap((row) => fitRow(row, width));
  const tables: Column[][] = [];
  for (const column of others) {
    const table = tables.at(-1);
    const narrow = [...(table ?? [first]), column].reduce((sum, { least }) => sum + least + GAP.length, -GAP.length);
    if (table !== undefined && narrow <= width) table.push(column);
    else tables.push([first, column]);
  }
  if (tables.length > 1 && others.length < LEAST_DIVIDED) return rows.flatMap((row) => fitRow(row, width));
  return tables.flatMap((table, place) => [...(place > 0 ? [""] : []), ...layOut(table, width)]);
}

/** Rows within a width: the widest columns are made narrower. */
function layOut(table: readonly Column[], width: number): string[] {
  const widths = table.map((column) => column.width);
  const total = () => widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  while (total() > width) {
    const shrinkable = [...widths.keys()].filter((place) => (widths[place] ?? 0) > (table[place]?.least ?? 0));
    const [widest] = shrinkable.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const rows = table[0]?.cells.length ?? 0;
  const lines: string[] = [];
  for (let row = 0; row < rows; row++) {
    const cells = table.map(({ cells }, place) => {
      const cell = cells[row] ?? "";
      const most = widths[place] ?? 0;
      return cell.length <= most ? [cell] : breakIntoLines(cell.trimStart(), most);
    });
    const height = Math.max(...cells.map((cell) => cell.length));
    for (let part = 0; part < height; part++) {
      lines.push(
        cells
          .map((cell, place) => (cell[part] ?? "").padEnd(widths[place] ?? 0))
          .join(GAP)
          .trimEnd(),
      );
    }
  }
  return lines;
}

/** The columns of rows: they begin behind two or more places that are empty in all rows. */
function columnsOf(rows: readonly string[]): Column[] {
  const length = Math.max(...rows.map((row) => row.length));
  const isEmpty = Array.from({ length }, (_, at) => rows.every((row) => (row[at] ?? " ") === " "));
  const indent = isEmpty.indexOf(false);
  const starts = [0];
  for (let at = indent + 2; at < length; at++) if (!isEmpty[at] && isEmpty[at - 1] && isEmpty[at - 2]) starts.push(at);
  return starts.map((start, place) => {
    const cells = rows.map((row) => row.slice(start, starts[place + 1]).trimEnd());
    const width = Math.max(...cells.map((cell) => cell.length));
    const longest = Math.max(...cells.flatMap((cell) => cell.trimStart().split(" ")).map((word) => word.length));
    return { cells, width, least: Math.min(width, Math.max(longest, place === 0 ? width : LEAST_COLUMN)) };
  });
}
