/**
 * The measured numbers in the README, between two markers.
 */
import { LABELS } from "./glyphs.ts";

export interface Measurement {
  name: string;
  bytes: number;
  /** Percent of the fresh pictures. */
  accuracy: number;
  /** Percent of each digit's pictures. */
  byDigit: readonly number[];
}

const BEGIN = "<!-- measured: begin -->";
const END = "<!-- measured: end -->";

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

/** Replaces the text between the markers. */
export function replaceMeasured(readme: string, text: string): string {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`The README lacks the lines ${BEGIN} and ${END}, in this order`);
  return `${readme.slice(0, begin + BEGIN.length)}\n${text}\n${readme.slice(end)}`;
}

/** Agreement is the percentage of pictures for which all measured files have the same answer. */
export function describeMeasured(measured: readonly Measurement[], pictures: number, agreement: number): string {
  return [
    `Accuracy in percent, on ${pictures} fresh pictures:`,
    "",
    row(["file", "bytes", "accuracy", ...LABELS]),
    row(["---", ...Array(LABELS.length + 2).fill("--:")]),
    ...measured.map(({ name, bytes, accuracy, byDigit }) =>
      row([name, bytes, accuracy.toFixed(2), ...byDigit.map((value) => value.toFixed(1))]),
    ),
    "",
    `Both give the same answer for ${agreement.toFixed(2)} % of the pictures.`,
  ].join("\n");
}
