import { expect, it } from "vitest";
import { runExample } from "../run-example.test-helper.ts";

it("docs/caching.md has an example that runs as it stands", { timeout: 60_000 }, async () => {
  const refusal = "the model cache is not as nnhal-reference, version nnhal-reference-1, wrote it for this token";
  await expect(runExample("caching")).resolves.toEqual({ stdout: `1 1\n0\n0\n${refusal}\n`, stderr: "" });
});
