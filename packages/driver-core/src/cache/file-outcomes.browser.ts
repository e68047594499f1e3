/** Outcomes of self-checks in a browser, which has no files: nothing is kept. */
import type { OutcomeStore } from "@nnhal/backend";

/** A store that is always empty. */
export function fileOutcomes(_directory: string): OutcomeStore {
  return { read: async () => undefined, write: async () => {} };
}
