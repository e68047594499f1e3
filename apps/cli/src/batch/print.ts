/**
 * The results of a batch, printed as they come: a line for each input, CSV, or JSON lines.
 */

import type { TextOutput } from "../context.ts";
import { csvHead, csvOf } from "../csv.ts";
import { fit } from "../fit.ts";
import { formatCount, oneLine, plain } from "../text.ts";
import type { BatchOutcome } from "./options.ts";

/** An input of a batch: its result, or the reason why it has none; neither: it waits. */
export interface BatchItem {
  readonly name: string;
  readonly outcome?: BatchOutcome | undefined;
  readonly problem?: string | undefined;
}

/** Options of printing. */
export interface PrintOptions {
  readonly csv?: boolean;
  readonly json?: boolean;
  /** Only the inputs without a result. */
  readonly failed?: boolean;
}

/** Prints results. Resolves to the number of inputs without one. */
export async function printItems(
  items: AsyncIterable<BatchItem> | Iterable<BatchItem>,
  { csv = false, json = false, failed = false }: PrintOptions,
  stdout: TextOutput,
  stderr: TextOutput,
): Promise<number> {
  let without = 0;
  let hasHead = false;
  for await (const { name, outcome, problem } of items) {
    if (outcome === undefined) without++;
    if (failed && outcome !== undefined) continue;
    if (json) {
      const what = outcome === undefined ? { problem: problem ?? null } : withoutFound(outcome);
      stdout.write(`${JSON.stringify({ input: name, ...what })}\n`);
    } else if (outcome === undefined) {
      // CSV has no place for reasons.
      const output = csv ? stderr : stdout;
      output.write(fit(`${plain(name)}  ${problem === undefined ? "waits" : oneLine(problem)}\n`, output.columns));
    } else if (csv) {
      if (!hasHead) stdout.write(csvHead(outcome));
      hasHead = true;
      stdout.write(csvOf(name, outcome, () => outcome.outputs.map((each) => ({ ...each, values: each.values ?? [] }))));
    } else stdout.write(fit(`${plain(name)}  ${outcome.found}\n`, stdout.columns));
  }
  return without;
}

function withoutFound({ found: _, ...outcome }: BatchOutcome): Omit<BatchOutcome, "found"> {
  return outcome;
}

/** Inputs that are shown of those that failed. */
export const mostShown = 10;

/** The inputs without a result, with their reasons; at most ten of them. */
export function formatFailed(failed: readonly BatchItem[], count: number): string {
  if (count === 0) return "";
  const lines = failed.slice(0, mostShown).map(({ name, problem = "" }) => `  ${plain(name)}: ${oneLine(problem)}`);
  const more = count - lines.length;
  return `${[`${formatCount(count, "input")} could not be used`, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join("\n")}\n`;
}
