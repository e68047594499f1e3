/**
 * The public conformance vectors on the gpu.js backend: what it claims it does right. The vectors are not part of this repository:
 * NNHAL_VECTORS names their folder. Every third is enough here, since each has kernels that have to be compiled; all of them, the derived
 * forms, and the other modes run through `nnhal vectors`.
 */
import { existsSync } from "node:fs";
import { findVectorFiles, readVectorFiles, runVectors, summarise } from "@nnhal/conformance";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { expect, it } from "vitest";
import { deviceOver } from "./_devices.test-helper.ts";

it("passes the public vectors that it supports, and keeps no value", { timeout: 600_000 }, async ({ skip }) => {
  skip(!existsSync(folder), `there are no vectors at ${folder}; set NNHAL_VECTORS to their folder`);
  const { device, machine } = await deviceOver("webasm");
  const passing = new Set<string>();
  let count = 0;
  const { passed, failed, unsupported, skipped, failures } = await summarise(
    runVectors(device, readVectorFiles(await findVectorFiles(folder)), { filter: () => count++ % 3 === 0 }),
    ({ subject, verdict }) => {
      if (verdict === "passed") passing.add(subject);
    },
  );
  const first = failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
  expect(first, `${failed} failed; the first are`).toEqual([]);
  expect(machine.statistics.values).toBe(0);
  expect({ passed, failed, unsupported, skipped, operations: passing.size }).toEqual({
    passed: 1788,
    failed: 0,
    unsupported: 417,
    skipped: 0,
    operations: 81,
  });
});
