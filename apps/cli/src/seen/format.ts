/**
 * Forms of the results of a network on a picture: a table, a few words, and cells of CSV.
 */
import type { Detection, Landmark, Segmentation } from "@nnhal/network";
import { columns, formatCount, plain } from "../text.ts";

/**
 * Results of a network, as `--json` prints them. Places are in pixels of the picture; without one, in those of the input. `threshold`: things
 * with a lower score are left out. `share`: of all pixels.
 */
export type Seen =
  | { readonly task: "detect"; readonly threshold: number; readonly detections: readonly Detection[] }
  | { readonly task: "segment"; readonly areas: Segmentation["areas"] }
  | { readonly task: "landmarks"; readonly landmarks: readonly Landmark[] };

const shownParts = 20;
const notNumbers = "not all of what the network computed are numbers";

/** Formats `Seen` as a table. */
export function formatSeen(seen: Seen): string[] {
  const rows = rowsOf(seen);
  const rest = rows.length - shownParts;
  return [...columns(rows.slice(0, shownParts)), ...(rest > 0 ? [`and ${rest} more`] : [])];
}

/** True if one class has a label, or none needs one. */
export function hasNames(seen: Seen): boolean {
  if (seen.task === "landmarks") return true;
  const classes: readonly { readonly label: string | null }[] = seen.task === "detect" ? seen.detections : seen.areas;
  return classes.length === 0 || classes.some(({ label }) => label !== null);
}

/** Summarises `Seen`: the best thing, the largest areas, or the number of landmarks. */
export function seenText(seen: Seen): string {
  const mostNamed = 3;
  switch (seen.task) {
    case "detect": {
      const [best] = seen.detections;
      if (best === undefined) return describeNothing(seen.threshold);
      const rest = seen.detections.length - 1;
      return `${nameOf(best)}  ${best.score.toFixed(4)}${rest > 0 ? `, and ${rest} more` : ""}`;
    }
    case "segment": {
      const named = seen.areas.slice(0, mostNamed).map((area) => `${nameOf(area)} ${percent(area.share)}`);
      const rest = seen.areas.length - named.length;
      return `${named.join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
    }
    case "landmarks": {
      const scores = seen.landmarks.map(({ score }) => score);
      const mean = scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
      return `${formatCount(scores.length, "landmark")}, ${Number.isFinite(mean) ? `mean score ${mean.toFixed(4)}` : notNumbers}`;
    }
  }
}

/** The head of CSV for a task, after the column of the input. */
export const seenColumns: Readonly<Record<Seen["task"], readonly string[]>> = {
  detect: ["rank", "index", "label", "score", "left", "top", "right", "bottom"],
  segment: ["rank", "index", "label", "share"],
  landmarks: ["index", "name", "score", "x", "y"],
};

/** The rows of CSV for what was seen. */
export function seenCells(seen: Seen): (string | number)[][] {
  switch (seen.task) {
    case "detect":
      return seen.detections.map(({ index, label, score, box: { left, top, right, bottom } }, rank) => [
        ...[rank + 1, index, label ?? "", score],
        ...[left, top, right, bottom],
      ]);
    case "segment":
      return seen.areas.map(({ index, label, share }, rank) => [rank + 1, index, label ?? "", share]);
    case "landmarks":
      return seen.landmarks.map(({ name, score, x, y }, index) => [index, name ?? "", score, x, y]);
  }
}

function rowsOf(seen: Seen): string[][] {
  const place = (x: number, y: number) => `${Math.round(x)}, ${Math.round(y)}`;
  switch (seen.task) {
    case "detect":
      if (seen.detections.length === 0) return [[`${describeNothing(seen.threshold)}; --threshold lowers that`]];
      return seen.detections.map(({ box: { left, top, right, bottom }, score, ...one }) => [
        nameOf(one),
        score.toFixed(4),
        `from ${place(left, top)} to ${place(right, bottom)}`,
      ]);
    case "segment":
      return seen.areas.map(({ share, ...area }) => [nameOf(area), percent(share).padStart(7)]);
    case "landmarks":
      return seen.landmarks.map(({ name, x, y, score }, index) => [
        plain(name ?? `landmark ${index + 1}`),
        ...([x, y, score].every(Number.isFinite) ? [score.toFixed(4), `at ${place(x, y)}`] : ["", notNumbers]),
      ]);
  }
}

function describeNothing(threshold: number): string {
  return `nothing with a score of ${threshold} or more`;
}

function nameOf({ index, label }: { readonly index: number; readonly label: string | null }): string {
  return plain(label ?? `class ${index}`);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
