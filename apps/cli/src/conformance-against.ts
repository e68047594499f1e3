/**
 * Comparison of a run of `nnhal conformance` with an earlier one, which `--json` has printed.
 */
import type { ConformanceJson } from "./conformance-report.ts";
import { usageError } from "./failure.ts";

/** A change of a suite or of one failed case, in words. */
export interface Change {
  readonly kind: "better" | "worse" | "other";
  readonly says: string;
}

/** Reads an earlier report. Rejects anything else with a usage error. */
export function parseReport(text: string, path: string): ConformanceJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`the report ${path} is not JSON`, error);
  }
  if (!isReport(value)) throw usageError(`${path} is not a report of nnhal conformance --json`);
  return value;
}

/** As far as `changesBetween` reads it. */
function isReport(value: unknown): value is ConformanceJson {
  if (typeof value !== "object" || value === null || !("suites" in value) || !Array.isArray(value.suites)) return false;
  return value.suites.every(
    (suite: unknown) =>
      typeof suite === "object" &&
      suite !== null &&
      "suite" in suite &&
      "passed" in suite &&
      "failures" in suite &&
      Array.isArray(suite.failures) &&
      suite.failures.every((failure: unknown) => typeof failure === "object" && failure !== null && "name" in failure),
  );
}

/** The changes from one report to a later one: what fails now, what no longer does, suites that came or went, and other counts. */
export function changesBetween(earlier: ConformanceJson, later: ConformanceJson): Change[] {
  const keyOf = ({ suite, hal }: ConformanceJson["suites"][number]) => (hal ? `${suite} (HAL ${hal})` : suite);
  const before = new Map(earlier.suites.map((suite) => [keyOf(suite), suite]));
  const now = new Map(later.suites.map((suite) => [keyOf(suite), suite]));
  const changes: Change[] = [];
  for (const key of before.keys()) if (!now.has(key)) changes.push({ kind: "other", says: `${key}: it was not run` });
  for (const [key, suite] of now) {
    const old = before.get(key);
    if (old === undefined) {
      changes.push({ kind: "other", says: `${key}: it was not run before` });
      continue;
    }
    const [failed, didFail] = [suite, old].map(({ failures }) => new Set(failures.map(({ name }) => name)));
    const onlyIn = (one: ReadonlySet<string> = new Set(), other: ReadonlySet<string> = new Set()) =>
      [...one].filter((name) => !other.has(name));
    changes.push(...listChanges(key, "worse", onlyIn(failed, didFail), ["fails now", "fail now"]));
    changes.push(...listChanges(key, "better", onlyIn(didFail, failed), ["no longer fails", "no longer fail"]));
    if (suite.passed !== old.passed) {
      const kind = suite.passed > old.passed ? "better" : "worse";
      changes.push({ kind, says: `${key}: ${suite.passed} passed, before ${old.passed}` });
    }
  }
  return changes;
}

/** The most cases of a suite that are named of those that changed in the same way. */
const mostNamed = 20;

/** The changes of some cases of a suite in the same way: the first ones by name, and how many more there are. */
function listChanges(
  suite: string,
  kind: Change["kind"],
  names: readonly string[],
  [ofOne, ofSeveral]: readonly [string, string],
): Change[] {
  const changes = names.slice(0, mostNamed).map((name) => ({ kind, says: `${suite}: ${name} ${ofOne}` }));
  const more = names.length - changes.length;
  return more > 0 ? [...changes, { kind, says: `${suite}: ${more} more ${more === 1 ? ofOne : ofSeveral}` }] : changes;
}

const signs = { better: "+", worse: "-", other: " " } as const;

/** The changes as text. */
export function formatChanges(changes: readonly Change[], path: string): string {
  const lines = changes.map(({ kind, says }) => `${signs[kind]} ${says}`);
  return [`Against ${path}:`, ...(lines.length > 0 ? lines : ["  nothing has changed"]), "", ""].join("\n");
}
