import { expect, test } from "vitest";
import { countTests, slowestFiles } from "./test-run.ts";

test("tests that are yet to be written count as skipped", () => {
  const report = { numTotalTests: 10, numPassedTests: 5, numFailedTests: 2, numPendingTests: 2, numTodoTests: 1 };
  expect(countTests(JSON.stringify(report))).toEqual({ passed: 5, failed: 2, skipped: 3 });
});

test("the ten slowest files are listed with their seconds", () => {
  const testResults = Array.from({ length: 12 }, (_, i) => ({
    name: `/checkout/packages/x/src/${i}.test.ts`,
    startTime: 5000,
    endTime: 5000 + 100 * i,
  }));
  const slowest = slowestFiles(JSON.stringify({ testResults }), "/checkout");
  expect(slowest).toHaveLength(10);
  expect(slowest[0]).toBe("   1.1 s  packages/x/src/11.test.ts");
  expect(slowest[9]).toBe("   0.2 s  packages/x/src/2.test.ts");
  expect(slowestFiles(JSON.stringify({ testResults: [] }), "/checkout")).toEqual([]);
});
