import { elementAt } from "@nnhal/operations";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import { expect, it } from "vitest";

it("docs/caching.md has an example that runs as it stands", { timeout: 60_000 }, async () => {
  const refusal = "the model cache is not as nnhal-reference, version nnhal-reference-1, wrote it for this token";
  await expect(runExample(elementAt(examplesOf("docs/caching.md"), 0))).resolves.toEqual({
    stdout: `1 1\n0\n0\n${refusal}\n`,
    stderr: "",
  });
});
