import { elementAt } from "@nnhal/operations";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import { expect, it } from "vitest";
import { linux } from "./linux.ts";

it.runIf(!("missing" in linux()))(
  "docs/shared-memory.md has an example that runs as it stands",
  { timeout: 60_000 },
  async () => {
    await expect(runExample(elementAt(examplesOf("docs/shared-memory.md"), 0))).resolves.toEqual({
      stdout: "mapped 42\n",
      stderr: "",
    });
  },
);
