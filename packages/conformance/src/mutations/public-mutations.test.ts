/**
 * Mutants of the public conformance vectors on the reference device: every one is refused, every model that they come from
 * accepted. A part of the examples and of their mutants, with NNHAL_FAULTS=all more of them; `nnhal conformance --suite mutations --all`
 * runs the rest. The
 * vectors are not part of this repository: NNHAL_VECTORS names their folder.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { everyFault } from "@nnhal/test-kit/samples";
import { expect, it } from "vitest";
import { summarise } from "../result.ts";
import { allVectors, areThere } from "../vectors/all.test-helper.ts";
import { mutationSubjects, runMutations } from "./run.ts";
import { isSampled } from "./sample.ts";

it("refuses a sample of the mutants of a sample of the public vectors", { timeout: 300_000 }, async ({ skip }) => {
  skip(!areThere, `there are no vectors at ${folder}; set NNHAL_VECTORS to their folder`);
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const summary = await summarise(
    runMutations(device, await allVectors(), {
      filter: ({ name }) => isSampled(name, 8),
      sample: everyFault ? 8 : 16,
    }),
  );
  const first = summary.failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
  expect(first, `${summary.failed} of ${summary.total} failed; the first are`).toEqual([]);
  expect(mutationSubjects.filter((subject) => !summary.bySubject.has(subject))).toEqual([]);
  expect(summary.passed).toBeGreaterThan(everyFault ? 20_000 : 10_000);
});
