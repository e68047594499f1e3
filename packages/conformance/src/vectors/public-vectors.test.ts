/**
 * The public conformance vectors on the reference device, in all their forms: the proof that the kit and the reference
 * kernels are right together. The vectors are not part of this repository: NNHAL_VECTORS names their folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { operationTypes } from "@nnhal/types";
import { expect, it } from "vitest";
import { summarise } from "../result.ts";
import { findVectorFiles, readVectorFiles } from "./read.ts";
import { runVectors } from "./run.ts";

/** Examples that the folder's own index counts. */
function indexedExamples(): number {
  const index: unknown = JSON.parse(readFileSync(join(folder, "INDEX.json"), "utf8"));
  if (!Array.isArray(index)) throw new TypeError("INDEX.json is not a list");
  return index.reduce((sum, { examples }) => sum + examples, 0);
}

it("passes every public vector in every form", { timeout: 600_000 }, async ({ skip }) => {
  skip(!existsSync(folder), `there are no vectors at ${folder}; set NNHAL_VECTORS to their folder`);
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  let written = 0;
  const summary = await summarise(
    runVectors(device, readVectorFiles(await findVectorFiles(folder)), { variants: true }),
    ({ name }) => {
      if (!name.endsWith("]")) written++;
    },
  );
  const { passed, failed, unsupported, skipped, total } = summary;
  const first = summary.failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
  expect(first, `${failed} of ${total} failed; the first are`).toEqual([]);
  expect([...summary.reasons], "reasons why vectors did not run").toEqual([]);
  expect({ passed, failed, unsupported, skipped }).toEqual({ passed: total, failed: 0, unsupported: 0, skipped: 0 });
  expect(written).toBe(indexedExamples());
  const untested = Object.keys(operationTypes).filter((name) => !summary.bySubject.has(name));
  expect(untested).toEqual(["OEM_OPERATION"]);
});
