import { expect, test } from "vitest";
import { countTests } from "./test-run.ts";

test("tests that are yet to be written count as skipped", () => {
  const report = { numTotalTests: 10, numPassedTests: 5, numFailedTests: 2, numPendingTests: 2, numTodoTests: 1 };
  expect(countTests(JSON.stringify(report))).toEqual({ passed: 5, failed: 2, skipped: 3 });
});
