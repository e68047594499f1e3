/** Checks the form of issues of any kind. */
import { expect } from "vitest";
import { type Issue, rules } from "./index.ts";

function isSound({ code, path, message }: Issue): boolean {
  return Object.hasOwn(rules, code) && typeof path === "string" && message.length > 0 && message.length < 1000;
}

/** Asserts only what is wrong: vitest needs more time for an assertion than validation for a small model. */
export function expectIssues(issues: readonly Issue[]): void {
  if (issues.length > 32) expect.fail(`${issues.length} issues`);
  const unsound = issues.find((issue) => !isSound(issue));
  if (unsound !== undefined) expect.fail(JSON.stringify(unsound));
}
