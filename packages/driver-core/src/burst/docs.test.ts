import { elementAt } from "@nnhal/operations";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import { expect, it } from "vitest";

it("docs/bursts.md has an example that runs as it stands", { timeout: 60_000 }, async () => {
  await expect(runExample(elementAt(examplesOf("docs/bursts.md"), 0))).resolves.toEqual({
    stdout: "0 1 1\n0 2 2\n0 3 3\n",
    stderr: "",
  });
});
