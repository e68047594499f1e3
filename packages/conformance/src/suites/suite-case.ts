/** The cases of a suite: their names, the first HAL version that they apply to, and their actions. */

import type { HalVersion } from "@nnhal/types";
import type { Bench } from "./bench.ts";

/** One thing that a device has to do right. */
export interface SuiteCase {
  /** The action, or the fault in the call: `CopyFrom: memory of half the size`. Unique in its suite. */
  readonly name: string;
  /** Group under which the case counts. */
  readonly group: string;
  /** Older versions have nothing that the case could be about. */
  readonly since: HalVersion;
  /** The case is about calls that only a Device of TypeScript can get, and no HAL version can express. Default: false. */
  readonly isDirect?: boolean;
  /** Throws a Mismatch if the device is wrong, and Unsupported if it lacks an optional feature that the case is about. */
  run(bench: Bench): Promise<void> | void;
}

/** Makes cases of a group. */
export function group(
  name: string,
  since: HalVersion,
  cases: Readonly<Record<string, SuiteCase["run"]>>,
): readonly SuiteCase[] {
  return Object.entries(cases).map(([what, run]) => ({ name: what, group: name, since, run }));
}

/** The same cases, for a device that is driven as it is. */
export function directly(cases: readonly SuiteCase[]): readonly SuiteCase[] {
  return cases.map((suiteCase) => ({ ...suiteCase, isDirect: true }));
}

/** Cases from rows: one for each, named by `nameOf`. */
export function casesOf<Row>(
  groupName: string,
  since: HalVersion,
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  run: (bench: Bench, row: Row) => Promise<void> | void,
): readonly SuiteCase[] {
  return rows.map((row) => ({ name: nameOf(row), group: groupName, since, run: (bench) => run(bench, row) }));
}
