/**
 * Issues: which rule is broken, where, and by what value. Validation collects them up to a limit and never throws.
 */
import type { RuleCode } from "./rules.ts";

/** A broken rule. */
export interface Issue {
  /** The rule: a key of `rules`. */
  readonly code: RuleCode;
  /** The place, such as `main.operands[3].scale`. */
  readonly path: string;
  /** The rule in words, with the actual value. */
  readonly message: string;
}

/** Issues found so far. */
export interface IssueList {
  readonly items: Issue[];
  /** Returns whether the limit is reached, so that checking may stop. */
  isFull(): boolean;
  add(code: RuleCode, path: string, message: string): void;
}

/** The default limit of issues. */
export const defaultIssueLimit = 32;

/** An empty list that takes at most `limit` issues. */
export function createIssueList(limit: number = defaultIssueLimit): IssueList {
  const most = limit >= 1 ? limit : defaultIssueLimit;
  const items: Issue[] = [];
  return {
    items,
    isFull: () => items.length >= most,
    add(code, path, message) {
      if (items.length < most) items.push({ code, path, message });
    },
  };
}

/**
 * Runs checks on an untrusted value. If reading it throws, as a Proxy or a getter can, that is an issue like any other.
 */
export function collectIssues(what: string, limit: number | undefined, check: (issues: IssueList) => void): Issue[] {
  const issues = createIssueList(limit);
  try {
    check(issues);
  } catch (error) {
    // The list may be full already, and is not empty then.
    issues.add("structure", what, `reading it failed: ${show(error)}`);
  }
  return issues.items;
}

/** A value of any kind for a message: short, and without calling its methods. */
export function show(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
    case "bigint":
      return `${value}n`;
    case "object":
      return showObject(value);
    case "function":
      return "a function";
    default:
      return String(value);
  }
}

function showObject(value: object | null): string {
  if (value === null) return "null";
  try {
    if (Array.isArray(value)) return `an array of length ${value.length}`;
    return value instanceof Error ? `${value.message}` : "an object";
  } catch {
    return "an object that cannot be read";
  }
}

/** Extents for a message: `[2, 0, 3]`. */
export function showDimensions(dimensions: readonly number[]): string {
  const shown = dimensions.slice(0, 8).join(", ");
  return dimensions.length > 8 ? `[${shown}, … ${dimensions.length} in all]` : `[${shown}]`;
}
