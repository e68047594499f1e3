import { expect, it } from "vitest";
import { runExample } from "../run-example.test-helper.ts";

it("docs/bursts.md has an example that runs as it stands", { timeout: 60_000 }, async () => {
  await expect(runExample("bursts")).resolves.toEqual({ stdout: "0 1 1\n0 2 2\n0 3 3\n", stderr: "" });
});
