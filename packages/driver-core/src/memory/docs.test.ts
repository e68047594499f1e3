import { elementAt } from "@nnhal/operations";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import { describe, expect, it } from "vitest";

describe("docs/memory.md", () => {
  it.each([
    ["maps a file", 0, "[ 3, 4, 5, 6 ]\n"],
    ["waits for fences", 1, "ACTIVE\nSIGNALED\n"],
  ])("has an example that %s", { timeout: 60_000 }, async (_what, index, stdout) => {
    await expect(runExample(elementAt(examplesOf("docs/memory.md"), index))).resolves.toEqual({ stdout, stderr: "" });
  });
});
