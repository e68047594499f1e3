/** The table of docs/platforms.md: written between two markers. */
import { type Outcome, programs, type Row } from "./place.ts";

const begin = "<!-- runtimes: `npm run runtimes` writes this -->";
const end = "<!-- end of runtimes -->";

/**
 * Formats the table, the programs that could not run with the reasons, and the programs' versions. `versions`: a line for the
 * end.
 */
export function tableOf(rows: readonly Row[], versions: string): string {
  const notes: string[] = [];
  const cell = (outcome: Outcome): string => {
    if (outcome.kind === "run") return `${outcome.seconds.toFixed(1)} s`;
    const note = `${outcome.kind}: ${oneLine(outcome.why)}`;
    if (!notes.includes(note)) notes.push(note);
    return `${outcome.kind} (${notes.indexOf(note) + 1})`;
  };
  const lines = [
    `| | ${programs.join(" | ")} |`,
    `|---|${programs.map(() => "---|").join("")}`,
    ...rows.map(({ name, outcomes }) => `| ${name} | ${programs.map((each) => cell(outcomes[each])).join(" | ")} |`),
  ];
  const numbered = notes.map((note, index) => `${index + 1}. ${note}`);
  return [...lines, "", ...(numbered.length > 0 ? [...numbered, ""] : []), versions].join("\n");
}

/** A document with a table in the place of the one that it has. Throws an Error if it has no markers. */
export function withTable(document: string, table: string): string {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the document needs the lines ${begin} and ${end}`);
  return `${document.slice(0, from + begin.length)}\n\n${table}\n\n${document.slice(to)}`;
}

/** The first line that says something, without colours and without folders of this machine. */
function oneLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const telling = lines.find((line) => /error|cannot|refus|not /i.test(line)) ?? lines[0] ?? "";
  const plain = telling.replace(/\/(tmp|var|home|root|work)\/\S*\/(?=[^/\s]+)/g, "").replaceAll("|", "\\|");
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
